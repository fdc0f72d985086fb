"""Flags, variables, configuration files and their errors."""

import hashlib
import json
import subprocess

from support import BINARY, CliTest


class Errors(CliTest):
    def assert_usage_error(self, arguments, *words, **environment):
        begin = self.cpu_s()
        run = self.precbench(*arguments, **environment)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertTrue(run.stderr.startswith("error: "), run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(self.jobs(), [])
        self.assertLess(self.cpu_s() - begin, 1.0)

    def test_unknown_mode_is_answered_with_the_nearest_and_the_list(self):
        self.assert_usage_error(["--modes", "16-mixd"], "unknown mode '16-mixd'; did you mean '16-mixed'?",
                                "modes: 32-true 16-mixed bf16-mixed")

    def test_numbers_are_read_strictly(self):
        for flag, text in (("--seed", "-1"), ("--seed", "4294967296"), ("--batch-size", "0"), ("--batch-size", "1e3"),
                           ("--batch-size", "12x"), ("--epochs", ""), ("--lr", "nan"), ("--lr", "1e3x"),
                           ("--lr", "-0.1"), ("--timeout", "0s"), ("--timeout", "5"), ("--budget", "-5m"),
                           ("--memory-limit", "2 GB"), ("--threads", "0"), ("--clip-norm", "0")):
            with self.subTest(flag=flag, text=text):
                self.assert_usage_error([flag + "=" + text], flag)

    def test_unknown_flag(self):
        self.assert_usage_error(["--batchsize", "3"], "unknown option '--batchsize'; did you mean '--batch-size'?")

    def test_unknown_command(self):
        self.assert_usage_error(["reprot"], "unknown command 'reprot'; did you mean 'report'?")

    def test_unknown_flag_of_run(self):
        self.assert_usage_error(["run", "--nestrov"], "unknown option '--nestrov'; did you mean '--nesterov'?")

    def test_stray_word(self):
        self.assert_usage_error(["run", "foo"], "unexpected argument 'foo' after run")
        self.assert_usage_error([""], "unknown command ''")

    def test_missing_value(self):
        self.assert_usage_error(["--seed"], "--seed needs a value: N")
        self.assert_usage_error(["run", "--results-dir"], "--results-dir needs a value: DIR")
        self.assert_usage_error(["--deterministic", "--seed", "11"], "--deterministic needs a value before --seed: ")
        self.assert_usage_error(["--seed", "--modes=32-true"], "--seed needs a value before --modes=32-true: N")

    def test_one_value_for_each_option(self):
        self.assert_usage_error(["run", "--seed", "1", "2"], "unexpected argument '2' after run")
        self.assert_usage_error(["--seed", "1", "--seed", "2"], "--seed is given 2 times; once is enough")

    def test_flag_that_is_neither_true_nor_false(self):
        self.assert_usage_error(["--nesterov=maybe"], "--nesterov: 'maybe' is not true or false")

    def test_options_of_run_before_another_command(self):
        self.assert_usage_error(["--seed", "1", "list", "modes"], "--seed belongs to run, not to list")

    def test_list_of_what(self):
        self.assert_usage_error(["list"], "allowed: modes models datasets devices configs")
        self.assert_usage_error(["list", "modles"], "did you mean 'modes'?")

    def test_empty_parts_of_a_list(self):
        self.assert_usage_error(["--seeds", "1,,2"], "--seeds", "empty part")
        self.assert_usage_error(["--modes", "16-mixed,"], "--modes", "empty part")

    def test_what_other_trainers_call_it(self):
        self.assert_usage_error(["--precision", "bf16"], "unknown option '--precision'; did you mean '--modes'?")
        self.assert_usage_error(["run", "--learning-rate=1"], "did you mean '--lr'?")

    def test_a_command_that_is_not_complete_tells_its_usage(self):
        self.assert_usage_error(["compare", "a.json"], "usage: precbench compare BASE NEW [options]")
        self.assert_usage_error(["report"], "usage: precbench report FILE... [options]")

    def test_options_of_run_behind_another_command(self):
        for command in (["report", "x"], ["list", "modes"], ["matrix", "x"], ["probe"], ["predict", "--gpu", "t4"]):
            self.assert_usage_error([*command, "--export-html" if command[0] == "predict" else "--seed", "1"],
                                    "is an option of run; " + command[0] + " does not read it")

    def test_a_search_for_a_batch_refuses_what_it_does_not_read(self):
        search = ["--dataset", "synthetic", "--find-max-batch", "--memory-limit", "1GiB"]
        for option in (["--export-json", "x"], ["--resume", "x"], ["--seeds", "1,2"], ["--save-weights", "x"]):
            # --resume names a file that is not there, which is told first
            run = self.precbench(*search, *option)
            self.assertEqual((run.returncode, self.jobs()), (5 if option[0] == "--resume" else 2, []), run.stderr)
        self.assert_usage_error([*search, "--format", "csv"], "formats: text table json none")

    def test_a_gate_rule_is_read_at_once(self):
        self.assert_usage_error(["--fail-on", "time:5", "--dry-run"], "time:5")

    def test_foreign_names_are_answered(self):
        self.assert_usage_error(["--modes", "fp16"], "did you mean '16-mixed' or '16-true'?")

    def test_flag_given_twice(self):
        self.assert_usage_error(["--seed", "1", "--seed", "2"], "--seed is given 2 times")
        self.assert_usage_error(["--seed", "1", "run", "--seed", "2"], "--seed is given 2 times")

    def test_seed_and_seeds(self):
        self.assert_usage_error(["--seed", "1", "--seeds", "2,3"], "--seed and --seeds")

    def test_reference_must_be_among_the_modes(self):
        self.assert_usage_error(["--modes", "16-mixed", "--reference", "32-true"], "not among --modes")

    def test_what_does_not_go_together(self):
        self.assert_usage_error(["--optimizer", "adam", "--momentum", "0.5"], "belongs to sgd")
        self.assert_usage_error(["--momentum", "0", "--nesterov"], "momentum above 0")
        self.assert_usage_error(["--clip-norm", "1", "--clip-value", "1"], "--clip-value")
        self.assert_usage_error(["--fp8-recipe", "dynamic", "--fp8-margin", "1"], "belongs to --fp8-recipe delayed")
        self.assert_usage_error(["--fp8-history", "0"], "1")
        self.assert_usage_error(["--budget", "5m", "--pilot", "0"], "pilot")
        self.assert_usage_error(["--save-weights", "w.pt"], "one mode")

    def test_variable_is_named_in_its_error(self):
        self.assert_usage_error([], "PRECBENCH_BATCH_SIZE", PRECBENCH_BATCH_SIZE="none")


class Configs(CliTest):
    def config(self, text):
        path = self.folder / "mine.json"
        path.write_text(text)
        return path

    def assert_refused(self, text, *words):
        run = self.precbench("--config", self.config(text), "--dry-run")
        self.assertEqual(run.returncode, 2, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_unknown_key(self):
        self.assert_refused('{"batchsize": 3}', "unknown key 'batchsize'; did you mean 'batch_size'?")

    def test_key_that_stands_twice(self):
        self.assert_refused('{"seed": 1, "seed": 2}', "has the key 'seed' twice")

    def test_wrong_type(self):
        self.assert_refused('{"seed": "1"}', "seed: must be a whole number, not string")
        self.assert_refused('{"seed": 1.5}', "seed")
        self.assert_refused('{"nesterov": 1}', "true or false")

    def test_not_json(self):
        self.assert_refused("modes: all", "not JSON")
        self.assert_refused("[]", "one JSON object")

    def test_missing_file_is_answered_with_the_names_there_are(self):
        run = self.precbench("--config", "quik", "--dry-run")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'quick'?", run.stderr)

    def test_flag_over_environment_over_config_over_default(self):
        path = self.config('{"batch_size": 11, "epochs": 12, "seed": 13, "about": "a test"}')
        run = self.precbench("--config", path, "--seed", "33", "--dataset", "synthetic", "--format", "json", "--no-save",
                             PRECBENCH_EPOCHS="22", PRECBENCH_SEED="23")
        config = json.loads(run.stdout)["invocation"]["config"]
        self.assertEqual(config["seed"], {"value": 33, "source": "flag"})
        self.assertEqual(config["epochs"], {"value": 22, "source": "environment"})
        self.assertEqual(config["batch_size"], {"value": 11, "source": "config"})
        self.assertEqual(config["model"], {"value": "cnn", "source": "default"})

    def test_pipe(self):
        run = subprocess.run(self.command("--config", "/dev/stdin", "--dry-run"), input='{"seed": 5}', text=True,
                             env=self.environment(), cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("seed = 5  (config)", run.stdout)

    def test_another_optimizer_than_the_configurations(self):
        run = self.precbench("--config", "fashion-cnn", "--optimizer", "adamw", "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("adamw lr 0.001", run.stdout)
        self.assertIn("lr is meant for sgd and left out: the optimizer is adamw", run.stderr)

    def test_flag_undoes_a_configurations_true(self):
        run = self.precbench("--config", self.config('{"nesterov": true}'), "--nesterov=false", "--dry-run")
        self.assertIn("nesterov = false  (flag)", run.stdout)

    def test_misspelt_variable_is_told(self):
        run = self.precbench("--dry-run", PRECBENCH_BATCHSIZE="3")
        self.assertEqual(run.returncode, 0)
        self.assertIn("did you mean PRECBENCH_BATCH_SIZE?", run.stderr)

    def test_protocol_hash_is_what_python_computes(self):
        # 6.15e-9 and 1e15 are numbers that JSON writers spell in different ways.
        run = self.precbench("--dataset", "synthetic", "--format", "json", "--no-save", "--lr", "0.000123",
                             "--clip-norm", "1e15", "--weight-decay", "6.15e-9")
        self.assertEqual(run.returncode, 0, run.stderr)
        protocol = json.loads(run.stdout)["protocol"]
        told = protocol.pop("hash")
        del protocol["unknown"]
        text = json.dumps(protocol, sort_keys=True, separators=(",", ":"))
        self.assertEqual(told, hashlib.sha256(text.encode()).hexdigest())

    def test_every_ready_made_configuration_is_valid(self):
        names = [line.split()[0] for line in self.precbench("list", "configs").stdout.splitlines()]
        self.assertIn("quick", names)
        for name in names:
            self.assertEqual(self.precbench("--config", name, "--dry-run").returncode, 0, name)


class Help(CliTest):
    def test_help_shows_at_most_15_options_and_three_examples(self):
        run = self.precbench("--help")
        self.assertEqual(run.returncode, 0)
        options = [line for line in run.stdout.splitlines() if line.strip().startswith("-")]
        self.assertTrue(0 < len(options) <= 15)
        examples = run.stdout.split("examples:")[1].strip().splitlines()
        self.assertEqual(len(examples), 3)

    def test_help_all_shows_every_option_of_the_contract(self):
        text = self.precbench("--help-all").stdout
        for name in ("modes", "seed", "seeds", "repeats", "config", "model", "dataset", "data-dir", "limit-train",
                     "limit-test", "epochs", "steps", "batch-size", "image-size", "optimizer", "lr", "momentum",
                     "nesterov", "weight-decay", "schedule", "schedule-on-skip", "label-smoothing", "accumulate",
                     "clip-norm", "clip-value", "loss-autocast", "init", "init-weights", "save-weights", "eval-every",
                     "dump-trace", "device", "threads", "profile", "tf32", "cpu-fp16", "deterministic",
                     "optimizer-impl", "memory-format", "gemm", "fp8-recipe", "cuda-graph", "reference", "order",
                     "timeout", "pilot", "budget", "emulated", "memory-limit", "checkpoint-every", "resume", "keep-going", "results-dir",
                     "no-save", "baseline", "fail-on", "strict-gate", "dry-run", "context", "format", "export-json",
                     "export-csv", "export-markdown", "export-html", "export-junit", "export-github", "color",
                     "progress", "quiet", "verbose"):
            self.assertIn("--" + name, text)
        self.assertNotIn("inject", text)

    def test_checkpoints_go_with_what_can_be_gone_on_with(self):
        for wrong in ("0", "-5", "x", "5 steps", "0s", ""):
            run = self.precbench("--checkpoint-every", wrong, "--dry-run")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("such as 90s", run.stderr)
        for beside in (["--no-save"], ["--engine", "fabric"], ["--dump-trace", "x", "--modes", "32-true"], ["--cuda-graph"],
                       ["--devices", "2"], ["--device", "simulated:t4"]):
            run = self.precbench("--checkpoint-every", "90s", *beside)
            self.assertEqual((run.returncode, self.jobs()), (2, []), run.stderr)
            self.assertIn("--checkpoint-every does not go with", run.stderr)

    def test_help_needs_no_valid_line_and_is_quick(self):
        begin = self.cpu_s()
        self.assertEqual(self.precbench("--modes", "nonsense", "--help").returncode, 0)
        self.assertLess(self.cpu_s() - begin, 0.5)  # 50 ms on an idle machine

    def test_an_empty_argument_is_no_flag(self):
        run = self.precbench("--data-dir", "", "--dry-run")
        self.assertEqual(run.returncode, 0)
        self.assertNotIn("precbench 0", run.stdout)

    def test_commands_have_help_of_their_own(self):
        commands = self.precbench("nonsense").stderr.split("commands: run ")[1].split()
        self.assertGreater(len(commands), 9)
        for command in commands:
            run = self.precbench(command, "--help")
            self.assertEqual(run.returncode, 0)
            self.assertTrue(run.stdout.startswith("Usage: precbench " + command) or "precbench " + command in run.stdout.split("\n\n")[0], command)

    def test_help_and_version_are_words_too(self):
        self.assertEqual(self.precbench("help").stdout, self.precbench("--help").stdout)
        self.assertEqual(self.precbench("help", "report").stdout, self.precbench("report", "--help").stdout)
        self.assertEqual(self.precbench("version").stdout, self.precbench("--version").stdout)

    def test_version(self):
        self.assertRegex(self.precbench("--version").stdout, r"^precbench \d+\.\d+\.\d+ \(.+, .+, .+\)\n$")

    def test_dry_run_prints_the_order(self):
        run = self.precbench("--dry-run", "--modes", "16-mixed,32-true", "--repeats", "2")
        self.assertEqual([line.split() for line in run.stdout.splitlines()[2:7]],
                         [["1", "16-mixed", "seed", "42", "repeat", "1"],
                          ["2", "32-true", "seed", "42", "repeat", "1"],
                          ["3", "32-true", "seed", "42", "repeat", "2"],
                          ["4", "16-mixed", "seed", "42", "repeat", "2"],
                          ["5", "32-true", "seed", "42", "repeat", "1", "(drift)"]])

    def test_binary_links_no_torch(self):
        libraries = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
        for word in ("libtorch", "libc10", "libcuda"):
            self.assertNotIn(word, libraries)

    def test_aliases_and_their_warning(self):
        run = self.precbench("--modes", "16,bf16,32,64", "--dataset", "synthetic", "--format", "csv")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Please set your precision to 16-mixed instead!", run.stderr)
        self.assertIn("Please set your precision to bf16-mixed instead!", run.stderr)
        self.assertEqual(run.stderr.count("discouraged"), 2)

    def test_list_modes_names_them_all(self):
        text = self.precbench("list", "modes").stdout
        for mode in ("32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true", "transformer-engine", "tf32"):
            self.assertIn(mode, text)

    def test_list_devices_says_why_there_is_no_cuda(self):
        self.assertIn("built without CUDA", self.precbench("list", "devices").stdout)

    def test_dry_run_names_sources_and_starts_no_worker(self):
        run = self.precbench("--dry-run", "--seed", "7", "--modes", "32-true", PRECBENCH_EPOCHS="3")
        self.assertEqual(run.returncode, 0)
        self.assertIn("seed = 7  (flag)", run.stdout)
        self.assertIn("epochs = 3  (environment)", run.stdout)
        self.assertEqual(self.jobs(), [])
        self.assertRegex(run.stdout, r"\n +32-true +native")  # verdicts, too

    def test_a_variable_that_other_programs_read_is_named(self):
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", OMP_NUM_THREADS="77")
        self.assertIn("OMP_NUM_THREADS=77 is not read", run.stderr)
        run = self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", "--threads", "1",
                             OMP_NUM_THREADS="77")
        self.assertNotIn("OMP_NUM_THREADS", run.stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
