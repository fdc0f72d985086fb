"""python3 precbench_fabric < job.json"""

import sys
from pathlib import Path

# Started by its path, Python's search path begins with this folder; its modules belong to the package.
PACKAGE = Path(__file__).absolute().parent
sys.path[:] = [str(PACKAGE.parent)] + [each for each in sys.path if Path(each) != PACKAGE]

from precbench_fabric.worker import main  # noqa: E402

main()
