"""How the profile `tuned` chooses the fp32 matrix product: by a measurement, once, kept for the machine."""

import unittest

from support import CliTest


class Gemm(CliTest):
    def tuned(self, *arguments, script=None):
        return self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", "--profile", "tuned",
                              *arguments, script=script, XDG_CACHE_HOME=str(self.folder / "cache"))

    def chosen(self, script):
        done = self.tuned(script=script)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = max(self.results(), key=lambda document: document["invocation"]["started_at"])
        return result["protocol"], done.stderr

    def asked(self):
        return sum(line.startswith("gemm") for line in self.jobs())

    def test_the_faster_product_and_both_rates_stand_in_the_protocol(self):
        protocol, told = self.chosen({"gemm": {"default": 0.2, "onednn": 0.4}})
        self.assertEqual(protocol["gemm"], "onednn")
        self.assertEqual(protocol["gemm_rates"], {"default_tflops": 0.2, "onednn_tflops": 0.4})
        self.assertIn("fp32 linear layers by oneDNN: 0.4 TFLOP/s here, 0.2 by PyTorch's default", told)

    def test_pytorchs_own_stays_where_it_is_as_fast(self):
        protocol, told = self.chosen({"gemm": {"default": 0.4, "onednn": 0.41}})
        self.assertEqual(protocol["gemm"], "default")
        self.assertIn("fp32 linear layers by PyTorch's default", told)

    def test_a_library_without_onednn(self):
        protocol, told = self.chosen({"gemm": {"default": 0.4, "onednn": None}})
        self.assertEqual(protocol["gemm"], "default")
        self.assertIsNone(protocol["gemm_rates"]["onednn_tflops"])
        self.assertIn("no oneDNN", told)

    def test_a_machine_is_measured_once(self):
        self.chosen({"gemm": {"default": 0.2, "onednn": 0.4}})
        self.assertEqual(self.chosen({"gemm": "crash"})[0]["gemm"], "onednn")
        self.assertEqual(self.asked(), 1)
        self.tuned("--threads", "1")
        self.assertEqual(self.asked(), 2)

    def test_a_damaged_cache_is_measured_again(self):
        self.chosen({})
        for file in (self.folder / "cache/precbench").iterdir():
            file.write_text(file.read_text().replace("onednn", "other").replace("default", "else"))
        self.assertEqual(self.chosen({"gemm": {"default": 0.3, "onednn": 0.1}})[0]["gemm"], "default")
        self.assertEqual(self.asked(), 2)

    def test_a_crash_costs_the_choice_and_not_the_comparison(self):
        protocol, told = self.chosen({"gemm": "crash"})
        self.assertEqual(protocol["gemm"], "default")
        self.assertIsNone(protocol["gemm_rates"])
        self.assertIn("SIGSEGV", protocol["unknown"]["gemm_rates"])
        self.assertIn("could not be measured", told)

    def test_nonsense_is_no_rate(self):
        for rates in ({}, {"default": "fast"}, 3):
            protocol, _ = self.chosen({"gemm": rates})
            self.assertEqual(protocol["gemm"], "default")
            self.assertIn("gemm_rates", protocol["unknown"])

    def test_nothing_is_measured_where_nothing_is_chosen(self):
        self.precbench("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0")
        self.tuned("--gemm", "default")
        self.tuned("--gemm", "onednn")
        self.assertEqual(self.asked(), 0)


if __name__ == "__main__":
    unittest.main()
