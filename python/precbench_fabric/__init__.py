"""The worker of `--engine fabric`: one training run in Lightning Fabric, as a user of it would write it (docs/engines.md).

It reads a job as JSON from its standard input and answers with events as JSON lines, as precbench-worker does
(lib/common/job.h, lib/common/event.h); training.py is the loop.
"""

VERSION = "0.1.0"  # the project's, in CMakeLists.txt: workers of another version are refused
PROTOCOL = 1  # kProtocolVersion
