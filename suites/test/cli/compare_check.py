"""Every number of `lockstep compare --format json` again, from the raw steps of both files.

  compare_check.py A.jsonl B.jsonl RESULT.json

Shares nothing with the program: floors by sorting steps, p and interval by enumerating every choice
of launches, Holm by its definition. Exits 1 with the first number that is not the same.
"""

import json
import math
import statistics
import sys
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import combinations


def launches(path):
    """By cell, without the launch: the steps that count, a list for each launch."""
    cells = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if not record["schema"].startswith("lockstep/cell/"):
                continue
            key = {name: value for name, value in record["cell"].items() if name != "launch"}
            raw = record["raw"]
            steps = [t for t, flags in zip(raw["t_step_ns"], raw["flags"]) if flags & 17 == 0]
            cells[json.dumps(key, sort_keys=True)].append(steps)
    return cells


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def floor(steps, fewest):
    if fewest >= 40:
        return quantile(steps, 0.05)
    return quantile(steps, 0.10) if fewest >= 20 else min(steps[:fewest])


@lru_cache(maxsize=None)
def sums_of_choices(ranks, n):
    return Counter(sum(choice) for choice in combinations(ranks, n))


def rank_sum(a, b):
    """Two-sided p, and how many differences lie outside of the interval of 95 % on each side."""
    pool = sorted(a + b)
    ranks = tuple(sorted(2 * pool.index(x) + pool.count(x) + 1 for x in pool))
    seen = sum(2 * pool.index(x) + pool.count(x) + 1 for x in a)
    sums = sums_of_choices(ranks, len(a))
    total = sum(sums.values())
    below = sum(count for value, count in sums.items() if value <= seen)
    above = sum(count for value, count in sums.items() if value >= seen)
    plain = sums_of_choices(tuple(range(1, len(pool) + 1)), len(a))
    outside, k = 0, 0
    for value in sorted(plain):
        if outside + plain[value] > 0.025 * total:
            break
        outside += plain[value]
        k += 1
    return min(1, 2 * min(below, above) / total), k


def ratio(a, b):
    logs_a, logs_b = [math.log(x) for x in a], [math.log(x) for x in b]
    shifts = sorted(y - x for x in logs_a for y in logs_b)
    p, k = rank_sum(logs_a, logs_b)
    return {"a_ns": statistics.median(a), "b_ns": statistics.median(b), "p": p,
            "ratio": math.exp(statistics.median(shifts)),
            "lo": math.exp(shifts[k - 1]), "hi": math.exp(shifts[-k])}


def same(where, got, want):
    if not math.isclose(got, want, rel_tol=1e-9):
        sys.exit(f"compare_check: {where}: {got}, not {want}")


def main():
    files = [launches(path) for path in sys.argv[1:3]]
    with open(sys.argv[3], encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    tests = []
    for cell in cells:
        key = json.dumps(cell["cell"], sort_keys=True)
        a, b = (file[key] for file in files)
        fewest = min(len(steps) for steps in a + b)
        same("steps", cell["least_steps"], fewest)
        for name, of in (("floor", lambda steps: floor(steps, fewest)), ("cost", statistics.fmean)):
            want = ratio([of(steps) for steps in a], [of(steps) for steps in b])
            for number, value in want.items():
                same(f"{key}: {name}.{number}", cell[name][number], value)
        tests.append(cell["floor"]["p"])
    order, most = sorted(range(len(tests)), key=lambda i: tests[i]), 0
    for place, i in enumerate(order):
        most = min(1, max(most, (len(tests) - place) * tests[i]))
        same(f"adjusted p of cell {i}", cells[i]["p_adjusted"], most)
        away = not 1 / 1.05 <= cells[i]["floor"]["ratio"] <= 1.05
        verdict = "SUSPECT" if most <= 0.05 and away else "NO EVIDENCE"
        if cells[i]["verdict"] != verdict:
            sys.exit(f"compare_check: cell {i}: {cells[i]['verdict']}, not {verdict}")
    print(f"compare_check: {len(cells)} cells, {len(cells) * 13} numbers, no difference")


if __name__ == "__main__":
    main()
