"""What scripts/gpu-check found, for a reader: one page of HTML, and the same as text."""

import html

from gpu_check import figures, write_whole

WORDS = {True: "ok", False: "FAILED", None: "-"}
STYLE = ("body{font:14px/1.4 sans-serif;margin:2em;max-width:75em}td,th{padding:.2em .8em;text-align:left;vertical-align:top}"
         "tr.FAILED td{background:#fdd}td:first-child{white-space:nowrap}")


def heading(document):
    card = next((check.get("device") for section in document["sections"] for check in section["checks"]
                 if check.get("device")), None)
    where = "a rehearsal on a made-up card: it says nothing of a GPU" if document["rehearsal"] else card or "unknown card"
    state = "" if document["complete"] else ", not ended"
    return f"precbench gpu-check: {where}, {document['seconds']} s{state}"


def rows(document):
    """(section, word, check, what was found)"""
    for section in document["sections"]:
        if section.get("reason"):
            yield section["section"], WORDS[section["passed"]], "", section["reason"]
        for check in section["checks"]:
            yield section["section"], WORDS[check["passed"]], check["check"], figures(check)


def text_of(document):
    lines = [heading(document), ""]
    lines += [f"{word:7}{section}: {check}  {found}".rstrip() for section, word, check, found in rows(document)]
    return "\n".join(lines) + "\n"


def page_of(document):
    title = html.escape(heading(document))
    cells = "".join(
        f'<tr class="{word if word == "FAILED" else ""}"><td>{html.escape(word)}</td><td>{html.escape(section)}</td>'
        f"<td>{html.escape(check)}</td><td>{html.escape(found)}</td></tr>\n"
        for section, word, check, found in rows(document))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
            f"<h1>{title}</h1><table><tr><th></th><th>section</th><th>check</th><th>found</th></tr>\n{cells}</table></html>\n")


def write(document, json_path):
    """Beside the JSON file; returns both paths."""
    pages = {json_path.with_suffix(".html"): page_of(document), json_path.with_suffix(".txt"): text_of(document)}
    for path, content in pages.items():
        write_whole(path, content)
    return list(pages)
