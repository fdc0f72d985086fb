"""`precbench get` against a server on this machine: progress, checksum, what was cut off goes on."""

import contextlib
import hashlib
import http.server
import importlib.util
import io
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(os.environ["PRECBENCH_SOURCE_DIR"])
BINARY = os.environ["PRECBENCH_BIN"]
CONTENT = bytes(range(256)) * 4096
NAMES = ["train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"]

spec = importlib.util.spec_from_file_location("get", SOURCE / "python/get.py")
get = importlib.util.module_from_spec(spec)
spec.loader.exec_module(get)


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT under every name; `cut` ends the first answer early, `ranges` off ignores Range."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cut, self.ranges, self.asked = None, True, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and self.server.ranges else 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        end, self.server.cut = self.server.cut or len(CONTENT), None
        self.wfile.write(CONTENT[start:end])

    def log_message(self, *_):
        pass


class Get(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="precbench-get-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def get(self, content=CONTENT):
        """Exit code and what was said, with `content` as what was published."""
        files = dict.fromkeys(NAMES, hashlib.sha256(content).hexdigest())
        said = io.StringIO()
        with mock.patch.dict(get.SOURCES, {"fashion-mnist": ("http://127.0.0.1:9", files)}), \
                contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), \
                mock.patch.object(get.Progress.__init__, "__defaults__", (said,)):
            code = get.main(["fashion-mnist", "--to", str(self.folder / "data"), "--from", self.server.url + "/"])
        return code, said.getvalue()

    def files(self):
        return {path.name: path.read_bytes() for path in (self.folder / "data").glob("*")}

    def test_files_come_whole_and_once(self):
        code, said = self.get()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.files(), dict.fromkeys(NAMES, CONTENT))
        self.assertIn("train-images-idx3-ubyte.gz  1.0 of 1.0 MB", said)
        code, said = self.get()
        self.assertEqual((code, len(self.server.asked)), (0, 2))
        self.assertIn("there already", said)

    def test_what_was_cut_off_goes_on(self):
        self.server.cut = 300_000
        code, said = self.get()
        self.assertEqual(code, 5)
        self.assertIn("run it again: it goes on after 300000 bytes", said)
        self.assertEqual(list(self.files()), [NAMES[0] + ".part"])
        code, said = self.get()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.server.asked[1], "bytes=300000-")
        self.assertEqual(self.files(), dict.fromkeys(NAMES, CONTENT))

    def test_a_server_without_ranges_sends_all_of_it_again(self):
        self.server.cut, self.server.ranges = 300_000, False
        self.get()
        self.assertEqual(self.get()[0], 0)
        self.assertEqual(self.files()[NAMES[0]], CONTENT)

    def test_a_whole_part_needs_nothing_more(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / (NAMES[0] + ".part")).write_bytes(CONTENT)
        self.assertEqual(self.get()[0], 0)

    def test_another_content_is_refused_and_removed(self):
        code, said = self.get(content=b"as published")
        self.assertEqual(code, 5)
        self.assertIn("its SHA-256 is " + hashlib.sha256(CONTENT).hexdigest(), said)
        self.assertEqual(self.files(), {})

    def test_an_unreachable_place_says_what_to_do(self):
        self.server.shutdown()
        self.server.server_close()
        code, said = self.get()
        self.assertEqual(code, 5)
        self.assertIn("Connection refused", said)
        self.assertIn("--from URL", said)

    def test_a_terminal_sees_a_bar(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        progress = get.Progress("file", terminal)
        progress.show(0, 4_000_000)
        progress.show(1_000_000, 4_000_000, last=True)
        self.assertIn("\r\033[K[######                  ] file  1.0 of 4.0 MB", terminal.getvalue())

    def command(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PRECBENCH_")}
        return subprocess.run([BINARY, *arguments], env={**environment, "XDG_DATA_HOME": str(self.folder)}, text=True,
                              capture_output=True, timeout=60, check=False)

    def test_the_command_fetches_to_where_data_sets_are_looked_for(self):
        place = self.folder / "precbench/datasets/cifar10"
        run = self.command("get", "cifar10", "--from", self.server.url)
        self.assertEqual(run.returncode, 5, run.stderr)  # what this server has is not CIFAR-10
        self.assertIn("is not what was published", run.stderr)
        self.assertEqual(list(place.iterdir()), [])
        (place / "cifar-10-binary.tar.gz").write_bytes(CONTENT)
        self.assertIn(f"found: {place}", self.command("list", "datasets").stdout)
        run = self.command("get", "cifar10", "--from", self.server.url)
        self.assertEqual((run.returncode, run.stdout), (0, f"cifar10 is here already: {place}/cifar-10-binary.tar.gz\n"))

    def test_other_names_are_refused_with_those_there_are(self):
        run = self.command("get", "cifar1")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'cifar10'?", run.stderr)
        self.assertIn("allowed: fashion-mnist cifar10 cifar100", run.stderr)

    def test_the_command_and_the_script_know_the_same_data_sets(self):
        self.assertIn("allowed: " + " ".join(get.SOURCES), self.command("get").stderr)


if __name__ == "__main__":
    unittest.main()
