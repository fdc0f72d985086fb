"""The shell of docs/ci.md, run as it stands there."""

import json
import re
import subprocess
import unittest

from support import BINARY, SOURCE, CliTest

DOCS = SOURCE / "docs" / "ci.md"


class CiRecipeTest(CliTest):
    def run_recipe(self, head_script=None):
        shell = re.search(r"```sh\n(.*?)```", DOCS.read_text(), re.S)[1]
        builds = {}
        for name, script in (("BASE", {}), ("HEAD", head_script or {})):
            build = self.folder / name.lower()
            build.write_text(f"#!/bin/sh\nPRECBENCH_FAKE='{json.dumps(script)}' exec '{BINARY}' \"$@\"\n")
            build.chmod(0o755)
            builds["PRECBENCH_" + name] = str(build)
        environment = self.environment({}, PRECBENCH_DATASET="synthetic", **builds)
        return subprocess.run(["sh", "-c", shell], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=120, check=False)

    def test_passes_when_nothing_changed(self):
        done = self.run_recipe()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "gate.xml").exists())
        self.assertIn("| 32-true |", (self.folder / "gate.md").read_text())

    def test_fails_when_the_head_needs_more_memory(self):
        done = self.run_recipe({"32-true": "bigger:1.05"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gate: failed", done.stdout)

    def test_the_workflow_uses_flags_that_exist(self):
        flags = set(re.findall(r"--[a-z][a-z-]+", DOCS.read_text()))
        helped = subprocess.run([BINARY, "--help-all"], capture_output=True, text=True, check=True).stdout
        helped += subprocess.run([BINARY, "compare", "--help"], capture_output=True, text=True, check=True).stdout
        unknown = {flag for flag in flags - {"--version"} if not re.search(rf"{flag}\b", helped)}
        self.assertEqual(unknown, set())


if __name__ == "__main__":
    unittest.main()
