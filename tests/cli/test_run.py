"""The session: order, blocks, saving, crashes, time-outs, signals, exit codes."""

import hashlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from support import CliTest, MODES


class Success(CliTest):
    def test_blocks_table_and_summary_on_stdout_everything_else_on_stderr(self):
        run = self.compare_modes()
        self.assertEqual(run.returncode, 0, run.stderr)
        block = ("===== 16-mixed =====\nSeed set to 42\nTrain Acc: 81.25%\nTest Acc : 87.50%\n"
                 "Time     : 2.50s\nMemory   : 100.00 MB\n")
        self.assertTrue(run.stdout.startswith(block), run.stdout)
        places = [run.stdout.index(f"===== {mode} =====") for mode in MODES.split(",")]
        self.assertEqual(places, sorted(places))
        self.assertIn("mode ", run.stdout)
        self.assertIn("trying 3 steps of each mode", run.stderr)
        self.assertNotIn("trying", run.stdout)
        self.assertNotIn("\x1b", run.stdout + run.stderr)

    def test_the_references_first_steps_run_twice(self):
        run = self.compare_modes()
        self.assertIn("trying 3 steps of each mode, 20 of 32-true", run.stderr)
        self.assertIn("32-true: repeatable: the same seed gives the same losses bitwise", run.stdout)
        run = self.compare_modes(script={"32-true": "other-losses"})
        self.assertIn("32-true: the same seed differs at step 1", run.stdout)

    def test_pilots_come_first_then_runs_in_the_order_asked_for(self):
        self.compare_modes()
        self.assertEqual(self.jobs(), ["describe - -", "pilot 16-mixed 42", "pilot bf16-mixed 42", "pilot 32-true 42",
                                       "train 16-mixed 42", "train bf16-mixed 42", "train 32-true 42"])

    def test_the_reference_runs_first_unless_the_user_said_otherwise(self):
        def order(*arguments, **keywords):
            self.log.unlink(missing_ok=True)
            self.assertEqual(self.precbench("--dataset", "synthetic", *arguments, **keywords).returncode, 0)
            return [job.split()[1] for job in self.jobs() if job.startswith("train")]

        self.assertEqual(order("--pilot", "0"), ["32-true", "16-mixed", "bf16-mixed"])
        self.assertEqual(order("--pilot", "0", "--order", "given"), ["16-mixed", "bf16-mixed", "32-true"])
        self.assertEqual(order("--pilot", "0", PRECBENCH_MODES="16-mixed,32-true"), ["16-mixed", "32-true"])
        self.assertEqual([job.split()[1] for job in self.jobs()[1:]], ["16-mixed", "32-true"])

    def test_the_total_is_told_and_how_to_have_it_shorter(self):
        # The scripted pilot: 0.5 s a step; 79 steps of 128 samples and 16 batches of evaluation, 48 s for each mode.
        run = self.compare_modes()
        lines = [line for line in run.stderr.splitlines() if "in all" in line]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^3 runs, about 2m \d\ds in all; shorter: --config quick, or --budget 2m \(leaves out no mode\)$")
        run = self.compare_modes("--epochs", "3")
        self.assertIn("(leaves out 16-mixed, bf16-mixed, 32-true)", run.stderr)
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true")
        self.assertRegex(run.stderr, r"\n1 run, about \d\d s in all\n")

    def test_repeats_rotate_and_end_with_a_drift_run(self):
        self.compare_modes("--repeats", "2", "--pilot", "0")
        self.assertEqual([job.split()[1] for job in self.jobs()[1:]],
                         ["16-mixed", "bf16-mixed", "32-true", "bf16-mixed", "32-true", "16-mixed", "32-true"])
        reference = self.result()["modes"][2]
        self.assertEqual([run["role"] for run in reference["runs"]], ["measure", "measure", "drift"])

    def test_json_alone_on_stdout_with_every_key_of_the_contract(self):
        run = self.compare_modes("--format", "json")
        document = json.loads(run.stdout)
        self.assertEqual(document["schema_version"], "1.0.0")
        for key in ("tool", "invocation", "protocol", "environment", "modes", "gate"):
            self.assertIn(key, document)
        measured = document["modes"][0]["runs"][0]
        self.assertIsNone(measured["memory"]["peak_reserved_bytes"])
        self.assertIn("peak_reserved_bytes", measured["memory"]["unknown"])
        self.assertEqual(document["invocation"]["exit_code"], 0)
        self.assertEqual(document["invocation"]["config"]["seed"], {"value": 42, "source": "default"})

    def test_protocol_hash_is_what_python_computes(self):
        self.compare_modes()
        protocol = self.result()["protocol"]
        stated = protocol.pop("hash")
        del protocol["unknown"]
        text = json.dumps(protocol, sort_keys=True, separators=(",", ":"))
        self.assertEqual(stated, hashlib.sha256(text.encode()).hexdigest())

    def test_output_after_the_result_and_a_hang_at_exit_do_not_cost_the_result(self):
        run = self.compare_modes("--pilot", "0", script={"16-mixed": "after", "bf16-mixed": "child"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_statuses("ok", "ok", "ok")

    def test_threads_spin_less_than_by_default_unless_the_user_says_how(self):
        def told(**environment):
            script = {"16-mixed": "tell:GOMP_SPINCOUNT"}
            return self.precbench("--dataset", "synthetic", "--modes", "16-mixed", "--pilot", "0", "--no-save",
                                  script=script, **environment).stdout

        self.assertRegex(told(), r"GOMP_SPINCOUNT is \d+")
        self.assertIn("GOMP_SPINCOUNT is 7", told(GOMP_SPINCOUNT="7"))
        self.assertIn("GOMP_SPINCOUNT is None", told(OMP_WAIT_POLICY="active"))

    def test_a_ten_megabyte_event_is_read(self):
        run = self.compare_modes("--pilot", "0", script={"16-mixed": "long-phase"})
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_no_save_writes_nothing(self):
        self.assertEqual(self.compare_modes("--no-save").returncode, 0)
        self.assertFalse((self.folder / "results").exists())

    def test_quiet_leaves_only_warnings_on_stderr(self):
        told = self.precbench("--dataset", "synthetic", "--modes", "32-true", "-q").stderr
        # The machine that runs the tests may be busy itself, which is a warning.
        self.assertEqual(re.sub(r"\Awarning: while 32-true ran, others used .*\n +Close other programs.*\n", "", told), "")


class Failures(CliTest):
    def one_fails(self, behaviour, *arguments, status="error", code=3, **keywords):
        run = self.compare_modes("--pilot", "0", *arguments, script={"bf16-mixed": behaviour}, **keywords)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assert_statuses("ok", status, "ok")
        return self.result()["modes"][1]["reason"]

    def test_killed_worker_is_a_row_that_names_the_signal(self):
        self.assertIn("signal 9 (SIGKILL)", self.one_fails("crash:SIGKILL"))

    def test_crash_names_the_signal(self):
        self.assertIn("signal 11 (SIGSEGV)", self.one_fails("crash"))

    def test_exit_without_result_names_the_code_and_the_last_words(self):
        reason = self.one_fails("exit:7")
        self.assertIn("exit code 7", reason)
        self.assertIn("terminate called", reason)

    def test_an_eps_that_vanishes_is_told_before_anything_runs(self):
        run = self.precbench("--dataset", "synthetic", "--modes", "16-true,32-true", "--optimizer", "adamw")
        self.assertLess(run.stderr.index("eps 1e-08 is 0 in float16"), run.stderr.index("trying"))

    def test_garbage(self):
        self.assertIn("not an event: '?[2J this is no event'", self.one_fails("garbage"))

    def test_a_run_that_took_no_time(self):
        self.assertIn("took no time", self.one_fails("no-time"))

    def test_half_a_line(self):
        self.assertIn("middle of an event", self.one_fails("half"))

    def test_ten_megabytes_of_garbage(self):
        self.assertIn("not an event: 'xxx", self.one_fails("long"))

    def test_timeout_ends_one_run_and_the_next_goes_on(self):
        begin = time.monotonic()
        self.assertIn("--timeout", self.one_fails("silence", "--timeout", "1s", status="timeout"))
        self.assertLess(time.monotonic() - begin, 20)

    def test_out_of_memory(self):
        self.assertEqual(self.one_fails("oom:tried to allocate 8 GiB", status="oom"), "tried to allocate 8 GiB")

    def test_diverged(self):
        self.assertIn("step 3", self.one_fails("diverged", status="diverged"))

    def test_unsupported_is_a_row_not_a_failure(self):
        self.one_fails("unsupported:no kernel", status="unsupported", code=0)

    def test_bad_input_found_by_the_worker_is_a_file_error(self):
        self.one_fails("input:the file vanished", code=5)

    def test_weights_and_traces_do_not_go_to_standard_output(self):
        for option in ("--save-weights", "--dump-trace"):
            run = self.precbench("--modes", "32-true", "--dataset", "synthetic", option, "-")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("name a file", run.stderr)

    def test_a_file_that_no_mode_can_read_is_told_once(self):
        run = self.compare_modes(script={"pilot": "input:data.pt lacks train_x"})
        self.assertEqual(run.returncode, 5)
        self.assertEqual(run.stderr.count("data.pt lacks train_x"), 1)
        self.assertEqual(run.stdout, "")
        self.assertEqual(self.results(), [])

    def test_nothing_succeeds(self):
        run = self.compare_modes("--pilot", "0", script={mode: "crash" for mode in MODES.split(",")})
        self.assertEqual(run.returncode, 4)
        self.assertIn("no mode finished", run.stdout)

    def test_a_pilot_that_fails_makes_the_row_and_saves_the_run(self):
        run = self.compare_modes(script={"pilot": {"bf16-mixed": "oom"}})
        self.assertEqual(run.returncode, 3)
        self.assertNotIn("train bf16-mixed 42", self.jobs())

    def test_worker_of_another_version_is_refused_with_both_named(self):
        run = self.compare_modes(script={"version": "9.9.9"})
        self.assertEqual(run.returncode, 4)
        self.assertIn("9.9.9", run.stderr)
        self.assertIn(os.environ["PRECBENCH_FAKE_VERSION"], run.stderr)

    def test_missing_worker_is_told_with_the_next_step(self):
        environment = self.environment()
        environment["PRECBENCH_WORKER"] = str(self.folder / "none")
        run = subprocess.run(self.command("--dataset", "synthetic"), env=environment, cwd=self.folder,
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 4)
        self.assertIn("scripts/precbench", run.stderr)

    def test_unwritable_results_directory_is_told_before_any_worker_starts(self):
        (self.folder / "file").write_text("")
        run = self.compare_modes("--results-dir", self.folder / "file" / "below")
        self.assertEqual(run.returncode, 5)
        self.assertIn("--results-dir", run.stderr)
        self.assertEqual(self.jobs(), [])

    def test_missing_data_set_is_told_before_any_worker_starts(self):
        run = self.precbench("--dataset", "fashion-mnist", "--data-dir", self.folder)
        self.assertEqual(run.returncode, 5)
        self.assertIn("looked in", run.stderr)
        self.assertEqual(self.jobs(), [])

    def test_budget_skips_a_mode_with_its_projection(self):
        # The scripted pilot: first step 0.5 s, then 0.5 s a step; 79 steps of 128 samples are about 48 s.
        run = self.compare_modes("--budget", "10s")
        self.assertEqual(run.returncode, 4)
        self.assert_statuses("skipped", "skipped", "skipped")
        self.assertIn("--budget", self.result()["modes"][0]["reason"])


class Signals(CliTest):
    def test_ctrl_c_keeps_what_is_finished(self):
        run = self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt"})
        self.assertEqual(run.returncode, 130, run.stderr)
        self.assert_statuses("ok", "skipped", "skipped")
        self.assertEqual(self.result()["invocation"]["exit_code"], 130)
        self.assertIn("===== 16-mixed =====", run.stdout)

    def test_sigterm(self):
        run = self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt:SIGTERM"})
        self.assertEqual(run.returncode, 143)

    def test_a_finished_run_is_on_disk_while_the_next_one_runs(self):
        process = subprocess.Popen(self.command("--dataset", "synthetic", "--modes", MODES, "--pilot", "0"),
                                   env=self.environment({"bf16-mixed": "silence"}), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 20
        while not list((self.folder / "results").glob("*.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)  # nothing can be saved after this
        process.communicate()
        self.assertEqual(self.result()["modes"][0]["status"], "ok")
        self.assertIn("exit_code", self.result()["invocation"]["unknown"])


class Resume(CliTest):
    def test_only_what_is_missing_runs_and_the_file_is_completed(self):
        self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt"})
        path = next((self.folder / "results").glob("*.json"))
        self.log.unlink()
        run = self.compare_modes("--resume", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.jobs(), ["describe - -", "train bf16-mixed 42", "train 32-true 42"])
        self.assert_statuses("ok", "ok", "ok")

    def test_alone_it_goes_on_with_the_files_own_options(self):
        config = self.folder / "mine.json"
        config.write_text('{"batch_size": 64, "about": "a test"}')
        stopped = self.compare_modes("--config", config, "--seed", "7", "--timeout", "90s", "--pilot", "0", "--lr", "0.01",
                                     "--synthetic-shape", "1,8,8", script={"bf16-mixed": "interrupt"})
        self.assertEqual(stopped.returncode, 130)
        path = next((self.folder / "results").glob("*.json"))
        command = next(line for line in stopped.stderr.splitlines() if "--resume" in line).removeprefix("to go on: ")
        config.unlink()  # what it said stands in the file
        self.log.unlink()
        before = json.loads(path.read_text())
        run = subprocess.run(command, shell=True, env=dict(self.environment(), PRECBENCH_BATCH_SIZE="32"), cwd=self.folder,
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.jobs(), ["describe - -", "train bf16-mixed 7", "train 32-true 7"])
        self.assert_statuses("ok", "ok", "ok")
        after = self.result()
        self.assertEqual(after["protocol"], before["protocol"])
        ours = {"resume"}
        for key, value in before["invocation"]["config"].items():
            if key not in ours:
                self.assertEqual(after["invocation"]["config"][key], value, key)
        self.assertIn("mine: ", run.stderr)

    def test_a_flag_beside_it_is_stronger(self):
        self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt"})
        path = next((self.folder / "results").glob("*.json"))
        run = self.precbench("--resume", path, "--modes", "32-true", "--format", "none")
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        self.assertEqual({row["mode"]: row["status"] for row in self.result()["modes"]},
                         {"32-true": "ok", "16-mixed": "ok"})  # finished work is kept

    def test_options_in_the_file_that_cannot_be_are_refused(self):
        self.compare_modes("--pilot", "0", script={"bf16-mixed": "interrupt"})
        path = next((self.folder / "results").glob("*.json"))
        whole = path.read_text()
        for key, value in (("batch_size", "many"), ("modes", [1]), ("optimizer", "rmsprop"), ("epochs", 0), ("lr", "x")):
            document = json.loads(whole)
            document["invocation"]["config"][key]["value"] = value
            path.write_text(json.dumps(document))
            run = self.precbench("--resume", path)
            self.assertEqual(run.returncode, 5, key)
            self.assertIn(key + ": not a value", run.stderr)
        document["invocation"]["config"] = {}
        path.write_text(json.dumps(document))
        self.assertEqual(self.compare_modes("--resume", path).returncode, 0)  # as before there were options in files

    def test_nothing_is_saved_before_a_run_has_ended(self):
        run = self.compare_modes("--pilot", "0", script={"16-mixed": "interrupt"})
        self.assertEqual(run.returncode, 130)
        self.assertEqual(self.results(), [])
        self.assertIn("nothing is saved", run.stderr)
        self.assertNotIn("--resume", run.stderr)

    def test_another_protocol_is_refused_naming_what_differs(self):
        self.compare_modes()
        path = next((self.folder / "results").glob("*.json"))
        run = self.compare_modes("--resume", path, "--batch-size", "64")
        self.assertEqual(run.returncode, 5)
        self.assertIn("differs in batch_size", run.stderr)


    def test_a_member_that_only_the_earlier_protocol_has_is_refused_too(self):
        self.compare_modes()
        path = next((self.folder / "results").glob("*.json"))
        document = json.loads(path.read_text())
        document["protocol"]["augment"] = True
        path.write_text(json.dumps(document))
        run = self.compare_modes("--resume", path)
        self.assertEqual(run.returncode, 5)
        self.assertIn("differs in augment", run.stderr)

    def test_another_machine_is_refused(self):
        self.compare_modes()
        path = next((self.folder / "results").glob("*.json"))
        document = json.loads(path.read_text())
        document["environment"]["device"]["name"] = "Tesla T4"
        path.write_text(json.dumps(document))
        run = self.compare_modes("--resume", path)
        self.assertEqual(run.returncode, 5)
        self.assertIn("measured on another machine (device Tesla T4 and", run.stderr)

    def test_a_reason_in_other_words_is_the_same_protocol(self):
        self.compare_modes()
        path = next((self.folder / "results").glob("*.json"))
        document = json.loads(path.read_text())
        document["protocol"]["unknown"]["clip_norm"] = "in other words"
        path.write_text(json.dumps(document))
        self.assertEqual(self.compare_modes("--resume", path).returncode, 0)


class Gate(CliTest):
    def baseline(self, *arguments, **keywords):
        self.compare_modes("--pilot", "0", *arguments, **keywords)
        path = self.folder / "base.json"
        next((self.folder / "results").glob("*.json")).rename(path)
        self.log.unlink()
        return path

    def test_the_same_again_passes_and_stands_in_the_file(self):
        base = self.baseline()
        run = self.compare_modes("--pilot", "0", "--baseline", base, "--fail-on", "memory:2%")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.result()["gate"]["outcome"], "passed")

    def test_a_mode_that_no_longer_runs_fails_the_gate(self):
        base = self.baseline()
        run = self.compare_modes("--pilot", "0", "--baseline", base, "--fail-on", "memory:2%",
                                 script={"16-mixed": "crash"})
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(self.result()["gate"]["outcome"], "failed")

    def test_a_time_rule_repeats_each_mode_five_times(self):
        base = self.baseline()
        run = self.compare_modes("--pilot", "0", "--baseline", base, "--fail-on", "time:5%", "--modes", "32-true")
        self.assertEqual(run.returncode, 2)  # --modes twice
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", "--baseline", base,
                             "--fail-on", "time:5%")
        self.assertEqual(self.jobs().count("train 32-true 42"), 6)  # five and the drift run
        self.assertIn("each mode runs 5 times", run.stderr)

    def test_another_protocol_is_refused_before_any_run(self):
        base = self.baseline()
        run = self.compare_modes("--pilot", "0", "--baseline", base, "--fail-on", "memory:2%", "--batch-size", "64")
        self.assertEqual(run.returncode, 5)
        self.assertIn("batch_size", run.stderr)
        self.assertEqual(self.jobs(), ["describe - -"])

    def test_a_bad_rule_and_a_missing_baseline_are_told_first(self):
        base = self.baseline()
        self.assertEqual(self.compare_modes("--baseline", base, "--fail-on", "speed:5%").returncode, 2)
        self.assertEqual(self.compare_modes("--baseline", "none.json", "--fail-on", "time:5%").returncode, 5)
        self.assertEqual(self.jobs(), [])


class Terminal(CliTest):
    def on_terminal(self, seconds, columns=60):
        """What precbench writes to a terminal of that width during one slow run."""
        leader, follower = pty.openpty()
        subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=follower, check=True)
        environment = self.environment({"32-true": f"success:{seconds}"}, TERM="xterm")
        process = subprocess.Popen(self.command("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0"),
                                   env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        written = b""
        while process.poll() is None or select.select([leader], [], [], 0.1)[0]:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    chunk = os.read(leader, 65536)
                except OSError:
                    break
                written += chunk
        os.close(leader)
        return written.decode()

    def test_live_line_is_redrawn_in_place_and_never_wraps(self):
        written = self.on_terminal(1.0)
        live = [part for part in written.split("\r\x1b[K") if "step" in part]
        self.assertGreater(len(live), 3)
        for part in live[:-1]:
            self.assertNotIn("\n", part)
            self.assertLess(len(part), 60)
        escapes = written.replace("\x1b[K", "")
        self.assertEqual(escapes.count("\x1b"), escapes.count("\x1b[33m") + escapes.count("\x1b[0m"))

    def test_off_a_terminal_a_line_after_the_first_step(self):
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0")
        self.assertIn("[1/1] 32-true  epoch 1/1  step 1/4", run.stderr)
        self.assertNotIn("\r", run.stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
