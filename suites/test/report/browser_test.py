#!/usr/bin/python3
"""Opens a page in headless Chromium: nothing fails, nothing is cut, and it is as short as it says.

    browser_test.py LOCKSTEP RECORDS PEER WORK_DIRECTORY

At 1280 and at 390 pixels, light and dark, folded and unfolded, and as PDF. Then the same with a
page that has each fault, which must be found. Exits 0 when all is well, 1 when not, 77 when there
is no Chromium or no gnuplot. It speaks the DevTools protocol over pipes; nothing else is needed.
"""
import base64
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import time

WIDTHS = (1280, 390)
MOST_PIXELS, MOST_PAGES, MOST_SECONDS = 7000, 8, 60

# Parts that are beyond the window, or beyond their picture. Only folded tables may scroll in a
# separate box. The unit is a pixel of the page.
MEASURE = """(() => {
  const cut = [], root = document.documentElement;
  const shown = e => e.checkVisibility() && e.getClientRects().length > 0;
  for (const e of document.querySelectorAll('main *')) {
    if (e.closest('svg') || !shown(e) || e.closest('.scroll')) continue;
    const r = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (r.right > root.clientWidth + 1 || r.left < -1)
      cut.push(e.tagName + ' beyond the page: ' + e.textContent.slice(0, 40));
    if (style.overflowX !== 'visible' && style.clipPath === 'none' && e.scrollWidth > e.clientWidth + 1)
      cut.push(e.tagName + ' clipped: ' + e.textContent.slice(0, 40));
  }
  for (const box of document.querySelectorAll('#answers .scroll, figure .scroll'))
    if (shown(box) && box.scrollWidth > box.clientWidth + 1)
      cut.push('must be scrolled: ' + box.textContent.trim().slice(0, 40));
  for (const t of document.querySelectorAll('svg text')) {
    if (!shown(t) || !t.textContent.trim()) continue;
    const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
    if (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 1 || r.bottom > s.bottom + 1)
      cut.push(t.closest('.drawing').getAttribute('aria-label').split(';')[0] + ': ' + t.textContent);
  }
  const light = c => {
    const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.body);
  return {cut, height: root.scrollHeight, sideways: root.scrollWidth - root.clientWidth,
          paper: light(style.backgroundColor), ink: light(style.color),
          figures: [...document.querySelectorAll('figure .drawing')].filter(shown).length};
})()"""


