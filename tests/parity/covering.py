"""Covering designs: few rows in which every combination of `strength` values that is allowed occurs at least once.

One row at a time: of a few rows that begin with a combination that is missing still, the one that covers most. Without
any chance from outside: the same factors give the same rows.
"""

import random
from itertools import combinations, product

TRIES = 4  # rows to choose from, each time


class Design:
    """`factors`: {name: [value]}. `rules`: [(names, forbids)], where forbids(values of the names) says which do not go
    together. Combinations that no allowed row has are left out."""

    def __init__(self, factors, rules):
        self._factors = factors
        self._rules = {name: [rule for rule in rules if name in rule[0]] for name in factors}
        self._ruled = [name for name in factors if self._rules[name]]
        self._free = [name for name in factors if not self._rules[name]]
        self.rows = []

    def missing(self, names, strength):
        """The combinations of these factors' values that are in no row, as {frozenset of (name, value): None}."""
        missing = {}
        for chosen in combinations([name for name in self._factors if name in names], strength):
            for values in product(*(self._factors[name] for name in chosen)):
                missing[frozenset(zip(chosen, values))] = None
        for row in self.rows:
            strike(missing, row, strength)
        return missing

    def cover(self, names, strength):
        """Adds the rows that are missing; returns the combinations that no allowed row has."""
        missing, impossible = self.missing(names, strength), []
        draw = random.Random(strength)
        while missing:
            seed = next(iter(missing))
            if self._complete(seed, missing, strength, draw) is None:
                impossible.append(dict(seed))
                del missing[seed]
                continue
            rows = [self._complete(seed, missing, strength, draw) for _ in range(TRIES)]
            best = max(rows, key=lambda row: sum(key in missing for key in map(frozenset, combinations(row.items(), strength))))
            self.rows.append(best)
            strike(missing, best, strength)
        return impossible

    def _fits(self, choice, name, value):
        choice = {**choice, name: value}
        return not any(
            forbids(*(choice[each] for each in names))
            for names, forbids in self._rules[name]
            if all(each in choice for each in names)
        )

    def _leaves_a_way(self, choice):
        """Whether each factor that rules are about has a value left."""
        left = (name for name in self._ruled if name not in choice)
        return all(any(self._fits(choice, name, value) for value in self._factors[name]) for name in left)

    def _complete(self, seed, missing, strength, draw):
        """A row with the seed, each value the one that adds most; None where nothing is allowed."""
        choice = {}
        for name, value in sorted(seed, key=repr):
            if not self._fits(choice, name, value):
                return None
            choice[name] = value
        ruled, free = list(self._ruled), list(self._free)
        draw.shuffle(ruled)
        draw.shuffle(free)
        row = self._assign(choice, ruled + free, missing, strength, draw)
        return row and {name: row[name] for name in self._factors}

    def _assign(self, choice, names, missing, strength, draw):
        names = [name for name in names if name not in choice]
        if not names:
            return choice
        name, *rest = names
        others = [frozenset(items) for items in combinations(choice.items(), strength - 1)]
        gain = lambda value: sum(items | {(name, value)} in missing for items in others)
        values = list(self._factors[name])
        draw.shuffle(values)
        for value in sorted(values, key=gain, reverse=True):
            if not self._fits(choice, name, value):
                continue
            longer = {**choice, name: value}
            row = self._assign(longer, rest, missing, strength, draw) if self._leaves_a_way(longer) else None
            if row is not None:
                return row
        return None


def strike(missing, row, strength):
    for items in combinations(row.items(), strength):
        missing.pop(frozenset(items), None)
