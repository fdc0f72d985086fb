"""What becomes of output that cannot go where it should: links, pipes, devices, full disks, closed streams."""

import json
import os
import resource
import signal
import subprocess
import threading
import time
import unittest

from documents import PUBLISHED
from support import CliTest, MODES

SHORT = ("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0")


class Exports(CliTest):
    def export(self, path, *arguments, **keywords):
        return self.precbench("report", PUBLISHED, "--format", "none", "--export-json", path, *arguments, **keywords)

    def assert_result(self, text):
        self.assertEqual(json.loads(text)["schema_version"], "1.0.0")

    def test_a_link_stays_and_the_file_behind_it_is_new(self):
        (self.folder / "inner").mkdir()
        (self.folder / "inner" / "real.json").write_text("old")
        (self.folder / "link.json").symlink_to("inner/real.json")
        (self.folder / "dangling.json").symlink_to("inner/new.json")
        for link, real in (("link.json", "real.json"), ("dangling.json", "new.json")):
            self.assertEqual(self.export(link).returncode, 0)
            self.assertTrue((self.folder / link).is_symlink())
            self.assert_result((self.folder / "inner" / real).read_text())

    def test_a_pipe_gets_the_text_and_stays_one(self):
        os.mkfifo(self.folder / "pipe")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "pipe").read_text()))
        reader.start()
        done = self.export("pipe")
        reader.join(20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_result(got[0])
        self.assertTrue((self.folder / "pipe").is_fifo())

    def test_devices_are_written_not_replaced(self):
        self.assertEqual(self.export("/dev/null").returncode, 0)
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))
        done = self.export("/dev/full")
        self.assertEqual(done.returncode, 5)
        self.assertIn("No space left", done.stderr)
        self.assert_result(self.export("/dev/stdout").stdout)
        self.assert_result(self.export("/dev/stderr").stderr)
        with open(self.folder / "out.json", "w") as out:  # a file that standard output goes to is written, not replaced
            subprocess.run(self.command("report", PUBLISHED, "--format", "none", "--export-json", "/dev/stdout"),
                           stdout=out, env=self.environment(), check=True)
        self.assert_result((self.folder / "out.json").read_text())

    def test_a_dash_is_standard_output_for_one_result(self):
        self.assert_result(self.export("-").stdout)
        for arguments in (["report", PUBLISHED, "--export-json", "-"],
                          ["report", PUBLISHED, "--format", "none", "--export-json", "-", "--export-csv", "-"],
                          [*SHORT, "--export-html", "-"]):
            done = self.precbench(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn("standard output", done.stderr)
        self.assertFalse((self.folder / "-").exists())

    def test_the_other_commands_write_through_links_too(self):
        (self.folder / "real").write_text("")
        for number, arguments in enumerate((["compare", PUBLISHED, PUBLISHED, "--export-markdown"],
                                            ["matrix", PUBLISHED, "--export-markdown"],
                                            [*SHORT, "--export-markdown"])):
            (self.folder / f"link{number}").symlink_to("real")
            self.assertEqual(self.precbench(*arguments, f"link{number}").returncode, 0)
            self.assertTrue((self.folder / f"link{number}").is_symlink())
            self.assertIn("|", (self.folder / "real").read_text())
            (self.folder / "real").write_text("")

    def test_resume_goes_through_a_link_and_refuses_what_is_no_file(self):
        self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt"})
        path = next((self.folder / "results").glob("*.json"))
        (self.folder / "link.json").symlink_to(path)
        self.assertEqual(self.precbench("--resume", "link.json").returncode, 0)
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assert_statuses("ok", "ok", "ok")
        os.mkfifo(self.folder / "pipe")
        for path in ("/dev/null", str(self.folder), "pipe"):
            self.assertEqual(self.precbench("--resume", path, *SHORT).returncode, 5)


class StandardOutput(CliTest):
    COMMANDS = (["list", "modes"], ["list", "configs"], ["list", "datasets"], ["list", "models"], ["list", "devices"],
                ["--help"], ["--help-all"], ["--version"], ["help"], ["predict", "--help"], ["--dry-run"],
                ["report", PUBLISHED], ["compare", PUBLISHED, PUBLISHED], ["matrix", PUBLISHED, PUBLISHED],
                ["predict", "--gpu", "t4", "--dry-run"], [*SHORT, "--no-save"], [*SHORT, "--no-save", "--format", "json"])

    def test_full(self):
        for arguments in self.COMMANDS:
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = subprocess.run(self.command(*arguments), stdout=full, stderr=subprocess.PIPE, text=True,
                                      env=self.environment(), cwd=self.folder, check=False)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("cannot write to standard output: No space left on device", done.stderr)

    def test_a_run_whose_output_is_lost_is_saved_with_its_exit_code(self):
        with open("/dev/full", "w") as full:
            subprocess.run(self.command(*SHORT), stdout=full, stderr=subprocess.DEVNULL, env=self.environment(),
                           cwd=self.folder, check=False)
        self.assert_statuses("ok")
        self.assertEqual(self.result()["invocation"]["exit_code"], 5)

    def test_a_reader_that_goes_away_costs_no_run(self):
        process = subprocess.Popen(self.command("--dataset", "synthetic", "--modes", MODES, "--pilot", "0"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder)
        process.stdout.close()
        process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(), 5)
        self.assert_statuses("ok", "ok", "ok")

    def test_closed_streams(self):
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            with self.subTest(closed=closed):
                def close(closed=closed):
                    for fd in closed:
                        os.close(fd)
                process = subprocess.run(self.command(*SHORT, "--results-dir", f"r{closed}"), env=self.environment(),
                                         cwd=self.folder, preexec_fn=close, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                self.assertEqual(process.returncode, 5 if 1 in closed else 0)
                saved = list((self.folder / f"r{closed}").glob("*.json"))
                self.assertEqual(json.loads(saved[0].read_text())["modes"][0]["status"], "ok")


class Saving(CliTest):
    def test_two_runs_in_the_same_second_keep_both(self):
        for _ in range(3):
            before = len(self.results())
            both = [subprocess.Popen(self.command(*SHORT), env=self.environment(), cwd=self.folder,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
            self.assertEqual([one.wait() for one in both], [0, 0])
            self.assertEqual(len(self.results()), before + 2)

    def test_what_is_told_is_on_the_disk(self):
        process = subprocess.Popen(self.command("--dataset", "synthetic", "--modes", MODES, "--pilot", "0"),
                                   env=self.environment({"bf16-mixed": "silence"}), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "===== 16-mixed =====\n")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(self.result()["modes"][0]["runs"][0]["status"], "ok")

    def test_what_a_crash_left_is_swept_up(self):
        (self.folder / "results").mkdir()
        (self.folder / "results" / ".precbench-abcdef.tmp").write_text("half a res")
        self.assertEqual(self.precbench(*SHORT).returncode, 0)
        self.assertEqual([path.suffix for path in (self.folder / "results").iterdir()], [".json"])

    def test_a_file_that_may_not_grow_is_an_error_and_leaves_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        done = subprocess.run(self.command(*SHORT), env=self.environment(), cwd=self.folder, preexec_fn=limit,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertNotIn("saved", done.stderr)
        self.assertEqual(list((self.folder / "results").iterdir()), [])

    def test_a_results_folder_that_is_removed_meanwhile(self):
        process = subprocess.Popen(self.command("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0"),
                                   env=self.environment({"32-true": "success:1.5"}), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while "train 32-true 42" not in self.jobs() and time.monotonic() < deadline:
            time.sleep(0.02)
        (self.folder / "results").rmdir()
        (self.folder / "results").write_text("in the way")
        _, told = process.communicate()
        self.assertEqual(process.returncode, 5)
        self.assertNotIn("saved", told)


if __name__ == "__main__":
    unittest.main()
