"""The CUDA module is compiled from the headers beside LibTorch: with no system folder but the compiler's own and the C
library's, no header of CUDA comes from anywhere else, so that a machine without a toolkit builds the same."""

import json
import os
import shlex
import subprocess
import unittest
from pathlib import Path

BUILD = Path(os.environ["PRECBENCH_BUILD_DIR"])
LIBTORCH = Path(os.environ["PRECBENCH_LIBTORCH_LIB"]).resolve().parent
WHEELS = [LIBTORCH, LIBTORCH.parent / "nvidia"]


def command_of(name):
    """The command that compiles the source, in parts, without output, dependency file and precompiled header."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"].endswith(name):
            parts = shlex.split(entry["command"])
            parts = parts[next(i for i, part in enumerate(parts) if "ccache" not in part):]
            end = parts.index("-o")
            return parts[:end], entry["directory"], entry["file"]
    return None


def default_folders(compiler):
    """Where the compiler looks for <...> by itself."""
    done = subprocess.run([compiler, "-x", "c++", "-E", "-v", os.devnull], capture_output=True, text=True, check=True)
    text = done.stderr.split("#include <...> search starts here:")[1].split("End of search list.")[0]
    return text.split()


class CudaBuild(unittest.TestCase):
    def test_headers_of_cuda_come_from_the_wheels_alone(self):
        found = command_of("train/cuda/module/cuda_device.cpp")
        if found is None:
            self.skipTest("this LibTorch is built for CPUs only: there is no CUDA module")
        parts, directory, source = found
        explicit = [word for folder in default_folders(parts[0]) for word in ("-isystem", folder)]
        done = subprocess.run([*parts, "-nostdinc", "-nostdinc++", *explicit, "-M", source], cwd=directory,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        headers = [(Path(directory) / word).resolve() for word in done.stdout.replace("\\\n", " ").split()[1:]]
        cuda = [path for path in headers if path.name.startswith(("cuda_", "driver_types", "host_defines")) or
                path.parent.name == "crt"]
        self.assertIn("cuda_runtime_api.h", [path.name for path in cuda])
        elsewhere = [str(path) for path in cuda if "cuda_device" not in path.name and
                     not any(path.is_relative_to(folder.resolve()) for folder in WHEELS)]
        self.assertEqual(elsewhere, [])


if __name__ == "__main__":
    unittest.main()
