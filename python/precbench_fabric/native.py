"""libprecbench_measure.so: the counting allocator and the observer of dtypes of the other engine
(lib/train/measure/), loaded into this process, so that both engines' figures are counted by the same code.
"""

import ctypes
import json
import os
from pathlib import Path

NAME = "libprecbench_measure.so"


def places(release):
    """Where the library is: named by tests, beside the build folder's share/, or in the installed tree."""
    if "PRECBENCH_MEASURE" in os.environ:
        return [Path(os.environ["PRECBENCH_MEASURE"])]
    root = Path(__file__).absolute().parents[3]
    return [root / "libexec" / "precbench" / release / "lib" / NAME, root / "lib" / NAME]


class Missing:
    """Stands for the library where there is none for this torch; `why` goes into the result."""

    def __init__(self, why):
        self.why = why

    def __bool__(self):
        return False


class Measure:
    def __init__(self, library):
        self._library = library
        library.precbench_allocated_bytes.restype = ctypes.c_int64
        library.precbench_peak_bytes.restype = ctypes.c_int64
        library.precbench_limit_bytes.argtypes = [ctypes.c_int64]
        library.precbench_end_observing.restype = ctypes.c_char_p

    def count_allocations(self):
        """From now on CPU tensors are counted; those that are there stay out."""
        self._library.precbench_count_allocations()

    def allocated_bytes(self):
        return self._library.precbench_allocated_bytes()

    def peak_bytes(self):
        return self._library.precbench_peak_bytes()

    def reset_peak(self):
        self._library.precbench_reset_peak()

    def limit_bytes(self, limit):
        self._library.precbench_limit_bytes(limit)

    def begin_observing(self, is_cuda):
        self._library.precbench_begin_observing(int(is_cuda))

    def end_observing(self):
        """{compute, attention: [dtypes], autocast: dtype or None, flops}"""
        return json.loads(self._library.precbench_end_observing())


def load(torch_version):
    release = ".".join(torch_version.split(".")[:2])
    for path in places(release):
        if not path.exists():
            continue
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:  # compiled for another torch
            return Missing(f"{NAME} cannot be loaded into this torch ({error})")
        library.precbench_torch_release.restype = ctypes.c_char_p
        built_for = library.precbench_torch_release().decode()
        if built_for != release:
            return Missing(f"{NAME} is for torch {built_for}, this is {release}")
        return Measure(library)
    return Missing(f"there is no {NAME} for torch {release} here")
