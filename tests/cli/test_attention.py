"""How the profile `tuned` chooses the computation of attention: by steps of the model itself, for each format."""

import json
import unittest

from support import CliTest


class Attention(CliTest):
    def tuned(self, *arguments, script=None, model="vit_tiny", modes="32-true,64-true"):
        done = self.precbench("--dataset", "synthetic", "--synthetic-shape", "3,32,32", "--modes", modes,
                              "--pilot", "0", "--profile", "tuned", "--gemm", "default", "--model", model, "--format", "json",
                              *arguments, script=script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["protocol"], done.stderr

    def asked(self):
        return [line for line in self.jobs() if line.startswith("attention")]

    def test_the_faster_one_stands_in_the_protocol(self):
        protocol, told = self.tuned(script={"attention": {"default_s": 0.03, "math_s": 0.02}})
        self.assertEqual(protocol["attention"]["float32"], "math")
        self.assertNotIn("float64", protocol["attention"])
        self.assertIn("float32 attention by separate products: 20.0 ms for 4 samples here, 30.0 by PyTorch's own kernel",
                      told)
        self.assertTrue(self.asked()[0].startswith("attention 32-true"))
        self.assertEqual(len(self.asked()), len(protocol["attention"]))

    def test_pytorchs_own_stays_where_it_is_as_fast(self):
        protocol, told = self.tuned(script={"attention": {"default_s": 0.021, "math_s": 0.02}})
        self.assertNotIn("attention", protocol)
        self.assertIn("float32 attention by PyTorch's own kernel: 21.0 ms", told)

    def test_what_cannot_be_measured_is_told_and_costs_nothing_else(self):
        for answer, word in (("crash", "SIGSEGV"), ({}, "default_s"), ({"default_s": "fast"}, "default_s")):
            protocol, told = self.tuned(script={"attention": answer})
            self.assertNotIn("attention", protocol)
            self.assertIn("could not be measured", told)
            self.assertIn(word, told)

    def test_other_modes_make_no_other_protocol(self):
        script = {"attention": {"default_s": 0.03, "math_s": 0.02}}
        wide = self.tuned(script=script)[0]
        self.assertEqual(self.tuned(script=script, modes="64-true")[0]["hash"], wide["hash"])

    def test_what_was_asked_for_stands_in_the_protocol(self):
        self.assertEqual(self.tuned("--attention", "math")[0]["attention"], "math")
        self.assertEqual(self.asked(), [])

    def test_nothing_is_measured_where_nothing_is_chosen(self):
        self.tuned("--attention", "default")
        self.tuned(model="mlp")
        self.precbench("--dataset", "synthetic", "--model", "vit_tiny", "--modes", "32-true", "--pilot", "0")
        self.assertEqual(self.asked(), [])


if __name__ == "__main__":
    unittest.main()
