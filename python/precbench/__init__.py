"""precbench in a notebook: it runs the command and reads the JSON that it prints, nothing else.

    import precbench
    r = precbench.run(modes=["16-mixed", "32-true"], config="quick", seed=42)
    r                # the HTML report, in a notebook
    r.table()        # the table, as the command prints it
    r.to_pandas()    # one row for each run
"""

import html
import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from ._command import PROGRAM, environment

__all__ = ["Error", "Result", "run"]

_REPEATABLE = ("fail_on", "context")  # may stand several times; any other list is one word with commas
_FRAME_HEIGHT = 900  # pixels of the report in a notebook


class Error(RuntimeError):
    """The command found no answer; `code` is its exit code (docs/ARCHITECTURE.md), the text what it said."""

    def __init__(self, code, text):
        super().__init__(text.strip() or f"precbench ended with code {code}")
        self.code = code


class Text(str):
    """Shown as it is at the end of a cell, not as a quoted string."""

    __slots__ = ()
    __repr__ = str.__str__


def run(**options):
    """Runs a comparison and returns its Result.

    The options are the command's (`precbench --help-all`), with '_' for '-': modes=["16-mixed", "32-true"],
    batch_size=64, nesterov=True. Progress goes to standard error. Raises Error where nothing could be measured.
    """
    code, out, err = _call(arguments(options) + ["--format", "json"], show=True)
    try:
        return Result(json.loads(out), code)
    except json.JSONDecodeError:
        raise Error(code, err) from None


def arguments(options):
    """The command's words for keyword arguments."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)) and name in _REPEATABLE:
            words += [word for item in value for word in (flag, str(item))]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag, str(value)]
    return words


class Result:
    """A result file in memory. `document` is what it holds (docs/result-file.md), `exit_code` the command's."""

    def __init__(self, document, exit_code=0):
        self.document = document
        self.exit_code = exit_code

    def table(self):
        return Text(self._report("--format", "table"))

    def to_pandas(self):
        """One row for each run; the columns are the paths of the figures in it, as time.total_s."""
        import pandas

        rows = [{"mode": mode["mode"], "verdict": (mode.get("support") or {}).get("verdict"), **run}
                for mode in self.document["modes"] for run in mode.get("runs") or []]
        table = pandas.json_normalize(rows)
        lists = [name for name in table.columns if table[name].map(lambda value: isinstance(value, list)).any()]
        return table.drop(columns=lists)

    def save(self, path):
        Path(path).write_text(json.dumps(self.document, indent=1) + "\n", encoding="utf-8")

    def __repr__(self):
        return str(self.table())

    def _repr_html_(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            self._report("--format", "none", "--export-html", str(page))
            text = page.read_text(encoding="utf-8")
        # A frame keeps the page's style and script away from the notebook's.
        return (f'<iframe srcdoc="{html.escape(text)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{_FRAME_HEIGHT}px;border:0"></iframe>')

    def _report(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result.json"
            self.save(path)
            code, out, err = _call(["report", str(path), *options])
        if code != 0:
            raise Error(code, err)
        return out


def _call(words, show=False):
    """Exit code, standard output and standard error; `show` writes the latter on as it comes."""
    with subprocess.Popen([str(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(), text=True, encoding="utf-8",
                          errors="replace") as process:
        told = []

        def listen():
            for line in process.stderr:
                told.append(line)
                if show:
                    sys.stderr.write(line)
                    sys.stderr.flush()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            out = process.stdout.read()
        except KeyboardInterrupt:  # it ends its worker and keeps what is finished
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            raise
        finally:
            listener.join()
        return process.wait(), out, "".join(told)
