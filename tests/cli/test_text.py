"""Text from outside: one way in, one way out for each format, over the whole of Unicode and all bytes."""

import csv
import fcntl
import html.parser
import io
import json
import os
import pty
import struct
import subprocess
import termios
import unicodedata
import unittest
import xml.etree.ElementTree

from documents import published, write
from support import SOURCE, CliTest

BIDI_CONTROL = {0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
CHUNK = 2000


def noncharacter(code):
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def acts_on_a_terminal(character):
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or ord(character) in BIDI_CONTROL


def printable(text):
    """What the tool is to make of it, by Python's tables."""
    def one(character):
        if character in "\t\n\v\f\r\x85\u2028\u2029":
            return " "
        return "?" if acts_on_a_terminal(character) or noncharacter(ord(character)) else character
    return "".join(map(one, text))


def all_of_unicode():
    codes = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    return ["x" + "".join(codes[start:start + CHUNK]) + "x" for start in range(0, len(codes), CHUNK)]


def document_with_modes(names):
    document = published()
    document["modes"] = [{"mode": name, "status": "skipped", "reason": "r" + name[:80], "runs": []} for name in names]
    return document


class Cells(html.parser.HTMLParser):
    """Texts of the first cell of each table row."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.text, self.is_first = [], None, False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.is_first = True
        elif tag in ("td", "th") and self.is_first:
            self.text, self.is_first = "", False

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.text is not None:
            self.cells.append(self.text)
            self.text = None


class Unicode(CliTest):
    def test_every_format_gives_every_text_back_to_its_parser(self):
        texts = all_of_unicode()
        expected = [printable(text) for text in texts]
        path = write(self.folder, "all.json", document_with_modes(texts))
        formats = ("json", "csv", "markdown", "html", "junit")
        flags = [word for name in formats for word in ("--export-" + name, "out." + name)]
        done = self.precbench("report", path, "--format", "table", *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = {name: (self.folder / ("out." + name)).read_bytes().decode("utf-8") for name in formats}
        out["table"] = done.stdout

        for name, text in out.items():
            bad = {hex(ord(c)) for c in set(text) if c != "\n" and acts_on_a_terminal(c)}
            self.assertEqual(bad, set(), name)
        self.assertEqual([line.split("  ")[0] for line in done.stdout.split("\n")[1:3]],
                         [text.split("  ")[0].rstrip() for text in expected[:2]])
        self.assertEqual([row["mode"] for row in json.loads(out["json"])["modes"]], texts)
        rows = list(csv.DictReader(io.StringIO(out["csv"], newline="")))
        self.assertEqual([row["mode"] for row in rows], expected)
        cases = xml.etree.ElementTree.fromstring(out["junit"].encode()).iter("testcase")
        self.assertEqual([case.get("name") for case in cases], expected)
        self.assertEqual(Cells(out["html"]).cells[1:len(texts) + 1], expected)
        try:
            import markdown_it
        except ImportError:
            self.skipTest("python markdown-it-py is not installed here; scripts/test installs it")
        page = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(out["markdown"])
        self.assertEqual(Cells(page).cells[1:len(texts) + 1], expected)

    def test_markup_at_the_start_of_a_text_stays_text(self):
        starts = ["- a", "+ a", "* a", "1. a", "1) a", "# a", "> a", "    a", "=== a", "``` a", "| a", "<b> a", "&lt; a",
                  "[a](b)", "![a](b)", "~~a~~", "$a$", "\\a", "__a__", "=1+1", " =1", "\t+1", "\u3000@a", "\uff1d1", "'a"]
        path = write(self.folder, "marks.json", document_with_modes(starts))
        done = self.precbench("report", path, "--format", "csv", "--export-markdown", "out.md")
        for row, text in zip(csv.DictReader(io.StringIO(done.stdout, newline="")), starts):
            first = row["mode"].strip().lstrip("\u3000")[0]
            self.assertNotIn(first, "=+-@\uff1d", text)
            self.assertEqual(row["mode"].removeprefix("'") if text != "'a" else row["mode"], printable(text))
        try:
            import markdown_it
        except ImportError:
            self.skipTest("python markdown-it-py is not installed here; scripts/test installs it")
        page = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(
            (self.folder / "out.md").read_text())
        self.assertEqual(Cells(page).cells[1:len(starts) + 1], [printable(text).strip() for text in starts])
        for tag in ("<ol", "<pre", "<blockquote", "<img", "<a ", "<h1", "<h2", "<s>", "<b>"):
            self.assertNotIn(tag, page)

    def test_json_on_a_terminal_reorders_nothing_and_reads_back(self):
        document = published()
        document["environment"]["device"]["name"] = "GPU \u202egnp.exe \x9b31m \x7f \u2066"
        done = self.precbench("report", write(self.folder, "bidi.json", document), "--format", "json")
        self.assertFalse([c for c in done.stdout if c != "\n" and acts_on_a_terminal(c)])
        self.assertEqual(json.loads(done.stdout)["environment"], document["environment"])


class Bytes(CliTest):
    def run_bytes(self, *arguments, script=None, **extra):
        environment = {os.fsencode(name): os.fsencode(value) for name, value in self.environment(script).items()}
        environment.update({os.fsencode(name): value for name, value in extra.items()})
        done = subprocess.run([os.fsencode(word) for word in self.command(*arguments)], env=environment, cwd=self.folder,
                              capture_output=True, timeout=60, check=False)
        for stream in (done.stdout, done.stderr):
            text = stream.decode("utf-8")
            self.assertFalse([c for c in text if c != "\n" and acts_on_a_terminal(c)], text)
        return done

    def test_a_name_that_is_not_utf8_is_refused_or_works_and_never_a_crash(self):
        name = os.fsdecode(b"caf\xe9\x1b[31m")
        for arguments in (["--dataset", name + ".pt"], ["--model", name + ".pt"], ["--config", name], ["--data-dir", name],
                          ["--results-dir", name], ["--resume", name], ["--context", "k=" + name], ["--modes", name],
                          ["--export-json", name], [name], ["--" + name], ["list", name],
                          ["report", name], ["compare", name, name], ["matrix", name, "--metric", name],
                          ["predict", "--gpu", name], ["predict", "--gpu", "t4", "--model", name + ".pt"]):
            with self.subTest(arguments=arguments):
                done = self.run_bytes(*arguments)
                self.assertIn(done.returncode, (2, 5), done.stderr)
                self.assertTrue(done.stderr.startswith(b"error: "), done.stderr)
        self.assertIn(b"is not UTF-8", self.run_bytes("--dataset", name + ".pt").stderr)
        self.assertIn(b"PRECBENCH_MODEL", self.run_bytes("--dry-run", PRECBENCH_MODEL=b"\xe9.pt").stderr)

    def test_a_result_file_whose_name_is_not_utf8_is_read(self):
        name = os.fsdecode(b"caf\xe9.json")
        (self.folder / name).write_text(json.dumps(published()))
        for arguments in (["report", name], ["compare", name, name, "--format", "json"], ["matrix", name, name],
                          ["matrix", name, "--format", "json"], ["report", name, "--export-json", os.fsdecode(b"\xe9.out")]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_bytes(*arguments).returncode, 0)

    def test_a_folder_of_the_cache_that_is_not_utf8(self):
        (self.folder / os.fsdecode(b"\xe9")).mkdir()
        done = self.run_bytes("--modes", "32-true", "--pilot", "0", XDG_CACHE_HOME=os.fsencode(self.folder) + b"/\xe9",
                              HOME=os.fsencode(self.folder) + b"/\xe9", PRECBENCH_DATASET=b"synthetic")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_whatever_a_worker_says_is_safe(self):
        for behaviour in ("bytes", "bytes-and-failure"):
            done = self.run_bytes("--dataset", "synthetic", "--modes", "32-true", "--pilot", "0", "-v", "--format", "json",
                                  "--export-junit", "out.xml", "--export-html", "out.html", script={"32-true": behaviour})
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(b"32-true: ", done.stderr)
            self.assertEqual(json.loads(done.stdout)["modes"][0]["status"], "error")
            xml.etree.ElementTree.parse(self.folder / "out.xml")


class Terminal(CliTest):
    """Tables in terminals of several widths, as an emulator would show them."""

    def on_terminal(self, columns, *arguments, **extra):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(self.command(*arguments), env={**self.environment(), "TERM": "xterm", **extra},
                                   cwd=self.folder, stdout=follower, stderr=follower, stdin=subprocess.DEVNULL)
        os.close(follower)
        written = b""
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            written += chunk
        os.close(leader)
        self.assertEqual(process.wait(), 0, written)
        return written.decode().replace("\r\n", "\n")

    def japanese(self):
        document = published()
        document["environment"]["device"]["name"] = "日本語カード"
        document["modes"][1]["reason"] = None
        return write(self.folder, "japanese.json", document)

    @staticmethod
    def width(line):
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)

    def test_no_line_is_wider_than_the_terminal_and_words_stay_whole(self):
        first, second = write(self.folder, "first.json", published()), self.japanese()
        for columns in (60, 80, 100, 200):
            for arguments in (["report", second, "--format", "table"], ["matrix", first, second], ["compare", first, first]):
                text = self.on_terminal(columns, *arguments, NO_COLOR="1")
                self.assertNotIn("\x1b", text)
                for line in text.split("\n"):
                    self.assertLessEqual(self.width(line), columns, line)
                self.assertIn("32-true", text)

    def test_golden_table_of_60_columns(self):
        text = self.on_terminal(60, "report", self.japanese(), "--format", "table", NO_COLOR="1")
        self.assertEqual(text.split("\n")[:10], [
            "mode        test acc  vs 32-true  train acc  time",
            "16-mixed    46.15 %   -1.22 pp ?  38.87 %    16m 28s",
            "bf16-mixed  46.14 %   -1.23 pp ?  42.05 %    83m 12s",
            "32-true     47.37 %   ref         40.74 %    61m 32s",
            "",
            "mode        speed         peak MiB  vs 32-true  notes",
            "16-mixed    3.74x faster  5603      -36 %",
            "bf16-mixed  1.35x slower  7415      -16 %       emulated",
            "32-true     ref           8806      ref",
            "? one seed: differences under 2 points say nothing; use"])

    def test_golden_matrix_of_wide_names(self):
        text = self.on_terminal(80, "matrix", write(self.folder, "first.json", published()), self.japanese(), NO_COLOR="1")
        lines = text.split("\n")
        begin = lines.index("total time")
        starts = {self.width(line[:line.index("  ")]) + len(line[line.index("  "):]) - len(line[line.index("  "):].lstrip())
                  for line in lines[begin + 1:begin + 4]}
        self.assertEqual(len(starts), 1, lines)

    def test_a_wide_terminal_shows_what_a_file_gets(self):
        path = self.japanese()
        self.assertEqual(self.on_terminal(200, "report", path, NO_COLOR="1"), self.precbench("report", path).stdout)

    def test_colours_unless_told_otherwise(self):
        path = self.japanese()
        self.assertIn("\x1b[1m", self.on_terminal(80, "report", path))
        self.assertNotIn("\x1b", self.on_terminal(80, "report", path, TERM="dumb"))

    def test_errors_are_wrapped_at_words(self):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        subprocess.run(self.command("--modes", "16-mixd"), env=self.environment(), stderr=follower,
                       stdout=subprocess.DEVNULL, check=False)
        os.close(follower)
        text = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertTrue(all(len(line) <= 60 for line in text.split("\r\n")), text)
        self.assertIn("         '16-mixed'?", text.split("\r\n"))


if __name__ == "__main__":
    unittest.main()
