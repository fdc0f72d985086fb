"""--shard and `precbench merge`: one comparison in parts, through the real binary."""

import json
import unittest

from support import CliTest

MODES = "16-mixed,bf16-mixed,32-true"
OPTIONS = {"--modes": MODES, "--seeds": "1,2", "--repeats": "2", "--dataset": "synthetic", "--threads": "1", "--pilot": "0"}
ALL = tuple(word for option in OPTIONS.items() for word in option)
PARTS = 5  # of 13 runs: 3 modes, 2 seeds, 2 repeats, and the reference again


class Shards(CliTest):
    def part(self, index, *arguments, count=PARTS, options=OPTIONS, **keywords):
        folder = self.folder / f"part{index}"
        words = [word for option in options.items() for word in option]
        done = self.precbench(*words, "--shard", f"{index}/{count}", "--results-dir", folder, *arguments, **keywords)
        return done, next(folder.glob("*.json"), None)

    def parts(self, **keywords):
        return [self.part(index, **keywords)[1] for index in range(1, PARTS + 1)]

    def merged(self, *arguments):
        done = self.precbench("merge", *arguments, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, json.loads(done.stdout)

    def changed(self, path, change):
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    def test_the_parts_make_the_whole(self):
        self.assertEqual(self.precbench(*ALL).returncode, 0)
        (path,) = (self.folder / "results").glob("*.json")
        whole = json.loads(path.read_text())
        done, joined = self.merged(*self.parts())
        self.assertEqual(done.stderr, "")
        self.assertEqual(joined["protocol"], whole["protocol"])
        self.assertEqual(joined["reference"], whole["reference"])
        for ours, theirs in zip(joined["modes"], whole["modes"], strict=True):
            for run in ours["runs"]:
                self.assertIn(run.pop("machine"), range(PARTS))
            for run in (*ours["runs"], *theirs["runs"]):
                run.pop("others_share", None)
            for row in (ours, theirs):  # what a part saw of its own machine
                row["marks"] = [mark for mark in row["marks"] if mark["id"] != "busy"]
            self.assertEqual(ours, theirs)
        self.assertEqual([part["index"] for part in joined["invocation"]["parts"]], [1, 2, 3, 4, 5])

    def test_the_repeated_reference_is_where_the_first_is(self):
        for path in self.parts():
            runs = [run for row in json.loads(path.read_text())["modes"] if row["mode"] == "32-true" for run in row["runs"]]
            if any(run["role"] == "drift" for run in runs):
                self.assertIn((1, 0, "measure"), [(run["seed"], run["repeat"], run["role"]) for run in runs])
                break
        else:
            self.fail("no part has the repeated run")

    def test_a_failure_of_one_part_is_the_rows(self):
        paths = [self.part(index, script={"bf16-mixed": "crash"})[1] for index in range(1, PARTS + 1)]
        _, joined = self.merged(*paths)
        rows = {row["mode"]: row for row in joined["modes"]}
        self.assertEqual((rows["bf16-mixed"]["status"], rows["32-true"]["status"]), ("error", "ok"))

    def test_what_is_missing_twice_or_other_is_told(self):
        paths = self.parts()
        done, joined = self.merged(*paths[:2], paths[4])
        self.assertIn("missing parts: 3, 4 of 5", done.stderr)
        self.assertEqual(joined["invocation"]["parts_missing"], "3, 4 of 5")
        done = self.precbench("merge", *paths, paths[1])
        self.assertEqual(done.returncode, 5)
        self.assertIn("are both part 2 of 5", done.stderr)
        self.assertEqual(self.precbench(*ALL).returncode, 0)
        (whole,) = (self.folder / "results").glob("*.json")
        done = self.precbench("merge", paths[0], whole)
        self.assertEqual(done.returncode, 5)
        self.assertIn("is no part of a comparison", done.stderr)
        for change, words in ((lambda document: document["protocol"].update(lr=7), "its protocol differs in lr"),
                              (lambda document: document["environment"]["cpu"].update(model="Other"), "another kind of machine"),
                              (lambda document: document.update(modes=json.loads(paths[0].read_text())["modes"]), "both have the run of"),
                              (lambda document: document["invocation"]["shard"].update(count=6), "parts of one comparison")):
            text = paths[1].read_text()
            self.changed(paths[1], change)
            done = self.precbench("merge", *paths)
            self.assertEqual(done.returncode, 5)
            self.assertIn(words, done.stderr)
            paths[1].write_text(text)

    def test_parts_of_other_runs_do_not_belong_together(self):
        """Neither seeds nor modes are part of the protocol: it alone would let these be joined."""
        first = self.part(1)[1]
        for others, words in ({"--seeds": "1,3"}, "its --seeds is"), ({"--repeats": "3"}, "its --repeats is 3, there 2"), \
                             ({"--modes": "bf16-mixed,32-true"}, "its --modes is"), ({"--order": "given"}, "its --order is"):
            _, path = self.part(2, options={**OPTIONS, **others})
            done = self.precbench("merge", first, path)
            self.assertEqual(done.returncode, 5, others)
            self.assertIn(words, done.stderr)
            path.unlink()

    def test_a_part_that_was_not_finished_is_told(self):
        paths = self.parts()
        for code in (None, 130):
            self.changed(paths[3], lambda document, code=code: document["invocation"].update(exit_code=code))
            done, joined = self.merged(*paths[:4])
            self.assertIn("missing parts: 4 (not finished), 5 of 5", done.stderr)
            self.assertEqual(joined["invocation"]["parts_missing"], "4 (not finished), 5 of 5")

    def test_times_of_two_hosts_are_not_judged_unless_asked_for(self):
        paths = self.parts()
        self.changed(paths[2], lambda document: document["invocation"]["shard"].update(host="node7"))
        done, joined = self.merged(*paths)
        self.assertIn("--across-machines", done.stderr)
        self.assertTrue(all("other-host" in [mark["id"] for mark in row["marks"]] for row in joined["modes"]))
        done, joined = self.merged(*paths, "--across-machines")
        self.assertFalse(any("other-host" in [mark["id"] for mark in row["marks"]] for row in joined["modes"]))

    def test_parts_that_cannot_be(self):
        for text in ("0/3", "4/3", "1", "1/", "/3", "a/b", "1/20000"):
            done = self.precbench(*ALL, "--shard", text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("is not a part like 1/8", done.stderr)
        done, _ = self.part(99, count=99)
        self.assertEqual(done.returncode, 2)
        self.assertIn("this part has no run; there are 13 in all", done.stderr)
        self.assertEqual(self.results(), [])


if __name__ == "__main__":
    unittest.main()
