"""`precbench matrix`: many machines' results, through the real binary."""

import csv
import io
import json
import unittest
from html.parser import HTMLParser

from documents import PUBLISHED, published, write
from support import SOURCE, CliTest


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


class MatrixTest(CliTest):
    def matrix(self, *arguments):
        return self.precbench("matrix", *arguments)

    def test_the_published_figures_stand_beside_a_local_run_in_a_table_of_their_own(self):
        self.compare_modes(script={})
        local = next((self.folder / "results").glob("*.json"))
        done = self.matrix(PUBLISHED, local, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        groups = json.loads(done.stdout)
        self.assertEqual(len(groups), 2)
        self.assertEqual(groups[0]["machines"][0]["machine"], "Tesla T4")
        self.assertEqual(groups[0]["machines"][0]["recommended"], "16-mixed")

    def test_two_machines_share_a_table(self):
        other = published()
        other["environment"]["device"]["name"] = "Tesla P100"
        done = self.matrix(PUBLISHED, write(self.folder, "p100.json", other), "--metric", "time")
        self.assertRegex(done.stdout, r"Tesla T4 +61m 32s +16m 28s \* +83m 12s e")
        self.assertRegex(done.stdout, r"Tesla P100 +61m 32s +16m 28s \*")
        self.assertEqual(done.stdout.count("total time"), 1)

    def test_csv_is_one_line_per_machine_mode_and_metric(self):
        rows = list(csv.DictReader(io.StringIO(self.matrix(PUBLISHED, "--format", "csv").stdout)))
        self.assertEqual(len(rows), 3 * 3)
        self.assertEqual((rows[0]["mode"], rows[0]["metric"], float(rows[0]["mean"])), ("16-mixed", "time", 987.84))

    def test_metrics_are_a_list_or_stand_several_times(self):
        for arguments in (("--metric", "time,memory"), ("--metric", "time", "--metric", "memory")):
            done = self.matrix(PUBLISHED, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("total time", done.stdout)
            self.assertIn("peak memory", done.stdout)
            self.assertNotIn("test accuracy", done.stdout)

    def test_marks_are_in_csv_and_json(self):
        busy = published()
        busy["modes"][0]["marks"].append({"id": "busy", "why": "others"})
        path = write(self.folder, "busy.json", busy)
        rows = list(csv.DictReader(io.StringIO(self.matrix(path, "--format", "csv").stdout)))
        self.assertIn("busy", rows[0]["marks"].split())
        machines = json.loads(self.matrix(path, "--format", "json").stdout)[0]["machines"]
        self.assertIn("busy", machines[0]["modes"]["16-mixed"]["marks"])

    def test_an_unknown_metric_is_a_usage_error(self):
        done = self.matrix(PUBLISHED, "--metric", "speed")
        self.assertEqual(done.returncode, 2)
        self.assertIn("metrics: time step_time memory", done.stderr)

    def test_a_page_for_the_browser(self):
        other = published()
        other["environment"]["device"]["name"] = "Tesla <b>P100</b>"
        page = self.folder / "matrix.html"
        done = self.matrix(PUBLISHED, write(self.folder, "p100.json", other), "--format", "none", "--export-html", page)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        cells = Cells()
        cells.feed(page.read_text())
        self.assertIn("Tesla <b>P100</b>", cells.texts)
        self.assertIn("16m 28s *", cells.texts)
        self.assertEqual(cells.tags.count("table"), 3)
        self.assertNotIn("script", cells.tags)

    def test_standard_output_takes_one_result(self):
        for command in (("matrix", PUBLISHED), ("compare", PUBLISHED, PUBLISHED), ("report", PUBLISHED)):
            done = self.precbench(*command, "--export-json", "-")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--format none", done.stderr)
            done = self.precbench(*command, "--format", "none", "--export-json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            json.loads(done.stdout)

    def test_a_bad_file_is_named(self):
        done = self.matrix(PUBLISHED, self.folder / "none.json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("none.json", done.stderr)

    def test_the_readme_of_the_results_is_this_command(self):
        files = sorted((SOURCE / "results" / "reference").glob("*.json"))
        made = self.matrix(*files, "--format", "markdown").stdout
        self.assertTrue((SOURCE / "results" / "README.md").read_text().endswith(made),
                        "results/README.md is out of date: make it again with the command that it names")


if __name__ == "__main__":
    unittest.main()
