"""precbench get NAME: fetches a data set into the folder where precbench looks for it.

Run by the command with the Python that it finds; needs nothing but Python. A download that was cut off goes on where it
stopped, and a file has its name only once its SHA-256 is right.
"""

import argparse
import fcntl
import hashlib
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

# Where each data set was published, and what is to be there: name and SHA-256.
SOURCES = {
    "fashion-mnist": (
        "https://github.com/zalandoresearch/fashion-mnist/raw/b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion",
        {
            "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        },
    ),
    "cifar10": (
        "https://www.cs.toronto.edu/~kriz",
        {"cifar-10-binary.tar.gz": "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"},
    ),
    "cifar100": (
        "https://www.cs.toronto.edu/~kriz",
        {"cifar-100-binary.tar.gz": "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"},
    ),
}

BLOCK = 1 << 18
TIMEOUT_S = 30  # without a byte
SHOWN_EVERY_S = {True: 0.1, False: 10}  # on a terminal, and elsewhere
BAR_WIDTH = 24


class Failed(Exception):
    """What went wrong, and what to do."""


class Progress:
    """One line for a file: drawn again and again on a terminal, now and then elsewhere."""

    def __init__(self, name, stream=sys.stderr):
        self.name, self.stream = name, stream
        self.is_terminal = stream.isatty()
        self.begun = self.shown = time.monotonic()
        self.first = None  # bytes that were there already

    def show(self, done, total, last=False):
        now = time.monotonic()
        if self.first is None:
            self.first = done
        if not last and now - self.shown < SHOWN_EVERY_S[self.is_terminal]:
            return
        self.shown = now
        rate = (done - self.first) / max(now - self.begun, 1e-3)
        text = f"{self.name}  {done / 1e6:.1f} of {total / 1e6:.1f} MB  {rate / 1e6:.1f} MB/s" if total else \
            f"{self.name}  {done / 1e6:.1f} MB  {rate / 1e6:.1f} MB/s"
        if self.is_terminal:
            filled = int(BAR_WIDTH * done / total) if total else 0
            self.stream.write(f"\r\033[K[{'#' * filled}{' ' * (BAR_WIDTH - filled)}] {text}" + ("\n" if last else ""))
        else:
            self.stream.write(text + "\n")
        self.stream.flush()


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            digest.update(block)
    return digest.hexdigest()


def request(url, start):
    """The answer to a request for what follows byte `start`, and the byte that it begins at."""
    headers = {"User-Agent": "precbench", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # nothing follows: the part is whole, or not of this file
            error.close()
            return None, start
        raise
    if answer.status != 206:
        return answer, 0  # the server sends all of it
    if not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise Failed(f"{url} answered with another range than was asked for; give another place with --from URL")
    return answer, start


def fetch(url, part):
    """Downloads into the open file `part`, behind what it holds."""
    answer, start = request(url, part.seek(0, os.SEEK_END))
    part.truncate(start)
    part.seek(start)
    if answer is None:
        return
    with answer:
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else 0
        progress = Progress(url.rsplit("/", 1)[-1])
        progress.show(start, total)
        done = start
        while block := answer.read(BLOCK):
            part.write(block)
            done += len(block)
            progress.show(done, total)
        progress.show(done, total, last=True)
    if total and done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def get_file(url, path, wanted):
    if path.exists() and sha256(path) == wanted:
        print(f"{path.name}  there already", file=sys.stderr)
        return
    part = path.with_name(path.name + ".part")
    with open(part, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"another precbench get is writing {part}; wait for it") from None
        try:
            fetch(url, file)
        except (OSError, urllib.error.URLError) as error:  # URLError is one, but says so itself
            reason = getattr(error, "reason", None) or error
            kept = part.stat().st_size
            raise Failed(f"{url} could not be fetched: {reason}\n       " +
                         (f"run it again: it goes on after {kept} bytes" if kept else
                          f"give another place with --from URL, or put the file into {path.parent} by hand")) from None
        file.flush()
        os.fsync(file.fileno())
        found = sha256(part)
        if found != wanted:
            part.unlink()
            raise Failed(f"{url} is not what was published: its SHA-256 is {found}, not {wanted}\n"
                         "       it was removed; run it again, or give another place with --from URL")
        os.replace(part, path)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="precbench get", description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=sorted(SOURCES))
    parser.add_argument("--to", type=Path, required=True, help="folder")
    parser.add_argument("--from", dest="source", help="a mirror: the URL of a folder that has the files")
    options = parser.parse_args(arguments)
    published, files = SOURCES[options.name]
    source = (options.source or published).rstrip("/")
    try:
        options.to.mkdir(parents=True, exist_ok=True)
        for name, wanted in files.items():
            get_file(f"{source}/{name}", options.to / name, wanted)
    except (Failed, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 5
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(f"{options.name} is in {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
