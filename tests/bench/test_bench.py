"""The arithmetic of scripts/bench, its guard against other processes, and its JSON."""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bench
import contention
import operators
import ratios
import scaling
import sides
import workloads
from contention import Snapshot


class Ratios(unittest.TestCase):
    def test_are_taken_within_a_repeat(self):
        # The second repeat was twice as slow on both sides: no difference between the sides.
        interval = ratios.paired([1.0, 2.0, 1.5], [2.0, 4.0, 2.0])
        self.assertEqual((interval.ratio, interval.low, interval.high), (0.5, 0.5, 0.75))

    def test_sides_with_another_number_of_repeats_are_refused(self):
        with self.assertRaises(ValueError):
            ratios.paired([1.0, 2.0], [1.0])

    def test_verdict(self):
        interval = ratios.Interval(0.5, 0.45, 0.55)
        self.assertEqual(ratios.verdict(interval, 0.44), "missed")
        self.assertEqual(ratios.verdict(interval, 0.45), "within")
        self.assertEqual(ratios.verdict(interval, 0.54), "within")
        self.assertEqual(ratios.verdict(interval, 0.55), "reached")
        self.assertEqual(ratios.verdict(interval, None), "")

    def test_there_is_a_goal_for_every_row_of_precbench(self):
        expected = {(name, mode, side) for name in workloads.WORKLOADS for mode in workloads.MODES for side in ("fabric", "tuned")}
        expected |= {(workloads.COMPARISON, "all", side) for side in ("fabric", "tuned")}
        self.assertEqual(set(ratios.MUST), expected)


class Operators(unittest.TestCase):
    def test_are_the_difference_of_two_trainings(self):
        short = {"step_ms": [30.0, 10.0], "operators_ms": {"aten::mm": 30.0, "aten::div": 4.0}}
        long = {"step_ms": [30.0, 10.0, 10.0, 10.0], "operators_ms": {"aten::mm": 44.0, "aten::div": 4.0, "aten::add": 2.0}}
        step, own, rest = operators.shares(short, long)
        self.assertEqual((step, own, rest), (10.0, [("aten::mm", 7.0), ("aten::add", 1.0), ("aten::div", 0.0)], 2.0))


class Contention(unittest.TestCase):
    def test_reads_proc_stat(self):
        # proc(5): user nice system idle iowait irq softirq steal guest guest_nice; guests are in user already.
        busy, total = contention.parse_stat("cpu  100 20 30 400 50 6 7 8 90 10\ncpu0 1 2 3 4\n", 100)
        self.assertAlmostEqual(busy, 1.71)
        self.assertAlmostEqual(total, 6.21)

    def test_our_own_work_is_not_others(self):
        before = Snapshot(busy_s=10, total_s=100, own_s=5)
        self.assertAlmostEqual(contention.share_of_others(before, Snapshot(19, 110, 14)), 0)
        self.assertAlmostEqual(contention.share_of_others(before, Snapshot(19, 110, 12)), 0.2)
        self.assertEqual(contention.share_of_others(before, Snapshot(19, 110, 15)), 0)  # rounding of ticks
        self.assertEqual(contention.share_of_others(before, before), 0)

    def attempt(self, shares):
        """undisturbed() where others take these shares in turn: (result, disturbed), what was told."""
        looks, measured, told = [], [], []
        for share in shares:
            looks += [Snapshot(0, 0, 0), Snapshot(share * 100, 100, 0)]
        look = lambda: looks.pop(0)
        measure = lambda: measured.append(0) or len(measured)
        return contention.undisturbed(measure, told.append, look, wait=lambda: None), told

    def seconds_waited(self, shares):
        """How long wait_for_quiet() waits where others take these shares in turn."""
        seconds = []
        snapshots = [Snapshot(0, 0, 0)]
        for share in shares:
            snapshots += [Snapshot(share * 100, 100, 0), Snapshot(0, 0, 0)]
        contention.wait_for_quiet(lambda: snapshots.pop(0), seconds.append)
        return sum(seconds)

    def test_a_repeat_begins_when_it_is_quiet(self):
        self.assertEqual(self.seconds_waited([0.04]), 1)
        self.assertEqual(self.seconds_waited([0.5, 0.06, 0.01, 0.5]), 3)
        self.assertEqual(self.seconds_waited([0.5] * 100), contention.PATIENCE_S)

    def test_a_disturbed_repeat_is_taken_again_and_said(self):
        (result, disturbed), told = self.attempt([0.5, 0.06, 0.05])
        self.assertEqual((result, disturbed), (3, False))
        self.assertEqual(len(told), 2)
        self.assertIn("50% of the processors' time: taken again", told[0])

    def test_on_a_busy_machine_it_ends(self):
        (result, disturbed), told = self.attempt([0.5] * contention.ATTEMPTS)
        self.assertEqual((result, disturbed), (contention.ATTEMPTS, True))
        self.assertIn("counted all the same", told[-1])


