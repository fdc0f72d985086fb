"""scripts/gpu-check's sections on the made-up card: that all of it runs in the order given, that it can fail, that what
hangs or breaks costs one check, and that its file is whole at any moment."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "parity")]

import gpu_check  # noqa: E402
import report  # noqa: E402
import worker  # noqa: E402

MODULES, DRIVER = os.environ["FAKE_MODULES"], os.environ["FAKE_DRIVER"]
ORDER = ["machine", "cuda_graph", "memory", "losses", "fp8", "times", "three_modes", "kaggle_t4", "out_of_memory"]


class GpuCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="precbench-gpu-check-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.tree = cls.folder / "tree"
        cls.tree.mkdir()
        for name in ("bin", "lib", "share"):  # the build folder is laid out as an installed tree is
            (cls.tree / name).symlink_to(Path(os.environ["PRECBENCH_BUILD_DIR"]) / name)
        (cls.tree / "data").symlink_to(os.environ["PRECBENCH_PARITY_DATA"])
        cls.out = cls.folder / "out.json"

    def start(self, *arguments, **extra):
        self.out.unlink(missing_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")} | extra
        return subprocess.Popen([sys.executable, str(HERE / "gpu_check.py"), "--tree", str(self.tree), "--json",
                                 str(self.out), "--rehearse", MODULES, DRIVER, *arguments], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def gpu_check(self, *arguments, **extra):
        process = self.start(*arguments, **extra)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output, json.loads(self.out.read_text())

    def test_every_section_runs_in_order(self):
        # Not `tests`: ctest runs those by themselves.
        code, output, document = self.gpu_check("--only", ",".join(ORDER), CUBLAS_WORKSPACE_CONFIG=":16:8")
        self.assertEqual(code, 0, output)
        self.assertTrue(document["rehearsal"] and document["complete"])
        self.assertEqual([section["section"] for section in document["sections"]], ORDER)
        sections = {section["section"]: section for section in document["sections"]}
        self.assertEqual([name for name, section in sections.items() if not section["passed"]],
                         ["memory", "times", "kaggle_t4"])
        self.assertEqual(len(sections["memory"]["checks"]), 1)
        for check in sections["memory"]["checks"]:  # never passed here: the twin has no figure to compare with
            self.assertIsNone(check["passed"])
            self.assertGreater(check["precbench_bytes"], 0)
            self.assertGreater(check["predicted_bytes"], 0)
        published = {check["check"]: check for check in sections["kaggle_t4"]["checks"]}
        self.assertEqual({mode: check["published_mib"] for mode, check in published.items()}, {"bf16-mixed": 7415.2})
        for mode, check in published.items():
            self.assertRegex(check["prediction"], r"^[+-]\d+\.\d\d %$")
            self.assertRegex(output, rf"kaggle_t4: {mode}  measured_mib [\d.]+, published_mib .*prediction [+-]")
        self.assertRegex(output, r"memory: 16-mixed mlp adamw  .*predicted_bytes \d+, prediction [+-]")
        fp8 = {check["check"]: check for check in sections["fp8"]["checks"]}
        self.assertEqual(len(fp8), 4)
        self.assertIsNone(fp8["rate of FP8 products over bf16's"]["passed"])  # not native
        self.assertEqual(fp8["transformer-engine mlp"]["layers"], ["fc1", "fc2"])
        graphs = sections["cuda_graph"]["checks"]
        self.assertEqual(len(graphs), 2)
        self.assertTrue(all(check["replayed_steps"] > 0 for check in graphs))
        plain, scheduled = (check["largest_difference"] for check in graphs)
        self.assertEqual(plain, 0)
        self.assertLess(scheduled, 1e-6)  # a rate that changes is a float32 in the card's memory
        self.assertTrue(all(check["identical"] for check in sections["losses"]["checks"]))
        (timed,) = sections["times"]["checks"]
        self.assertLessEqual(timed["train_s"], timed["outside_s"])
        self.assertAlmostEqual(timed["sum_of_steps_s"] / timed["train_s"], 1, delta=0.1)
        self.assertGreater(timed["fabric_loop_s"], 0)
        self.assertEqual([check["passed"] for check in sections["out_of_memory"]["checks"]], [True, True])
        page, text = self.out.with_suffix(".html").read_text(), self.out.with_suffix(".txt").read_text()
        for section in ORDER:
            self.assertIn(f"<td>{section}</td>", page)
            self.assertIn(f"{section}: ", text)
        self.assertIn("a rehearsal on a made-up card", text.splitlines()[0])

    def test_a_card_that_cannot_be_used_fails(self):
        code, _, document = self.gpu_check("--only", "three_modes", FAKE_CUDA_KERNEL="missing")
        self.assertEqual(code, 1)
        self.assertIn("no kernel image", document["sections"][0]["checks"][0]["reason"])

    def test_no_check_begins_too_late(self):
        code, _, document = self.gpu_check("--quick", "--seconds", "-1")
        self.assertEqual(code, 1)
        self.assertEqual([section["section"] for section in document["sections"]],
                         ["machine", "cuda_graph", "times", "three_modes"])
        reasons = {check["reason"] for section in document["sections"] for check in section["checks"]}
        self.assertEqual(reasons, {"not begun: no time was left"})


class OneCheck(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-gpu-check-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def section(self, work, is_late=lambda: False):
        record, saved = {"section": "example", "passed": None, "checks": []}, []
        gpu_check.run_section(record, lambda setting: iter(work), None, is_late,
                              lambda: saved.append(json.loads(json.dumps(record))))
        return record, saved

    def test_a_hang_and_an_exception_cost_one_check_each(self):
        hanging = self.folder / "worker"
        hanging.write_text("#!/bin/sh\nexec sleep 600\n")
        hanging.chmod(0o755)
        begin = time.monotonic()
        record, saved = self.section([
            ("hangs", lambda: worker.train(str(hanging), {"threads": 1}, timeout=0.2)),
            ("breaks", lambda: 1 // 0),
            ("works", lambda: {"passed": True, "figure": 7}),
        ])
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual([check["passed"] for check in record["checks"]], [False, False, True])
        self.assertEqual(record["checks"][0]["reason"], "worker did not end within 0.2 s")
        self.assertIn("ZeroDivisionError", record["checks"][1]["reason"])
        self.assertFalse(record["passed"])
        self.assertEqual([len(state["checks"]) for state in saved], [1, 2, 3])  # written after each

    def test_a_section_that_cannot_make_up_its_checks_is_one_failure(self):
        def checks():
            yield "first", lambda: {"passed": True}
            raise RuntimeError("no more")

        record, saved = self.section(checks())
        self.assertFalse(record["passed"])
        self.assertEqual((len(record["checks"]), record["reason"]), (1, "RuntimeError: no more"))
        self.assertEqual(saved[-1]["reason"], "RuntimeError: no more")

    def test_the_file_is_whole_after_a_kill_at_any_moment(self):
        path = self.folder / "out.json"
        for _ in range(20):
            child = os.fork()
            if child == 0:
                for count in itertools.count():
                    gpu_check.write_whole(path, json.dumps({"checks": [count] * 20000, "count": count}))
            try:
                while not path.exists():
                    time.sleep(0.001)
                time.sleep(random.uniform(0, 0.05))
            finally:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            document = json.loads(path.read_text())
            self.assertEqual(set(document["checks"]), {document["count"]})
            path.unlink()

    def test_a_report_escapes_what_it_shows(self):
        document = {"rehearsal": False, "complete": False, "seconds": 1.5, "sections": [
            {"section": "machine", "passed": True, "checks": [
                {"check": "a <b>", "passed": False, "reason": "x < y & z", "device": "Tesla T4"}]}]}
        pages = report.write(document, self.folder / "out.json")
        self.assertEqual([page.name for page in pages], ["out.html", "out.txt"])
        page, text = (path.read_text() for path in pages)
        self.assertIn("x &lt; y &amp; z", page)
        self.assertNotIn("<b>", page)
        self.assertIn("Tesla T4, 1.5 s, not ended", text)
        self.assertIn("FAILED machine: a <b>  reason x < y & z", text)


if __name__ == "__main__":
    unittest.main()