class Browser:
    """Chromium, and one page in it."""

    def __init__(self, program, profile):
        to_it, self.to = os.pipe()
        self.pipe, from_it = os.pipe()
        command = [program, "--headless", "--remote-debugging-pipe", "--disable-gpu",
                   "--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []

        def place():  # the protocol is on file descriptors 3 and 4
            os.dup2(to_it, 3)
            os.dup2(from_it, 4)

        # pylint: disable=subprocess-popen-preexec-fn,consider-using-with
        self.process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=place,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.rest, self.id, self.session, self.events = b"", 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def read(self):
        """The next message; none within a minute is an error."""
        end = time.monotonic() + MOST_SECONDS
        while b"\0" not in self.rest:
            if not select.select([self.pipe], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"chromium says nothing for {MOST_SECONDS} s")
            more = os.read(self.pipe, 1 << 20)
            if not more:
                raise EOFError("chromium ended")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def ask(self, method, **params):
        """What a command answers; events that come before are kept."""
        self.id += 1
        message = {"id": self.id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.id:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def run(self, script):
        return self.ask("Runtime.evaluate", expression=script, returnByValue=True)["result"].get(
            "value")

    def open(self, path, width, dark):
        """A page at that width. What it complains of is in errors()."""
        self.events = []
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=path.absolute().as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())

    def errors(self):
        """Exceptions of scripts, and what the browser refused or did not find."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["text"])
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(params["entry"]["text"])
        return found

    def pages(self):
        """Of the page as PDF."""
        data = base64.b64decode(self.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", data))

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(20)
        except (EOFError, OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def contrast(a, b):
    """As WCAG has it."""
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def look(browser, path, width, dark):
    """What is wrong with the page at that width, in words; and its height."""
    browser.open(path, width, dark)
    found = browser.run(MEASURE)
    wrong = [f"error: {text}" for text in browser.errors()]
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    unfolded = browser.run(MEASURE)
    for what, state in ((found, "folded"), (unfolded, "unfolded")):
        if what["sideways"] > 0:
            wrong.append(f"scrolls sideways by {what['sideways']} pixels, {state}")
        wrong += [f"cut, {state}: {text}" for text in what["cut"]]
    if width == WIDTHS[0] and found["height"] > MOST_PIXELS:
        wrong.append(f"is {found['height']} pixels high, more than {MOST_PIXELS}")
    if contrast(found["ink"], found["paper"]) < 7 or (found["paper"] < found["ink"]) != dark:
        wrong.append(f"ink {found['ink']:.3f} on paper {found['paper']:.3f}")
    if found["figures"] == 0:
        wrong.append("has no figure")
    return [f"{width} pixels, {'dark' if dark else 'light'}: {text}" for text in wrong], found


def look_at_all(browser, path):
    """At all widths, in both schemes, and as PDF."""
    wrong, said = [], []
    for width in WIDTHS:
        for dark in (False, True):
            faults, found = look(browser, path, width, dark)
            wrong += faults
        said.append(f"{found['height']} pixels high at {width}")
    browser.open(path, WIDTHS[0], False)
    pages = browser.pages()
    if pages > MOST_PAGES:
        wrong.append(f"is {pages} pages of PDF, more than {MOST_PAGES}")
    return wrong, ", ".join(said + [f"{pages} pages of PDF"])


# A fault each: what is put in place of what, and a word of what must be said.
FAULTS = (
    ("</main>", '<p style="width: 2000px">wide</p></main>', "sideways"),
    ("</main>", '<p style="height: 9000px">high</p></main>', "pixels high"),
    ("</main>", '<p style="width: 20px; overflow: hidden; white-space: nowrap">clipped</p></main>',
     "clipped"),
    ("</main>", "<script>none()</script></main>", "error:"),
    ("</svg>", '<text x="-50" y="20">beyond the picture</text></svg>', "beyond the picture"),
    ("</h1>", "</h1><style>#answers table { min-width: 1500px; }</style>", "must be scrolled"),
    ("@media screen and (prefers-color-scheme: dark)", "@media none", "on paper"),
)


def plant(browser, page, work):
    """The faults that are not found."""
    missed = []
    for i, (old, new, word) in enumerate(FAULTS):
        path = work / f"fault-{i}.html"
        path.write_text(page.replace(old, new, 1), encoding="utf-8")
        wrong = [text for dark in (False, True) for text in look(browser, path, WIDTHS[0], dark)[0]]
        if not any(word in text for text in wrong):
            missed.append(new)
    return missed


def main():
    lockstep, records, peer, work = sys.argv[1:]
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
        "google-chrome")
    if not program or not shutil.which("gnuplot"):
        print(f"skipped: {'gnuplot' if program else 'chromium'} is not installed", file=sys.stderr)
        return 77
    out = pathlib.Path(work)
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([lockstep, "report", records, "--peer", peer, "--out", out], check=True)
    browser = Browser(program, out / "profile")
    try:
        wrong, said = look_at_all(browser, out / "index.html")
        missed = plant(browser, (out / "index.html").read_text(encoding="utf-8"), out)
    finally:
        browser.close()
    for text in wrong:
        print(f"FAILED: the page {text}", file=sys.stderr)
    for text in missed:
        print(f"FAILED: a fault is not found: {text}", file=sys.stderr)
    print(f"the page is {said}; {len(FAULTS) - len(missed)} of {len(FAULTS)} faults are found")
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
