#!/usr/bin/python3
"""Opens the page of a fleet in headless Chromium: nothing fails, and nothing is cut.

    fleet_page_test.py LOCKSTEP FLEET_MAKE WORK_DIRECTORY [PICTURES]

At 1280 and at 390 pixels, light and dark, folded and unfolded: a fleet with faults, one without, and
one whose names and values are hostile. Then the first one with each fault of a page, which must be
found. PICTURES: a folder for screenshots, to look at. Exits 0 when all is well, 1 when not, 77 when
there is no Chromium.
"""
import base64
import json
import pathlib
import shutil
import subprocess
import sys

from browser_test import MEASURE, WIDTHS, Browser, contrast

# Below a screen's width tables are cards, and nothing need be scrolled.
BOXES = """[...document.querySelectorAll('.cards .scroll')].filter(
  b => b.scrollWidth > b.clientWidth + 1).map(b => b.textContent.trim().slice(0, 60))"""
UNFOLD = "for (const d of document.querySelectorAll('details')) d.open = true"
FAULTS = (
    ("</main>", '<p style="width: 2000px">wide</p></main>', "sideways"),
    ("</main>", "<script>none()</script></main>", "error:"),
    ("</h1>", "</h1><style>.cards table { min-width: 1500px; }</style>", "must be scrolled"),
    ("@media screen and (prefers-color-scheme: dark)", "@media none", "on paper"),
)


def look(browser, path, width, dark, picture=None):
    """What is wrong with the page at that width, in words."""
    browser.open(path, width, dark)
    wrong = [f"error: {text}" for text in browser.errors()]
    if picture:
        shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        picture.write_bytes(base64.b64decode(shot))
    for state in ("folded", "unfolded"):
        found = browser.run(MEASURE)
        if found["sideways"] > 0:
            wrong.append(f"scrolls sideways by {found['sideways']} pixels, {state}")
        wrong += [f"cut, {state}: {text}" for text in found["cut"]]
        wrong += [f"must be scrolled, {state}: {text}" for text in browser.run(BOXES)]
        browser.run(UNFOLD)
    if contrast(found["ink"], found["paper"]) < 7 or (found["paper"] < found["ink"]) != dark:
        wrong.append(f"ink {found['ink']:.3f} on paper {found['paper']:.3f}")
    return [f"{path.parent.name}, {width} pixels, {'dark' if dark else 'light'}: {text}"
            for text in wrong]


def fleets(lockstep, make, work):
    """A page of each fleet."""
    faults = "reject slow torn missing driver one_device profile not_shown".split()
    for name, nodes, planted in (("faults", "256", faults), ("well", "16", []),
                                 ("hostile", "8", [])):
        subprocess.run([sys.executable, "-B", make, work / ("in-" + name), nodes, "1", *planted],
                       check=True, stdout=subprocess.DEVNULL)
    for number, words in ((1, "<script>none()</script>"), (2, '"><img src="x"/>'),
                          (3, "W" * 250), (4, "\u202e&amp;\x1b[2J")):
        path = work / f"in-hostile/node000{number}.json"
        node = json.loads(path.read_text())
        node["software"]["kernel"] = node["node"] = words
        path.write_text(json.dumps(node))
    for name in ("faults", "well", "hostile"):
        (work / name).mkdir()
        subprocess.run([lockstep, "fleet", work / ("in-" + name), "--out", work / name],
                       check=False, stdout=subprocess.DEVNULL)
        yield work / name / "index.html"


def main():
    lockstep, make, work = sys.argv[1:4]
    pictures = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
        "google-chrome")
    if not program:
        print("skipped: chromium is not installed", file=sys.stderr)
        return 77
    out = pathlib.Path(work)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    wrong, missed = [], []
    browser = Browser(program, out / "profile")
    try:
        for page in fleets(lockstep, make, out):
            for width in WIDTHS:
                for dark in (False, True):
                    picture = pictures and pictures / (
                        f"{page.parent.name}-{width}-{'dark' if dark else 'light'}.png")
                    wrong += look(browser, page, width, dark, picture)
        text = (out / "faults/index.html").read_text(encoding="utf-8")
        for i, (old, new, word) in enumerate(FAULTS):
            path = out / f"fault-{i}.html"
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
            said = [t for dark in (False, True) for t in look(browser, path, WIDTHS[1], dark)]
            if not any(word in t for t in said):
                missed.append(new)
    finally:
        browser.close()
    for text in wrong:
        print(f"FAILED: {text}", file=sys.stderr)
    for text in missed:
        print(f"FAILED: a fault is not found: {text}", file=sys.stderr)
    print(f"three pages; {len(FAULTS) - len(missed)} of {len(FAULTS)} faults are found")
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
