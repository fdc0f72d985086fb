"""`precbench compare --run`: two sides measured in turn, through the real binary."""

import json
import unittest

from support import CliTest

QUICK = ("--dataset", "synthetic", "--modes", "16-mixed,32-true", "--rounds", "2")


class InterleaveTest(CliTest):
    def compare(self, base, head, *arguments, options=QUICK, **keywords):
        # Without /proc/stat nothing is busy, whatever runs beside the tests.
        return self.precbench("compare", "--run", base, head, *options, *arguments, timeout=120,
                              PRECBENCH_PROC_STAT=str(self.folder / "none"), **keywords)

    def sides(self):
        found = {}
        for path in (self.folder / "results").glob("*.json"):
            found[path.stem.rsplit("-", 1)[1]] = (path, json.loads(path.read_text()))
        return found

    def test_runs_in_turn_and_saves_what_compare_reads_again(self):
        done = self.compare("this", "this", "--fail-on", "memory:2%")
        self.assertEqual(done.returncode, 0, done.stderr)
        sides = self.sides()
        order = {name: {mode["mode"]: [(run["repeat"], run["order_index"]) for run in mode["runs"]]
                        for mode in document["modes"]} for name, (_, document) in sides.items()}
        self.assertEqual(order["base"], {"16-mixed": [(0, 0), (1, 5)], "32-true": [(0, 2), (1, 7)]})
        self.assertEqual(order["head"], {"16-mixed": [(0, 1), (1, 4)], "32-true": [(0, 3), (1, 6)]})
        self.assertEqual(sum(line.startswith("train") for line in self.jobs()), 8)
        self.assertFalse(any(line.startswith("pilot") for line in self.jobs()))
        self.assertIn("[7/8] round 2 head: 32-true 2.50s", done.stderr)
        again = self.precbench("compare", sides["base"][0], sides["head"][0], "--fail-on", "memory:2%")
        self.assertEqual(again.stdout, done.stdout)
        self.assertEqual(sides["base"][1]["reference"], "32-true")

    def test_gates_a_slower_and_bigger_head(self):
        slower = """PRECBENCH_FAKE='{"32-true": "slower:1.2"}' this"""
        done = self.compare("this", slower, "--fail-on", "time:5%", "--export-junit", "gate.xml")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"32-true +time:5% +failed +\+20.0 %")
        self.assertRegex(done.stdout, r"16-mixed +time:5% +passed")
        self.assertTrue((self.folder / "gate.xml").exists())

    def test_two_sets_of_options_and_another_libtorch(self):
        done = self.compare("this --batch-size 32", "this --batch-size 64")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the protocols differ in batch_size (32, 64)", done.stderr)
        (self.folder / "torch" / "lib").mkdir(parents=True)
        (self.folder / "torch" / "lib" / "libtorch_cpu.so").touch()
        told = {"32-true": "tell:LD_LIBRARY_PATH", "16-mixed": "tell:LD_LIBRARY_PATH"}
        done = self.compare("this", "torch", "--rounds", "1", options=QUICK[:4], script=told)
        self.assertIn(str(self.folder / "torch" / "lib"), done.stdout)

    def test_a_side_that_gives_no_result_is_told_with_its_command(self):
        done = self.compare("this", "this --model nonesuch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("head gave no result in round 1 (exit code 2)", done.stderr)
        self.assertIn("--model nonesuch", done.stderr)

    def test_a_mode_that_fails_on_one_side_is_a_row(self):
        broken = """PRECBENCH_FAKE='{"16-mixed": "oom:no memory"}' this"""
        done = self.compare("this", broken, "--fail-on", "memory:2%")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("ok in the baseline, now out of memory", done.stdout)

    def test_interrupted_it_keeps_what_was_measured(self):
        done = self.compare("this", """PRECBENCH_FAKE='{"32-true": "interrupt"}' this""")
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertEqual([len(mode["runs"]) for mode in self.sides()["base"][1]["modes"]], [1, 1])

    def test_what_cannot_be_meant_is_refused_before_any_run(self):
        for arguments, said in ((("--run", "this", "this", "--repeats", "3"), "use --rounds"),
                                (("--run", "this", "this", "--baseline", "x.json"), "does not go with"),
                                (("--run", "this", "this", "--export-csv", "x.csv"), "precbench report"),
                                (("--run", "./none", "this"), "there is no './none'"),
                                (("--run", "this 'a", "this"), "a quote is not closed"),
                                (("--run", ".", "this"), "holds neither"),
                                (("--run", "this", "this", "--modes", "x"), "unknown mode"),
                                (("--batch-size", "64", "a.json", "b.json"), "goes with compare --run"),
                                (("a.json", "b.json", "--rounds", "3"), "--rounds requires --run"),
                                (("a.json",), "two result files, or two sides")):
            done = self.precbench("compare", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertIn(said, done.stderr)
        self.assertEqual(self.jobs(), [])


if __name__ == "__main__":
    unittest.main()