class Scaling(unittest.TestCase):
    def test_a_line_is_found(self):
        line = scaling.fit_line([1, 2, 4], [5.0, 7.0, 11.0])
        self.assertAlmostEqual(line.offset, 3)
        self.assertAlmostEqual(line.slope, 2)
        self.assertAlmostEqual(line.deviation, 0)
        self.assertIn("linear: 3 + 2 ms each", scaling.words_for([1, 2, 4], [5.0, 7.0, 11.0], "ms"))

    def test_a_square_is_no_line(self):
        xs = [1, 2, 4, 8]
        self.assertIn("not linear", scaling.words_for(xs, [x * x for x in xs], "ms"))
        self.assertIn("power 2.00", scaling.words_for(xs, [x * x for x in xs], "ms"))


class Workloads(unittest.TestCase):
    def test_both_sides_are_given_the_same_training(self):
        with tempfile.TemporaryDirectory() as folder:
            data = workloads.Data(folder, "/fashion")
            for workload in workloads.WORKLOADS.values():
                with self.subTest(workload.name):
                    path = data.path(workload)
                    flags = dict(flag[2:].split("=", 1) for flag in workloads.flags(workload, "32-true", path, 2) if "=" in flag)
                    train = workloads.job(workload, "32-true", path, 2)["train"]
                    self.assertEqual(int(flags["steps"]), train["steps"])
                    self.assertEqual(int(flags["batch-size"]), train["batch_size"])
                    self.assertEqual(float(flags["lr"]), train["optimizer"]["lr"])
                    self.assertEqual(float(flags["weight-decay"]), train["optimizer"]["weight_decay"])
                    self.assertEqual(int(flags.get("limit-train", 0)), train["dataset"]["limit_train"])
                    self.assertEqual(int(flags["limit-test"]), train["dataset"]["limit_test"])

    def test_python_is_given_the_malloc_settings_of_tuned(self):
        options = argparse.Namespace(threads=2, compiled="/compiled")
        # mallopt(M_TRIM_THRESHOLD, -1) is the largest size_t.
        source = (Path(__file__).resolve().parents[2] / "lib/train/worker.cpp").read_text(encoding="utf-8")
        self.assertIn("mallopt(M_MMAP_MAX, 0)", source)
        self.assertIn("mallopt(M_TRIM_THRESHOLD, -1)", source)
        self.assertIn("kHeapGrowth = 256 << 20", source)
        self.assertEqual(sides.MALLOC["MALLOC_TOP_PAD_"], str(256 << 20))
        self.assertFalse(set(sides.MALLOC) & set(sides.python_environment(sides.BASE, options)) - set(os.environ))

    def test_python_tuned_has_the_layout_and_the_optimizer_too(self):
        cnn = sides.python_job("python tuned", workloads.WORKLOADS["cnn"], "32-true", "", 2)["train"]
        self.assertEqual((cnn["memory_format"], cnn["optimizer"]["impl"]), ("channels_last", "fused"))
        plain = sides.python_job("python", workloads.WORKLOADS["cnn"], "32-true", "", 2)["train"]
        self.assertNotIn("memory_format", plain)
        self.assertEqual(plain["optimizer"]["impl"], "loop")


