"""A covering design has every pair that goes together, and the same factors give the same design."""

import os
import subprocess
import sys
import unittest
from itertools import combinations, product
from pathlib import Path

import pairs
from covering import Design


def components(rules, factors):
    """Factors that rules tie together, group by group."""
    groups = [{name} for name in factors]
    for names, _ in rules:
        tied = [group for group in groups if group & set(names)]
        groups = [group for group in groups if group not in tied] + [set().union(*tied)]
    return groups


def possible_pairs(factors, rules):
    """By trying all choices within each group."""
    possible = []
    pairs_of = set()
    for group in components(rules, factors):
        names = [name for name in factors if name in group]
        own = [rule for rule in rules if set(rule[0]) <= group]
        values = set()
        for choice in product(*(factors[name] for name in names)):
            row = dict(zip(names, choice))
            if not any(forbids(*(row[name] for name in tied)) for tied, forbids in own):
                values |= set(row.items())
                pairs_of |= {frozenset(two) for two in combinations(row.items(), 2)}
        possible.append(values)
    for one, other in combinations(possible, 2):
        pairs_of |= {frozenset(two) for two in product(one, other)}
    return pairs_of


class Covering(unittest.TestCase):
    def test_every_pair_that_goes_together_is_there(self):
        for factors, rows in ((pairs.SMALL, pairs.quick_design()), (pairs.FACTORS, pairs.whole_design())):
            there = {frozenset(two) for row in rows for two in combinations(row.items(), 2)}
            self.assertEqual(there, possible_pairs(factors, pairs.RULES))

    def test_every_triple_of_the_loop_is_there(self):
        seen = {tuple(row[name] for name in ("accumulate", "last batch", "clip")) for row in pairs.whole_design()}
        self.assertEqual(len(seen), 4 * 4 * 4)

    def test_rows_are_few(self):
        factors = {str(i): [0, 1, 2] for i in range(13)}  # 27 rows by hand; 3^13 = 1,594,323 in all
        design = Design(factors, [])
        self.assertEqual(design.cover(factors, 2), [])
        self.assertLessEqual(len(design.rows), 27)

    def test_what_is_impossible_is_told(self):
        factors = {"a": [0, 1], "b": [0, 1], "c": [0, 1]}
        design = Design(factors, [(("a", "b"), lambda a, b: a == 1 and b == 1), (("a", "c"), lambda a, c: a == 0)])
        told = design.cover(factors, 2)
        self.assertIn({"a": 0, "b": 0}, told)  # c has no value left
        self.assertIn({"a": 1, "b": 1}, told)
        self.assertEqual([row["a"] for row in design.rows], [1] * len(design.rows))

    def test_a_process_makes_the_same_rows_as_another(self):
        code = (
            "from covering import Design; f = {'ab'[i]: list('xyz') for i in range(2)} | {'c': [0, 1], 'd': [0, 1]}\n"
            "d = Design(f, []); d.cover(f, 2); print(d.rows)"
        )
        run = lambda seed: subprocess.run(
            [sys.executable, "-S", "-c", code], cwd=Path(__file__).parent, env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE, check=True,
        ).stdout
        self.assertEqual(run("1"), run("2"))


if __name__ == "__main__":
    unittest.main()
