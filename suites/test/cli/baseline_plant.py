"""Plants sittings: record files of make_records made those of another sitting, rightly chained.

  baseline_plant.py MAKE_RECORDS KIND FILE NUMBER [FACTOR [SECONDS_LATER]] [OLD=NEW...]

Each has a run id, a start of the machine and a time of its own by its number. FACTOR: of all steps.
OLD=NEW replaces text in all lines, and has to find it. As a module: chained() for any lines.
"""

import hashlib
import re
import subprocess
import sys

DAY = 86400 * 10**9


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def bare(line):
    """The line without what chains it."""
    for key in (',"seal":"', ',"chain":"'):
        if key in line:
            line = line[: line.index(key)] + "}"
    return line


def chained(lines, closes):
    """The lines, chained anew; those that closes() says have a seal."""
    before, done = "sha256", []
    for line in lines:
        line = f'{bare(line)[:-1]},"chain":"{before}"}}'
        if closes(line):
            line = f'{line[:-1]},"seal":"{digest(line[:-1])}"}}'
        done.append(line)
        before = digest(line)
    return done


def replace(text, old, new):
    if old not in text:
        sys.exit(f"baseline_plant: nothing to replace: {old}")
    return text.replace(old, new)


def main():
    make_records, kind, path, number, *rest = sys.argv[1:]
    numbers = [value for value in rest if "=" not in value]
    factor, later = numbers[0] if numbers else "1", int(numbers[1]) if len(numbers) > 1 else 0
    subprocess.run([make_records, kind, path, factor], check=True)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    run = text.split('"run_id":"')[1][:16]
    text = replace(text, run, f"feed{int(number):012x}")
    text = replace(text, '"machine_class":""', f'"machine_class":"7{0:063d}"')
    text = replace(text, '"machine_instance":""', f'"machine_instance":"{int(number):012d}{0:052d}"')
    later = int(number) * DAY + later * 10**9
    text = re.sub('(?<="start_epoch_ns":")[0-9]+', lambda start: str(int(start[0]) + later), text)
    for change in rest:
        if "=" in change:
            text = replace(text, *change.split("=", 1))
    lines = chained(text.splitlines(), lambda line: '"lockstep/end/' in line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