class Document(unittest.TestCase):
    def bench(self, accuracy_in_fabric=0.5):
        """Runs main() with sides that take 1, 2, 4, 3 and 9 seconds, compiled code with steps half as long as tuned's."""
        seconds = dict(zip(sides.SIDES, (1.0, 2.0, 4.0, 3.0, 9.0), strict=True))
        asked = []

        def train(side, workload, mode, path, options):
            asked.append(side)
            accuracy = accuracy_in_fabric if side == sides.BASE else 0.5
            is_compiled = side == sides.COMPILED
            step_ms = {"tuned": 4.0, sides.BASE: 8.0, sides.COMPILED: 2.0}.get(side, 1.0)
            return sides.Timing(seconds[side], step_ms, accuracy, 1, 5.0, 0.0 if not is_compiled else 9.0 / asked.count(side))

        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "bench.json"
            arguments = ["bench", "--workloads", "mlp,3 modes", "--modes", "32-true", "--repeats", "2", "--json", str(out)]
            with (
                mock.patch.object(sys, "argv", [*arguments, "--precbench", "/bin/true", "--data-dir", folder]),
                mock.patch.object(bench, "find_data", lambda given: str(given)),
                mock.patch.object(sides, "train", train),
                mock.patch.object(sides, "compare_modes", lambda side, path, options: seconds[side]),
                mock.patch.object(bench, "undisturbed", lambda run, tell: (run(), False)),
                contextlib.redirect_stdout(io.StringIO()) as text,
                contextlib.redirect_stderr(io.StringIO()),
            ):
                bench.main()
            return json.loads(out.read_text()), text.getvalue(), asked

    def test_rows(self):
        document, text, _ = self.bench()
        found = {(row["workload"], row["mode"], row["profile"]): (row["ratio"], row["low"], row["high"]) for row in document["rows"]}
        expected = {
            ("mlp", "32-true", "fabric"): (0.25,) * 3,
            ("mlp", "32-true", "tuned"): (0.5,) * 3,
            ("mlp", "32-true", "python tuned"): (0.75,) * 3,
            ("mlp", "32-true", "python compiled"): (0.25,) * 3,  # of steady steps, whatever the whole takes
            ("3 modes", "all", "fabric"): (0.25,) * 3,
            ("3 modes", "all", "tuned"): (0.5,) * 3,
            ("3 modes", "all", "python tuned"): (0.75,) * 3,
        }
        self.assertEqual(found, expected)
        tuned = next(line for line in text.splitlines() if line.startswith("3 modes") and " tuned" in line)
        self.assertIn("missed", tuned)  # 0.5 where 0.35 is the goal
        compiled, = (row for row in document["rows"] if row["profile"] == sides.COMPILED)
        self.assertEqual((compiled["to_tuned"]["ratio"], compiled["compile_s"], compiled["pays_after_steps"]), (0.5, 9.0, 1500))
        self.assertIn("0.50 of tuned's step (0.50 to 0.50); compiling takes 9.0 s, which is won back after 1500 steps", text)

    def test_sides_alternate_and_start_in_turn(self):
        _, _, asked = self.bench()
        count = len(sides.SIDES)
        self.assertEqual(asked[:count], sides.SIDES)
        self.assertEqual(asked[count:], sides.SIDES[1:] + sides.SIDES[:1])

    def test_other_training_is_an_error(self):
        with self.assertRaisesRegex(sides.SideFailed, "trained something else"):
            self.bench(accuracy_in_fabric=0.51)


class Options(unittest.TestCase):
    def test_quick(self):
        with mock.patch.object(sys, "argv", ["bench", "--quick"]):
            options = bench.arguments()
        self.assertEqual((options.workloads, options.repeats), (["mlp", "cnn"], 3))
        self.assertLess(workloads.sized(workloads.WORKLOADS["cnn"], True).steps, 200)

    def test_a_failing_side_says_what_it_said(self):
        with self.assertRaisesRegex(sides.SideFailed, "ended with 3: no such thing"):
            sides.run_process(["sh", "-c", "echo no such thing >&2; exit 3"], "", dict(os.environ))

    def test_settings_of_precbench_do_not_leak_in(self):
        with mock.patch.dict(os.environ, {"PRECBENCH_PROFILE": "tuned", "PRECBENCH_LIBTORCH": "/torch"}):
            environment = sides.precbench_environment()
        self.assertNotIn("PRECBENCH_PROFILE", environment)
        self.assertEqual(environment["PRECBENCH_LIBTORCH"], "/torch")


if __name__ == "__main__":
    unittest.main()
