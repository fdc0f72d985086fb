"""`precbench report`: saved results in every format, through the real binary."""

import csv
import io
import json
import subprocess
import unittest
import xml.etree.ElementTree

from documents import PUBLISHED, published, with_times, write
from support import SOURCE, CliTest

HOSTILE = SOURCE / "tests" / "cases" / "hostile"

BLOCKS = """\
===== 16-mixed =====
Seed set to 42
Train Acc: 38.87%
Test Acc : 46.15%
Time     : 987.84s
Memory   : 5603.31 MB

===== bf16-mixed =====
Seed set to 42
Train Acc: 42.05%
Test Acc : 46.14%
Time     : 4992.44s
Memory   : 7415.20 MB

===== 32-true =====
Seed set to 42
Train Acc: 40.74%
Test Acc : 47.37%
Time     : 3692.28s
Memory   : 8805.79 MB
"""


class ReportTest(CliTest):
    def report(self, *arguments, **keywords):
        return self.precbench("report", *arguments, **keywords)

    def test_prints_the_published_blocks(self):
        done = self.report(PUBLISHED, "--format", "report")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, BLOCKS, ""))

    def test_text_is_the_blocks_then_the_table(self):
        done = self.report(PUBLISHED)
        self.assertTrue(done.stdout.startswith(BLOCKS))
        self.assertIn("Use 16-mixed here: 3.7 times faster than 32-true, 36 % less memory (one run each).", done.stdout)

    def test_json_is_a_result_file_again(self):
        done = self.report(PUBLISHED, "--format", "json")
        again = write(self.folder, "again.json", json.loads(done.stdout))
        self.assertEqual(self.report(again, "--format", "json").stdout, done.stdout)

    def test_csv_has_one_row_per_mode(self):
        rows = list(csv.DictReader(io.StringIO(self.report(PUBLISHED, "--format", "csv").stdout)))
        self.assertEqual([row["mode"] for row in rows], ["16-mixed", "bf16-mixed", "32-true"])
        self.assertEqual(float(rows[0]["time_s"]), 987.84)

    def test_ascii_where_the_locale_is_not_utf8(self):
        document = published()
        document["modes"][0]["runs"].append(dict(document["modes"][0]["runs"][0], repeat=1))
        path = write(self.folder, "repeats.json", document)
        # support.py's environment has LC_ALL=C.UTF-8
        self.assertIn("±", self.report(path).stdout)
        environment = self.environment()
        environment.update(LC_ALL="C")
        done = subprocess.run(self.command("report", path), env=environment, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        done.stdout.decode("ascii")

    def test_exports_write_whole_files(self):
        targets = {name: self.folder / f"out.{name}" for name in ("json", "csv", "markdown", "junit", "github")}
        flags = [word for name, path in targets.items() for word in (f"--export-{name}", path)]
        done = self.report(PUBLISHED, "--format", "none", *flags)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(json.loads(targets["json"].read_text())["schema_version"], "1.0.0")
        root = xml.etree.ElementTree.parse(targets["junit"]).getroot()
        self.assertEqual(len(root.findall("testsuite/testcase")), 3)
        self.assertIn("| 16-mixed | 46.15 %", targets["markdown"].read_text())
        self.assertIn("| 16-mixed | 46.15 %", targets["github"].read_text())

    def test_junit_tells_repeats_apart(self):
        document = with_times(published(), "32-true", [9.0, 9.5])
        done = self.report(write(self.folder, "two.json", document), "--format", "none", "--export-junit", "out.xml")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "out.xml").read_text()
        self.assertIn("===== 32-true, repeat 1 =====", text)
        self.assertIn("===== 32-true, repeat 2 =====", text)
        self.assertIn("===== 16-mixed =====", text)

    def test_junit_has_the_shape_that_readers_expect(self):
        """testsuites > testsuite > testcase > failure | skipped, system-out; the counts are those of the cases."""
        document = published()
        document["modes"][0].update(status="oom", reason="no memory", runs=[])
        document["modes"][1].update(status="unsupported", reason="needs Ampere", runs=[])
        self.report(write(self.folder, "odd.json", document), "--format", "none", "--export-junit", "out.xml")
        root = xml.etree.ElementTree.parse(self.folder / "out.xml").getroot()
        self.assertEqual((root.tag, {child.tag for child in root}), ("testsuites", {"testsuite"}))
        for suite in root:
            cases = suite.findall("testcase")
            self.assertEqual(len(cases), len(list(suite)))
            for name, tag in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
                self.assertEqual(int(suite.get(name)), sum(case.find(tag) is not None for case in cases), name)
            self.assertEqual(int(suite.get("tests")), len(cases))
            float(suite.get("time"))
            for case in cases:
                self.assertTrue(case.get("name") and case.get("classname"))
                float(case.get("time"))
                self.assertLessEqual({child.tag for child in case}, {"failure", "skipped", "system-out"})
                for child in case.iter("failure"):
                    self.assertTrue(child.get("message"))
        outcomes = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
        self.assertEqual(outcomes["16-mixed"], ["failure"])
        self.assertEqual(outcomes["bf16-mixed"], ["skipped"])

    def test_an_export_that_cannot_be_written_is_a_file_error(self):
        done = self.report(PUBLISHED, "--export-csv", "/nowhere/out.csv")
        self.assertEqual(done.returncode, 5)
        self.assertIn("/nowhere/out.csv", done.stderr)

    def test_a_full_disk_is_not_success(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.command("report", PUBLISHED), env=self.environment(), stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn("standard output", done.stderr)

    def test_a_folder_stands_for_its_results(self):
        write(self.folder, "b.json", published())
        write(self.folder, "a.json", published())
        (self.folder / "notes.txt").write_text("no result")
        self.assertEqual(self.report(".", "--format", "report").stdout, BLOCKS + "\n" + BLOCKS)
        (self.folder / "empty").mkdir()
        done = self.report("empty")
        self.assertEqual(done.returncode, 5)
        self.assertIn("without result files", done.stderr)

    def test_several_files(self):
        done = self.report(PUBLISHED, PUBLISHED, "--format", "report")
        self.assertEqual(done.stdout, BLOCKS + "\n" + BLOCKS)

    def test_hostile_files_give_one_line_or_plain_text(self):
        for path in sorted(HOSTILE.iterdir()):
            for name in ("text", "markdown", "csv"):
                with self.subTest(file=path.name, format=name):
                    done = self.report(path, "--format", name)
                    self.assertIn(done.returncode, (0, 5))
                    self.assertNotIn("\x1b", done.stdout + done.stderr)
                    if done.returncode == 5:
                        self.assertEqual(done.stdout, "")
                        self.assertRegex(done.stderr, rf"\Aerror: [^\n]*{path.name}[^\n]*\n\Z")

    def test_a_later_minor_version_loads(self):
        document = published()
        document["schema_version"] = "1.9.0"
        document["modes"][0]["brand_new"] = {"x": 1}
        self.assertEqual(self.report(write(self.folder, "minor.json", document)).returncode, 0)

    def test_a_later_major_version_is_refused(self):
        document = published()
        document["schema_version"] = "2.0.0"
        done = self.report(write(self.folder, "major.json", document))
        self.assertEqual(done.returncode, 5)
        self.assertIn("schema version 2.0.0", done.stderr)


class HelpTest(CliTest):
    def test_the_reading_commands_have_help(self):
        for command in ("report", "compare", "matrix"):
            done = self.precbench(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn("--format", done.stdout)


class SchemaTest(CliTest):
    def test_what_is_shipped_and_what_is_written_is_valid(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python jsonschema is not installed here; scripts/test installs it")
        schema = json.loads((SOURCE / "schema" / "result.schema.json").read_text())
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(published())
        done = self.precbench("report", PUBLISHED, "--format", "json")
        validator.validate(json.loads(done.stdout))
        self.compare_modes("--seeds", "1,2", "--repeats", "2", script={})
        validator.validate(self.result())


if __name__ == "__main__":
    unittest.main()
