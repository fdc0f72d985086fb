"""The HTML report: one offline page in which nothing from a file can become markup or script."""

import html.parser
import json
import math
import re
import shutil
import subprocess
import unittest

from documents import published, write
from support import SOURCE, CliTest

HOSTILE = "</script><img src=x onerror=alert(1)>"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Elements(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]


def hostile_everywhere(value):
    """Every text of a result file replaced, but for those that a loader checks."""
    kept = {"schema_version", "status", "role"}
    if isinstance(value, dict):
        return {key: inner if key in kept else hostile_everywhere(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hostile_everywhere(inner) for inner in value]
    return HOSTILE if isinstance(value, str) else value


def with_samples(document, steps):
    for row in document["modes"]:
        for run in row["runs"]:
            run["loss_trace"] = [2.3 / (1 + step / 100) + 1e-9 * step for step in range(steps)]
            run["time"]["step_ms"]["samples"] = [10.123456789 + step % 7 for step in range(steps)]
            run["epochs"] = [{"epoch": 1, "test_accuracy": 0.5}, {"epoch": 2, "test_accuracy": 0.6}]
    return document


class PageTest(CliTest):
    def page(self, document, name="page.html"):
        target = self.folder / name
        done = self.precbench("report", write(self.folder, "result.json", document), "--format", "none",
                              "--export-html", target)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return target

    def hostile_page(self):
        document = with_samples(hostile_everywhere(published()), 50)
        for index, row in enumerate(document["modes"]):
            row["mode"] = f"{index}{HOSTILE}"
            row["support"]["verdict"] = "native"  # one of four words, or the file is refused
        return self.page(document)


class HtmlTest(PageTest):
    def test_the_verdict_comes_first(self):
        text = self.page(published()).read_text()
        first = re.search(r"<main>\s*<h1>([^<]*)</h1>", text)
        self.assertIsNotNone(first)
        self.assertTrue(first[1].startswith("Use 16-mixed here: 3.7 times faster"))

    def test_is_under_600_kb_even_with_long_traces(self):
        self.assertLess(self.page(with_samples(published(), 469)).stat().st_size, 600_000)
        page = self.page(with_samples(published(), 10_000))
        self.assertLess(page.stat().st_size, 600_000)
        self.assertIn("left out of the page", page.read_text())

    def test_makes_no_request(self):
        elements = Elements(self.page(with_samples(published(), 50)).read_text())
        for _, name, value in elements.attributes:
            self.assertNotIn(name, ("src", "href", "srcset", "style", "onclick"), value)
        policy = [value for tag, name, value in elements.attributes if tag == "meta" and name == "content"][0]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)

    def test_texts_stay_texts(self):
        page = self.hostile_page().read_text()
        self.assertNotIn("<img", page)
        self.assertIn("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;", page)
        self.assertNotIn("img", Elements(page).tags)
        data = re.search(r'<script type="application/json" id="result">(.*?)</script>', page, re.S)
        self.assertEqual(json.loads(data[1])["environment"]["device"]["name"], HOSTILE)

    def test_the_hostile_cases_give_pages(self):
        for name in ("script-strings", "ansi-escapes", "markdown-breaker", "csv-formula", "bom"):
            target = self.folder / f"{name}.html"
            done = self.precbench("report", SOURCE / "tests" / "cases" / "hostile" / f"{name}.json",
                                  "--format", "none", "--export-html", target)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("<img", target.read_text())
            self.assertNotIn("\x1b", target.read_text())

    def test_on_a_phone_every_cell_says_what_it_is(self):
        cells = [value for tag, name, value in Elements(self.page(published()).read_text()).attributes
                 if tag == "td" and name == "data-label"]
        self.assertEqual(cells[:8], ["test acc", "vs 32-true", "train acc", "time", "speed", "peak MiB", "vs 32-true", "notes"])

    def test_what_the_gpu_did_has_a_table_where_it_is_known(self):
        document = published()
        self.assertNotIn("The GPU meanwhile", self.page(document).read_text())
        document["modes"][0]["runs"][0]["energy"] = {
            "energy_j": 61240.0, "mean_power_w": 62.0, "temperature_c": {"min": 40, "mean": 71.4, "max": 78},
            "sm_clock_mhz": {"min": 585, "mean": 930.0, "max": 1590}, "clock_reasons": {HOSTILE: 0.97}}
        page = self.page(document).read_text()
        section = page[page.index("The GPU meanwhile"):]
        for text in ("61240 J", "62 W", "71 °C", "930 MHz", "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; 97 %"):
            self.assertIn(text, section)

    def test_every_chart_has_words(self):
        elements = Elements(self.page(with_samples(published(), 50)).read_text())
        labels = [value for tag, name, value in elements.attributes if tag == "canvas" and name == "aria-label"]
        if "canvas" not in elements.tags:
            self.skipTest("built without Chart.js")
        self.assertEqual(len(labels), 5)
        self.assertIn("16-mixed 16m 28s; bf16-mixed 83m 12s", labels[0])
        self.assertIn("16-mixed = bf16-mixed = 32-true from 2.3 to", labels[1])  # one curve, not two hidden ones

    def test_accuracy_over_time_has_a_band_of_the_runs_and_the_target(self):
        document = with_samples(published(), 50)
        document["protocol"]["target_accuracy"] = 0.55
        for row in document["modes"]:
            first = row["runs"][0]
            row["runs"] = [{**first, "seed": 42 + i, "epochs": [
                {"epoch": 1, "test_accuracy": 0.4 + i / 10, "train_s": 2.0 + i, "eval_s": 1.0},
                {"epoch": 2, "test_accuracy": 0.6, "train_s": 3.0, "eval_s": 1.0}][:2]} for i in range(3)]
        row["runs"][1]["epochs"].pop()  # of the last mode
        text = self.page(document).read_text()
        block = re.search(r'<script type="application/json" id="charts">(.*?)</script>', text)
        if not block:
            self.skipTest("built without Chart.js")
        progress = json.loads(block[1])["progress"]
        self.assertAlmostEqual(progress["target"], 55)
        first, last = progress["series"][0], progress["series"][-1]
        for key, percents in (("points", (50, 60)), ("low", (40, 60)), ("high", (60, 60))):
            for (seconds, percent), when, wanted in zip(first[key], (4, 8), percents, strict=True):
                self.assertAlmostEqual(seconds, when)
                self.assertAlmostEqual(percent, wanted)
        self.assertEqual(len(last["points"]), 1)  # only as far as all of its runs came
        self.assertIn("the target is 55 %", text)

        del document["protocol"]["target_accuracy"]
        document["protocol"]["target_perplexity"] = 9.5
        for row in document["modes"]:
            for run in row["runs"]:
                for epoch in run["epochs"]:
                    epoch["test_loss"] = 2.0 + run["seed"] / 100 - epoch["epoch"] / 10
        text = self.page(document).read_text()
        progress = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])["progress"]
        self.assertEqual((progress["target"], progress["unit"]), (9.5, "test perplexity"))
        for key, seed in (("low", 42), ("high", 44)):
            self.assertAlmostEqual(progress["series"][0][key][1][1], math.exp(1.8 + seed / 100))
        self.assertIn("the target is perplexity 9.5", text)

    def test_what_says_nothing_is_not_shown(self):
        page = self.page(published()).read_text()
        self.assertNotIn("As observed", page)  # nobody observed a published run
        document = with_samples(published(), 50)
        for row in document["modes"]:
            del row["runs"][0]["epochs"][1:]
        labels = [value for tag, name, value in Elements(self.page(document).read_text()).attributes
                  if name == "aria-label"]
        self.assertFalse([label for label in labels if "per epoch" in label])  # one dot is no chart


@unittest.skipUnless(CHROMIUM, "needs Chromium")
class ChromiumTest(PageTest):
    def browse(self, page, *flags):
        return subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
             f"--user-data-dir={self.folder / 'profile'}", *flags, page.as_uri()],
            capture_output=True, text=True, timeout=120, check=False)

    def test_runs_without_a_console_error(self):
        for page in (self.page(with_samples(published(), 200)), self.hostile_page()):
            done = self.browse(page)
            self.assertNotIn("CONSOLE", done.stderr)
            self.assertIn("</html>", done.stdout)
            self.assertNotIn("<img", done.stdout)
            # Chart.js gives a canvas its size once it has drawn.
            self.assertRegex(done.stdout, r"<canvas data-chart=\"loss\"[^>]*width=\"\d+\"")


if __name__ == "__main__":
    unittest.main()
