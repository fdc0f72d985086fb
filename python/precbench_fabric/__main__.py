"""python3 precbench_fabric < job.json"""

import sys
from pathlib import Path

# Started by its path, Python's search path begins with this folder; its modules belong to the package.
sys.path[0] = str(Path(__file__).absolute().parent.parent)

from precbench_fabric.worker import main  # noqa: E402

main()
