"""Every number of `lockstep compare --baseline NAME NEW --format json` again, from the raw steps.

  baseline_check.py RESULT.json NEW.jsonl SITTING.jsonl...

Shares nothing with the program: floors by sorting steps, the quantile of Student's t by integrating
its density. Exits 1 with the first number that is not the same.
"""

import json
import math
import statistics
import sys

from compare_check import floor, launches


def within(t, df):
    """P(0 <= T <= t), by Simpson's rule."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    n = 4000
    values = [scale * (1 + (t * i / n) ** 2 / df) ** (-(df + 1) / 2) for i in range(n + 1)]
    return t / n / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))


def quantile_of_t(p, df):
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, df) < p - 0.5 else (low, middle)
    return low


def same(where, got, want, tolerance=1e-9):
    if not math.isclose(got, want, rel_tol=tolerance):
        sys.exit(f"baseline_check: {where}: {got}, not {want}")


def middle(cell, of):
    return math.log(statistics.median(of(steps) for steps in cell))


def verdict_of(ratio, low, high):
    if low > 1.01 and ratio >= 1.02:
        return "REGRESSED"
    if high < 1 / 1.01 and ratio <= 1 / 1.02:
        return "IMPROVED"
    return "EQUIVALENT" if low >= 1 / 1.03 and high <= 1.03 else "INCONCLUSIVE"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    new, *sittings = (launches(path) for path in sys.argv[2:])
    n = len(sittings)
    width = quantile_of_t(1 - 0.05 / len(cells), n - 1) * math.sqrt(1 + 1 / n)
    for cell in cells:
        key = json.dumps(cell["cell"], sort_keys=True)
        values = [middle(sitting[key], lambda steps: floor(steps, len(steps))) for sitting in sittings]
        shift = middle(new[key], lambda steps: floor(steps, len(steps))) - statistics.fmean(values)
        half = width * statistics.stdev(values)
        costs = [middle(sitting[key], statistics.fmean) for sitting in sittings]
        same("sd", cell["sitting_sd_log"], statistics.stdev(values), 1e-8)
        same("floor", cell["floor_ns"], math.exp(statistics.fmean(values)))
        same("ratio", cell["ratio"], math.exp(shift))
        same("lo", cell["lo"], math.exp(shift - half))
        same("hi", cell["hi"], math.exp(shift + half))
        cost = middle(new[key], statistics.fmean) - statistics.fmean(costs)
        same("cost", cell["cost"], math.exp(cost))
        wanted = verdict_of(math.exp(shift), math.exp(shift - half), math.exp(shift + half))
        if cell["verdict"] != wanted:
            sys.exit(f"baseline_check: {key}: {cell['verdict']}, not {wanted}")
    print(f"baseline_check: {len(cells)} cells, {len(cells) * 7} numbers, no difference")


if __name__ == "__main__":
    main()
