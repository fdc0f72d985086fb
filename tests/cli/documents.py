"""Result files for the tests of report, compare and matrix."""

import copy
import json
import pathlib

from support import SOURCE

PUBLISHED = SOURCE / "results" / "reference" / "published-t4.json"


def published():
    return json.loads(PUBLISHED.read_text())


def with_times(document, mode, seconds):
    """The document with one run of `mode` per time, all else as in its first run."""
    for row in document["modes"]:
        if row["mode"] == mode:
            first = row["runs"][0]
            row["runs"] = []
            for repeat, time in enumerate(seconds):
                run = copy.deepcopy(first)
                run["repeat"] = repeat
                run["time"]["total_s"] = time
                row["runs"].append(run)
    return document


def write(folder, name, document):
    path = pathlib.Path(folder) / name
    path.write_text(json.dumps(document))
    return path
