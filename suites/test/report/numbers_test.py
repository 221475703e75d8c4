#!/usr/bin/python3
"""Every number in the sentences, in the strip and in the tables of a page, made again from the raw
steps; and the sentences of summary.md, of annotations and of the slide. Captions are short.

    numbers_test.py LOCKSTEP RECORDS PEER|- WORK_DIRECTORY [MAKE_RECORDS]

Shares nothing with lockstep but its files: own medians, intervals, pairs, words. Then it changes
numbers on the page, one at a time, and each must be found. Exits 0 when all numbers agree and all
changes are found, 1 when not, 77 when there is no gnuplot for the page's figures. MAKE_RECORDS makes
up records that are noisy, impossible, failed or interrupted: of these the sentences are made again.
"""
import csv
import io
import json
import math
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as xml

NBSP = "\u00a0"
PHASES = ["scatter", "replicate", "forward", "gather", "loss", "backward", "reduce", "update"]
nan = float("nan")


# ---- statistics -------------------------------------------------------------------------------
def median(x):
    x = sorted(x)
    n = len(x)
    if n == 0:
        return nan
    if n % 2:
        return x[n // 2]
    return x[n // 2 - 1] + 0.5 * (x[n // 2] - x[n // 2 - 1])


def percentile(x, q):
    x = sorted(x)
    at = q * (len(x) - 1)
    below = int(at)
    above = min(below + 1, len(x) - 1)
    return x[below] + (at - below) * (x[above] - x[below])


def rank_of_interval(n):
    """Largest d with P(Bin(n, 1/2) <= d - 1) <= 0.025; 0: there is none."""
    tail = 0
    for d in range(n // 2 + 1):
        tail += math.comb(n, d)
        if tail / 2**n > 0.025:
            return d
    return n // 2 + 1


class Value:
    """The median over launches, and an interval, or the range of too few."""

    def __init__(self, x):
        x = sorted(v for v in x if math.isfinite(v))
        self.n = len(x)
        self.middle = median(x)
        self.lo = self.hi = nan
        self.kind = "none"
        d = rank_of_interval(self.n)
        if d > 0 and d < self.n - d + 1:
            self.lo, self.hi, self.kind = x[d - 1], x[self.n - d], "interval"
        elif self.n > 1:
            self.lo, self.hi, self.kind = x[0], x[-1], "range"

    def inverse(self, over):
        other = Value([])
        other.n, other.kind = self.n, self.kind
        other.middle, other.lo, other.hi = over / self.middle, over / self.hi, over / self.lo
        return other

    def over(self, k):
        return self.inverse(1).inverse(1 / k)


# ---- words ------------------------------------------------------------------------------------
def digits(v, unit):
    decimals = 2 if v < 9.995 else 1 if v < 99.95 else 0
    return f"{v:.{decimals}f}" + (NBSP + unit if unit else "")


def scaled(v, units):
    if not math.isfinite(v) or v < 0:
        return "-"
    for size, unit in units:
        if v >= 0.9995 * size or (size, unit) == units[-1]:
            return digits(v / size, unit)
    return "-"


def time(ns):
    return scaled(ns, [(1e9, "s"), (1e6, "ms"), (1e3, "\u00b5s"), (1.0, "ns")])


def rate(v):
    return scaled(v, [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])


def flops(v):
    return "-" if rate(v) == "-" else rate(v) + "FLOP/s"


def size(v):
    if not math.isfinite(v) or v < 0:
        return "-"
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"]:
        if v < 1023.5 or unit == "TiB":
            return f"{v:.0f}{NBSP}B" if unit == "B" else digits(v, unit)
        v /= 1024
    return "-"


def ratio(v):
    if not math.isfinite(v):
        return "-"
    return f"{v:.{2 if v >= 0.095 else 3 if v >= 0.0095 else 4}f}"


def unmeasured(v):
    """Its range is so wide that the middle says nothing."""
    return v.kind != "none" and (v.hi - v.lo > v.middle or (v.lo < 0.5 and v.hi > 2))


def times_words(v, mark=""):
    return "not measured well enough" if unmeasured(v) else ratio(v.middle) + mark


def away(v):
    """Rounds a half away from 0."""
    return math.copysign(math.floor(abs(v) + 0.5), v)


def percent(v):
    return f"{away(100 * v) + 0.0:.0f}{NBSP}%" if math.isfinite(v) else "-"


def share(v):
    return f"<1{NBSP}%" if 0 <= v < 0.01 else percent(v)


def spread(value, words):
    if value.kind == "none":
        return "-"
    lo, hi = words(value.lo), words(value.hi)
    form = "[{}, {}]" if value.kind == "interval" else "{}..{}"
    if NBSP in lo and NBSP in hi and lo.split(NBSP)[1] == hi.split(NBSP)[1]:
        return form.format(lo.split(NBSP)[0], hi.split(NBSP)[0]) + NBSP + hi.split(NBSP)[1]
    return form.format(lo, hi)


def bucket_words(n):
    if n == 0:
        return "1Mi, 25Mi"
    for unit in ["", "Ki", "Mi", "Gi"]:
        if n % 1024 or unit == "Gi":
            return f"{n}{unit}"
        n //= 1024
    return ""


# ---- records ----------------------------------------------------------------------------------
class Launch:
    """One line of the file, from its raw steps."""

    def __init__(self, line):
        self.line, self.key, raw = line, line["cell"], line["raw"]
        self.ok = line["status"] == "ok" and line["validated"] and line["values_checked"] > 0
        self.at = (self.key["launch"], line["run_id"], line.get("sitting", 0))
        flags = raw["flags"]
        warm = line["warmup_steps"]
        self.counted = [i for i, f in enumerate(flags) if i >= warm and not f & 17]
        steps = raw["t_step_ns"]
        self.steps = [steps[i] for i in self.counted]
        self.step = median(self.steps)
        self.n = len(line["shard_rows"])
        self.outside = nan
        if raw.get("matmul_ns") and self.n > 0:
            products = raw["matmul_ns"][: self.n]
            self.outside = median(
                1 - sum(rank[i] for rank in products) / self.n / steps[i] for i in self.counted)
        self.phase = {}
        for name in PHASES:
            ranks = (raw.get("phase_ns") or {}).get(name)
            if ranks:
                self.phase[name] = median(max(r[i] for r in ranks) for i in self.counted)
        turns = line.get("rounds_ns") or {}
        self.turn = [median(turns[name]) if turns.get(name) else number(line.get(field)) for
                     name, field in [("compute", "compute_alone_ns"), ("comm", "comm_alone_ns"),
                                     ("whole", "whole_ns")]]
        self.hidden = nan
        if line.get("hidden_frac") is not None:
            self.hidden = (self.turn[0] + self.turn[1] - self.turn[2]) / self.turn[1]
        self.flops = 1e9 * number(line["flops_per_step"]) / self.key["n_devices"] / self.step


def timed_words(file):
    if file.seconds != file.seconds:
        return "-"
    timed = 0
    for launch in file.cells:
        raw = launch.line["raw"]
        timed += sum(launch.steps) if launch.ok else 0
        turns = [*(raw.get("rounds_ns") or {}).values(), raw.get("alone_ns") or []]
        timed += sum(map(sum, turns)) if launch.ok else 0
    return f"{timed / 1e7 / file.seconds:.0f} % of {file.seconds:.1f} s"


def cost_rows(file):
    good = [l for l in file.cells if l.ok]
    lines = [l.line for l in good]
    if not lines or not all(line.get("launch_ns") for line in lines):
        return []
    writing = file.writing / len(lines)
    parts = [
        [line["launch_ns"] - line["wall_ns"] for line in lines],
        [line["devices_ns"] for line in lines],
        [line["setup_ns"] - line["devices_ns"] - line["reference_ns"] - line["probe_ns"] for line in lines],
        [line["reference_ns"] + line["probe_ns"] for line in lines],
        [line["raw"]["t_start_ns"][line["warmup_steps"]] for line in lines],
        [line["verify_ns"] for line in lines]]
    timed = 0
    for launch in good:
        raw = launch.line["raw"]
        turns = [*(raw.get("rounds_ns") or {}).values(), raw.get("alone_ns") or []]
        timed += sum(launch.steps) + sum(map(sum, turns))
    parts = [sum(part) / len(lines) for part in parts]
    whole = (sum(line["launch_ns"] for line in lines) - timed) / len(lines)
    numbers = [*parts, whole - sum(parts), 1e9 * writing, whole + 1e9 * writing]
    return [[f"{file.run['run_id'][:8]}, {file.run['created_utc'][:20]}",
             *map(time, numbers)]]


def disturbed(launch):
    """More of the time of its cores than that went to other programs, or to other machines."""
    return launch.ok and (number(launch.line.get("foreign_frac")) > 0.3 or
                          number(launch.line.get("steal_frac")) > 0.02)


def number(v):
    return nan if v is None else float(v)


def widening(alike):
    return math.sqrt((1 + alike) / (1 - alike))


class Point:
    """The launches of a cell."""

    def __init__(self, launches):
        self.all = sorted(launches, key=lambda l: l.at)
        self.ok = [l for l in self.all if l.ok]
        self.key = self.all[0].key
        self.k, self.rows = self.key["n_devices"], self.key["global_batch"]
        self.mode, self.bucket = self.key["mode"], self.key["bucket_bytes"]
        self.step = Value([l.step for l in self.ok])
        if self.ok:
            lower = sorted(l.step for l in self.ok)[(len(self.ok) - 1) // 2]
            self.middle = next(l for l in self.ok if l.step == lower)
        self.crowded = self.all[0].line["oversubscribed"]
        if len(self.ok) == 1:
            self.step.kind = "range"
            self.step.lo = percentile(self.ok[0].steps, 0.05)
            self.step.hi = percentile(self.ok[0].steps, 0.95)
        self.base = self.plain = self.single = self.peer = self.cores = None
        self.speedup = self.of_cores = Value([])
        self.alike = 0

    def over(self, what):
        return Value([what(l) for l in self.ok])

    def pairs(self, base):
        other = {l.at: l for l in base.ok}
        return [(l, other[l.at]) for l in self.ok if l.at in other]

    def against(self, base):
        value = Value([b.step / a.step * a.key["global_batch"] / b.key["global_batch"]
                       for a, b in self.pairs(base)])
        if value.n == 0:
            value.middle = base.step.middle / self.step.middle * self.rows / base.rows
        return value

    def efficiency(self):
        return self.speedup.over(self.k)

    def of_bound(self):
        return self.speedup.middle / self.k / self.bound

    def beyond(self):
        """More than is possible, by more than 2 points of the bound; of an interval all is."""
        value = self.efficiency()
        return (value.lo if value.kind == "interval" else value.middle) > 1.02 * self.bound

    def doubt(self, ratio=True, value=None, width=0.2, base=None):
        """Why its speed-up, or its step, is not certain: the first reason that holds; "" if it is."""
        value = value or (self.speedup if ratio else self.step)
        base = base or self.base
        width *= value.middle if width == 0.2 else 1
        pairs = self.pairs(base) if ratio and base else [(l, l) for l in self.ok]
        failed = [l for p in (self, base if ratio else None) if p for l in p.all if not l.ok and l.line["status"] != "skipped"]
        return ("failed" if failed else "few" if value.kind != "interval" or value.n < 6 else
                "beyond" if ratio and self.beyond() else
                "disturbed" if sum(disturbed(a) or disturbed(b) for a, b in pairs) > 0.25 * len(pairs) else
                "wide" if self.wider(value, 1) - self.wider(value, -1) >= width else "")

    def wider(self, value, side):
        """The upper (1) or lower (-1) end of the interval, as wide as its launches may make it."""
        return value.middle + widening(self.alike) * ((value.hi if side > 0 else value.lo) - value.middle)

    def mark(self, ratio=True, value=None):
        return "?" if self.doubt(ratio, value) else ""

    def step_words(self):
        return time(self.step.middle) + self.mark(False)

    def counts(self):
        return not self.doubt()

    def disturbed(self):
        return any(map(disturbed, self.ok))


class File:
    """Points of a file of one run and strong scaling."""

    def __init__(self, path):
        lines = [json.loads(line) for line in open(path, encoding="utf-8")]
        self.run = lines[0]
        self.cells = [Launch(l) for l in lines if l["schema"].startswith("lockstep/cell/")]
        ends = [l for l in lines if l["schema"].startswith("lockstep/end/")]
        self.seconds = nan
        if len(ends) == len({l.at[2] for l in self.cells}):
            self.seconds = sum(number(l.get("seconds")) for l in ends)
            self.writing = sum(number(l.get("writing")) for l in ends)
        assert self.run["scaling"] == "strong"
        groups = {}
        for launch in self.cells:
            identity = {k: v for k, v in launch.key.items() if k != "launch"}
            groups.setdefault(json.dumps(identity, sort_keys=True), []).append(launch)
        modes = {"plain": 0, "dp": 1, "ddp": 2, "plain-mt": 3}
        self.points = sorted((Point(l) for l in groups.values()),
                             key=lambda p: (p.key["workload"], modes[p.mode], p.k, p.bucket, p.rows))
        cores = min(c for c in [self.run["cores"], self.run["usable_pus"]] if c > 0)
        for p in self.points:
            most = p.k if p.mode == "plain-mt" else p.rows / math.ceil(p.rows / p.k)
            p.bound = min(most, cores) / p.k
            p.plain = self.find(p, "plain", 1)
            p.single = self.find(p, "dp", 1)
            p.rank = self.find(p, "ddp", 1, p.bucket) if p.mode == "ddp" else None
            p.base = p.plain or p.single or p.rank
            p.peer = self.find(p, "dp", p.k) if p.mode == "ddp" else None
            if p.base and p.ok:
                p.speedup = p.against(p.base)
            p.cores = self.find(p, "plain-mt", p.k) if p.k > 1 and p.mode != "plain-mt" and p.base else None
            if p.cores and p.ok:
                p.of_cores = p.against(p.cores)
        self.alike = alike(self.points)
        for p in self.points:
            p.alike = self.alike

    def find(self, point, mode, k, bucket=0):
        for p in self.points:
            if p.ok and (p.key["workload"], p.mode, p.k, p.rows,
                         p.bucket) == (point.key["workload"], mode, k, point.rows, bucket):
                return p
        return None

    def workloads(self):
        return sorted({p.key["workload"] for p in self.points})

    def of(self, workload):
        return [p for p in self.points if p.key["workload"] == workload]


# ---- tables -----------------------------------------------------------------------------------
def count_words(n, one):
    return f"{n} {one}{'' if n == 1 else 's'}"


def were(n):
    return "was" if n == 1 else "were"


def shards(launch):
    rows, parts, i = launch.line["shard_rows"], [], 0
    while i < len(rows):
        n = next((j for j in range(i, len(rows)) if rows[j] != rows[i]), len(rows)) - i
        parts.append(f"{n}\u00d7{rows[i]}" if n > 1 else str(rows[i]))
        i += n
    idle = launch.key["n_devices"] - len(rows)
    idle = 0 if launch.key["mode"] == "plain-mt" else idle
    return ", ".join(parts) + (f" ({idle} idle)" if idle > 0 else "")


def slowest(p):
    parts = [(p.over(lambda l, n=n: l.phase.get(n, nan)).middle, n) for n in PHASES]
    parts = sorted((x for x in parts if x[0] > 0), key=lambda x: -x[0])[:2]
    return ", ".join(f"{n} {share(ns / p.step.middle)}" for ns, n in parts) or "not measured"


def any_cores(file):
    return any(p.cores for p in file.points)


def cores_mark(p):
    return "?" if p.cores and p.doubt(True, p.of_cores, base=p.cores) else ""


def cell_rows(file):
    rows = []
    for p in file.points:
        outside = p.over(lambda l: l.outside)
        moved = p.over(lambda l: number(l.line["bytes_per_step"]))
        peak = p.over(lambda l: max(l.line["peak_bytes"], default=nan))
        lone = p.base is p
        name = {"plain": "plain", "dp": str(p.k), "ddp": f"{p.k} ddp",
                "plain-mt": f"one process, {p.k} cores"}[p.mode]
        rows.append([
            name, str(p.rows), shards(p.middle), str(len(p.ok)), p.step_words(),
            spread(p.step, time), rate(1e9 * p.rows / p.step.middle) + p.mark(False, p.step.inverse(1)),
            "base" if lone else times_words(p.speedup, p.mark()),
            "-" if lone else spread(p.speedup, ratio),
            "-" if lone or unmeasured(p.efficiency()) else f"{ratio(p.efficiency().middle)}{p.mark()} of {p.bound:.2f}",
            "-" if lone else spread(p.efficiency(), ratio),
            *([times_words(p.of_cores, cores_mark(p)), spread(p.of_cores, ratio)] if any_cores(file) else []),
            share(outside.middle),
            size(moved.middle), size(peak.middle), slowest(p), None])
    return rows


def base_rows(file):
    rows = []
    for w in file.workloads():
        for batch in sorted({p.rows for p in file.of(w)}):
            plain = next((p for p in file.of(w) if p.mode == "plain" and p.rows == batch), None)
            single = next((p for p in file.of(w) if (p.mode, p.k, p.rows) == ("dp", 1, batch)),
                          None)
            wrapper = single.speedup.inverse(1)
            rows.append([str(batch), plain.step_words(), spread(plain.step, time),
                         single.step_words(), spread(single.step, time),
                         ratio(wrapper.middle) + "\u00d7" + single.mark(), spread(wrapper, ratio)])
    return rows


def first_columns(p):
    return [f"{p.k}{' (oversubscribed)' if p.crowded else ''}", str(p.rows),
            bucket_words(p.bucket)]


def beside_rows(file):
    rows = []
    for p in file.points:
        if not p.peer:
            continue
        faster = p.against(p.peer).inverse(1)
        pair = []
        for what in [lambda l: number(l.line["bytes_per_step"]),
                     lambda l: max(l.line["peak_bytes"], default=nan)]:
            pair += [size(p.peer.over(what).middle), size(p.over(what).middle)]
        rows.append(first_columns(p) + [p.peer.step_words(), p.step_words(),
                                        ratio(faster.middle) + ("?" if p.doubt(value=faster, base=p.peer) else ""),
                                        spread(faster, ratio)] + pair)
    return rows


def overlap_rows(file):
    rows = []
    for p in file.points:
        turns = [p.over(lambda l, t=t: l.turn[t]) for t in range(3)]
        if p.mode != "ddp" or p.k < 2 or not math.isfinite(turns[2].middle):
            continue
        hidden = p.over(lambda l: l.hidden)
        noise = p.over(lambda l: l.hidden * l.turn[1])
        words = percent(hidden.middle)
        if math.isfinite(hidden.middle) and p.doubt(False, hidden, 0.5):
            words = f"not resolved: reduction {time(turns[1].middle)}, " + (
                f"noise of the step {time((noise.hi - noise.lo) / 2)}"
                if noise.kind == "interval" else "too few launches for an interval")
        rows.append(first_columns(p) + [time(t.middle) for t in turns] +
                    [words, "-" if words.startswith("not") else spread(hidden, percent)])
    return rows


def slowest_in(launch):
    """Rank, share of steps, own work to that of the others; None: no rank, or two that are alike."""
    rows, phases = launch.line["shard_rows"], launch.line["raw"].get("phase_ns") or {}
    own = [phases.get(name) for name in ("forward", "loss", "backward")]
    ranks = [r for r, n in enumerate(rows) if n == max(rows) > 0]
    if len(ranks) < 2 or not all(own):
        return None
    work = [[sum(phase[r][i] for phase in own) for i in launch.counted] for r in ranks]
    lost = [0] * len(ranks)
    for step in zip(*work):
        if step.count(max(step)) == 1:
            lost[step.index(max(step))] += 1
    at = lost.index(max(lost))
    others = sum(sum(w) for i, w in enumerate(work) if i != at) / (len(ranks) - 1)
    return (ranks[at], lost[at], len(launch.counted), sum(work[at]) / others - 1, len(ranks)) if lost[at] else None


def slowest_of(p):
    """The point, its slowest rank, how many launches that lost, its work above that of others, the chance, all launches, and its steps."""
    found = [one for one in map(slowest_in, p.ok) if one] if p.mode == "ddp" else []
    if not found or p.k < 2:
        return None
    times = {rank: sum(one[0] == rank for one in found) for rank, *_ in sorted(found)}
    rank = max(times, key=lambda r: times[r])
    own, n, k, ranks = [one for one in found if one[0] == rank], len(found), times[rank], found[0][4]
    tail = sum(math.comb(n, i) * (ranks - 1) ** (n - i) for i in range(k, n + 1)) / ranks ** n
    steps = sum(one[1] for one in own) / sum(one[2] for one in own)
    return p, rank, k, sum(one[3] for one in own) / k, min(1, ranks * tail) if n > 1 else nan, n, steps


def slowest_rows(file):
    rows = []
    for p, rank, lost, more, chance, n, steps in filter(None, map(slowest_of, file.points)):
        rows.append(first_columns(p) + [
            str(rank), "-", f"{100 * more:+.1f} %", percent(steps), f"{lost} of {n}",
            f"p {chance:.2g}" if n > 1 else "-"])
    return rows


def device_words(p):
    return (count_words(p.k, "device") + (" with DDP" if p.mode == "ddp" else "") +
            (" (oversubscribed)" if p.crowded else ""))


def memory_rows(file):
    rows = []
    lines = {}
    for p in file.points:
        if p.middle.line["peak_bytes"] and p.mode != "plain-mt":
            lines.setdefault((p.key["workload"], p.mode, p.k, p.bucket), []).append(p)
    for line in lines.values():
        if len(line) < 2:
            continue
        small, large = line[-2], line[-1]
        held = [sum(p.middle.line["peak_bytes"]) for p in (small, large)]
        more = (held[1] - held[0]) / (large.rows - small.rows)
        machine = file.run["mem_bytes"]
        fits = large.rows + (machine - held[1]) / more if more > 0 else nan
        peak = large.over(lambda l: max(l.line["peak_bytes"], default=nan)).middle
        rows.append([("plain program, " if large.mode == "plain" else "") + device_words(large),
                     str(large.rows), size(peak), size(held[1]), size(more), size(machine),
                     rate(fits)])
    return rows


def losses(p):
    """Parts of what is missing from the bound, in points; None: they do not add up."""
    part = p.rows / p.base.rows / (p.k * p.bound)

    def parts_of(step, phase, base, base_phase):
        of = {n: (phase.get(n, 0) - part * base_phase.get(n, 0)) / step for n in PHASES}
        of["between"] = (step - part * base) / step - sum(of.values())
        return of

    each = [parts_of(a.step, a.phase, b.step, b.phase) for a, b in p.pairs(p.base)]
    middle = {n: median(e[n] for e in each) for n in each[0]}
    missing = 1 - p.of_bound()
    scale = missing / sum(middle.values())
    if not 0.5 <= scale <= 2:
        return missing, None
    of = {n: scale * v for n, v in middle.items()}
    return missing, {"computing": of["forward"] + of["backward"],
                     "moving data": of["scatter"] + of["replicate"] + of["gather"] + of["reduce"],
                     "loss, update": of["loss"] + of["update"], "waiting": of["between"]}


def loss_words(p):
    if p.beyond() or p.doubt():
        return "more than is possible: one device was disturbed" if p.beyond() else "not certain"
    if not p.of_bound() < 0.98:
        return "no loss shown"
    missing, parts = losses(p)
    if not parts:
        return "not told apart"
    most = max(parts, key=lambda n: parts[n])
    if parts[most] <= missing:
        return f"{most}: {100 * parts[most]:.0f} of the {100 * missing:.0f}{NBSP}% lost"
    return f"{most}: all of the {100 * missing:.0f}{NBSP}% lost"


def answer_rows(file):
    rows = []
    for w in file.workloads():
        for mode, bucket in sorted({(p.mode, p.bucket) for p in file.of(w) if p.mode != "plain"}):
            rows.append(max((p for p in file.of(w) if (p.mode, p.bucket) == (mode, bucket)),
                            key=lambda p: (p.k > 1, not p.crowded, not p.beyond() and not unmeasured(p.speedup), p.counts(), p.speedup.middle)))
    rows.sort(key=lambda p: -p.of_bound())
    return [answer_row(file, p) for p in rows]


def answer_row(file, p):
    speed = times_words(p.speedup, "\u00d7" + p.mark()) + " " + spread(p.speedup, ratio)
    best = "-"
    if p.cores:
        v, doubt, _ = against_fastest(p)
        best = times_words(v, "\u00d7?" if doubt else "\u00d7") + " " + spread(v, ratio)
    one = "core" if p.mode == "plain-mt" else "device"
    return [p.key["workload"],
            {"dp": "DataParallel", "ddp": "DDP", "plain-mt": "one process, all cores"}[p.mode],
            p.base.step_words(), p.step_words(),
            f"{p.k}{NBSP}{one}{'' if p.k == 1 else 's'}, {p.rows}" +
            (", oversubscribed" if p.crowded else ""),
            speed, "-" if unmeasured(p.speedup) else share(p.of_bound()) + p.mark(),
            *([best] if any_cores(file) else []), loss_words(p)]


# ---- sentences --------------------------------------------------------------------------------
def training(file, p):
    name, _, sizes = p.key["workload"].partition(":")
    if any(w != p.key["workload"] and w.partition(":")[0] == name for w in file.workloads()):
        name += ":" + sizes
    buckets = sorted({0} | {q.bucket for q in file.points})
    devices = count_words(p.k, "device") + (" with DDP" if p.mode == "ddp" else "")
    devices += f", buckets {bucket_words(p.bucket)}" if buckets.index(p.bucket) > 0 else ""
    devices += " (oversubscribed)" if p.crowded else ""
    one = {"plain": "one", "dp": "DataParallel on one", "ddp": "DDP on one rank"}[p.base.mode]
    v, possible = p.speedup, p.k * p.bound
    sure = f"{ratio(v.lo)} to {ratio(v.hi)}" if v.kind != "none" else ""
    sure += (f" in {v.n} launches" if v.kind == "range" else "") + ("; " if sure else "")
    if p.beyond():
        most = f"more than is possible, {possible:.2f}: one device was disturbed"
    elif not unmeasured(v) and (v.hi if p.counts() else v.middle) >= possible:
        most = f"{'not distinguishable from' if v.lo <= possible else 'at'} the limit of {possible:.2f}"
    else:
        most = f"at most {possible:.2f} is possible"
    times, end = (", but how many", " was not measured well enough") if unmeasured(v) else (" " + ratio(v.middle), "")
    return f"{devices} train {name}{times} times as fast as {one}{end} ({sure}batch {p.base.rows}; {most})"


def choice(file):
    """The settings, those that count, and of these, or else of all, the best and the farthest."""
    settings = [p for p in file.points if p.k > 1 and p.mode != "plain-mt" and p.base and p.ok]
    settings = [p for p in settings if not p.crowded] or settings
    sure = [p for p in settings if p.counts()]
    of = sure or [p for p in settings if not p.beyond() and not unmeasured(p.speedup)] or settings
    return settings, sure, (max(of, key=lambda p: p.speedup.middle),
                            min(of, key=Point.of_bound)) if of else None


def noisy_cells(file):
    """The step times, and the speed-ups, that are not certain, each of how many; and the sentence about both."""
    cells = [p for p in file.points if p.ok]
    ratios = [p for p in cells if p.base not in (None, p)]
    steps = [p for p in cells if p.doubt(ratio=False)]
    open_ratios = [p for p in ratios if not p.counts()]
    said = [f"{len(n)} of {len(of)} {what}" for n, of, what in
            ((steps, cells, "step times"), (open_ratios, ratios, "speed-ups")) if n]
    return f"{' and '.join(said)} {'is' if len(steps) + len(open_ratios) == 1 else 'are'} not certain" if said else ""


def unverified(file):
    """How many launches are in no number, and how many were not run."""
    planned, missing = file.run["planned"], file.run["planned"] - len(file.cells)
    n = len(file.cells) - sum(l.ok for l in file.cells)
    bad = [f"Not verified, and in no number here: {n} of {planned} launches."] if n else []
    return bad + ([f"{missing} of {planned} launches {'has' if missing == 1 else 'have'} not run yet: continue with --resume."]
                  if missing else [])


def doubts(file):
    """What is not certain of the answer and of the slide, without why and what to do."""
    settings, sure, (best, _) = choice(file)
    noisy = [p for p in settings if p not in sure]
    if best.crowded:
        return "This is no evidence of speed: more devices than cores"
    if not sure or not noisy:
        return noisy_cells(file) if sure else ""
    some = f"{len(noisy)} of {len(settings)} settings on several devices {were(len(noisy))} not certain enough to count"
    larger = max((p for p in noisy if p.speedup.middle > best.speedup.middle), key=lambda p: p.speedup.middle, default=None)
    return some + (" (one was not measured well enough)" if larger and unmeasured(larger.speedup) else
                   f" (a larger number, {ratio(larger.speedup.middle)}, {'is more than is possible' if larger.beyond() else 'may be chance'})" if larger else "")


def answer(file):
    """What was not verified, how certain the best setting is, and what to do next, after the sentence about it."""
    settings, sure, ends = choice(file)
    rest, missing = unverified(file), file.run["planned"] > len(file.cells)
    if not ends:
        return ["Nothing can be said about scaling: no verified cell on several devices has a verified base at its batch.",
                *([" ".join(rest + state(file))] if rest + state(file) else [])]
    best = ends[0]
    v, n, lo, hi = best.speedup, best.speedup.n, best.wider(best.speedup, -1), best.wider(best.speedup, 1)
    first = ("" if sure and not best.crowded else "Not certain: ") + training(file, best)
    noisy = [p for p in settings if p not in sure]
    larger = max((p for p in noisy if p.speedup.middle > v.middle), key=lambda p: p.speedup.middle, default=None)
    if sure and noisy and (larger or hi < 1):
        first += (", the only setting that is certain enough" if len(sure) == 1 else
                  f", the best of the {len(sure)} settings that are certain enough")
    if sure and not best.crowded and lo <= 1:
        first += ": one device is faster" if hi < 1 else ": whether they are faster is not certain"
    doubt = best.doubt()
    again = ": continue with --resume." if not sure and doubt == "failed" else "." if missing else ": sweep again on an idle machine." if not sure and doubt == "disturbed" else (f": sweep again with --launches {2 * n}, on an idle machine." if n >= 6 else
                                 ": sweep again with --launches 6.")
    if best.crowded:
        rest += [f"{doubts(file)}."]
    elif not sure:
        few = ("Not measured in the launches of its base, so not certain" if n == 0 else "Measured once, so not certain"
               if n == 1 else f"Measured {n} times, too few to be certain")
        much = sum(disturbed(a) or disturbed(b) for a, b in best.pairs(best.base))
        rest += [("A launch of it failed, so not certain" if doubt == "failed" else few if n < 6 else
                  f"{much} of its {n} launches {were(much)} disturbed, too many to be certain" if doubt == "disturbed" else
                  "That is too noisy to be certain") + again]
    elif doubts(file):
        rest += [doubts(file) + again]
    elif lo <= 1 <= hi:
        rest += ["More launches may tell" + again]
    elif not rest and not state(file):
        rest += ["Nothing has to be measured again" +
                 (f": all {len(settings)} settings on several devices are certain." if len(settings) > 1 else ".")]
    rest += [rival(best)] if best.cores else []
    rest += state(file)
    return [first + ".", *([" ".join(rest)] if rest else [])]


def lead(file):
    if not choice(file)[2]:
        return ""
    best, far = choice(file)[2]
    said = f"Farthest from what is possible: {training(file, far)}. " if far is not best and not far.doubt() else ""
    if far.of_bound() < 0.98 and not far.doubt():
        missing, parts = losses(far)
        words = {"computing": "forward and backward, which are slower than their share",
                 "moving data": "moving data", "waiting": "waiting between phases",
                 "loss, update": "loss and update, which one device does alone"}
        said += f"{share(missing)} of the possible speed-up is lost"
        if parts:
            most = max(parts, key=lambda n: parts[n])
            much = "most of it" if 2 * parts[most] > missing else "the largest part"
            said += ", " + (f"{much} ({100 * parts[most]:.0f} points) " if parts[most] < missing else "")
            said += f"by {words[most]}"
        said += ". "
        outside = far.over(lambda l: l.outside).middle
        said += f"Only {share(1 - outside)} of the step is matrix products. " if outside >= 0.5 else ""
    slow = max((s for s in map(slowest_of, file.points) if s and s[4] <= 0.05 and s[3] >= 0.02), key=lambda s: s[3], default=None)
    if slow:
        p, rank, lost, more, _, n, _ = slow
        name = training(file, p).partition(" train ")[2].split(" ")[0].rstrip(",")
        said += (f"Rank {rank} is {100 * more:.0f}{NBSP}% slower than the others, in {lost} of {n} launches of {name} on "
                 f"{training(file, p).partition(' train ')[0]}. ")
    return said


def against_fastest(p):
    """The ratio to the faster of the program on one device and on all cores; whether that is doubtful; whether it pays: 1, -1, 0 not certain."""
    threads = p.of_cores.middle < p.speedup.middle
    v = p.of_cores if threads else p.speedup
    cores = p.doubt(True, p.of_cores, base=p.cores) if p.cores else ""
    doubt = bool(cores if threads else p.doubt() or cores not in ("", "wide"))
    beats_both = p.cores and min(p.wider(p.of_cores, -1), p.wider(v, -1)) > 1
    return v, doubt, 0 if doubt else -1 if p.wider(v, 1) < 1 else int(bool(beats_both))


def rival(p):
    """How fast a setting is next to the fastest single process."""
    v, doubt, pays = against_fastest(p)
    verdict = ("that is not certain" if doubt else "data parallelism does not pay" if pays < 0 else
               "data parallelism pays" if pays > 0 else "whether data parallelism pays is not certain")
    if v is p.speedup and doubt:
        return f"Probably the best single process uses one core: {p.k} cores were slower (batch {p.rows}; not certain)."
    if v is p.speedup:
        return (f"One process on {p.k} cores was slower here than on one, so one core is the best single process "
                f"(batch {p.rows}): {verdict}.")
    sure = f"{ratio(v.lo)} to {ratio(v.hi)}; " if v.kind == "interval" or unmeasured(v) else ""
    who = f"{count_words(p.k, 'device')}{' with DDP' if p.mode == 'ddp' else ''} are"
    same = "as fast as the same cores used by one process"
    return (f"How many times {who} {same} was not measured well enough ({sure}batch {p.rows}): {verdict}." if unmeasured(v) else
            f"{who} {ratio(v.middle)} times {same} ({sure}batch {p.rows}): {verdict}.")


def sentences(file):
    """By the class of their paragraph."""
    return {"answer": " ".join(answer(file)), "lead": lead(file)}


SLIDE_PANELS = 4


def slide_settings(file):
    """All settings with their ratio, 0 certain, 1 not, 2 unmeasured, and whether it pays; the best and the worst of the most certain."""
    settings = []
    for p in choice(file)[0]:
        v, doubt, pays = against_fastest(p)
        state = 2 if unmeasured(v) else 1 if p.crowded or p.doubt() or doubt else 0
        settings.append((p, v, state, 0 if state else pays))
    rank = {id(p): 2 if state == 1 and p.beyond() else state for p, _, state, _ in settings}
    ends = [s for s in settings if rank[id(s[0])] == min(rank.values())]
    best, worst = max(ends, key=lambda s: s[1].middle), min(ends, key=lambda s: s[1].middle)
    ordered = min(rank.values()) == 0 and best[0].wider(best[1], -1) > worst[0].wider(worst[1], 1)
    return settings, best, worst, min(rank.values()), len(ends), ordered


def slide_bars(file):
    """The bars: those of the best and of the worst setting, then on the most devices the largest batches of each workload."""
    settings, best, worst, *_ = slide_settings(file)
    ratios = {id(p): v.middle for p, v, *_ in settings}
    panels = []  # (workload, batch, devices), {mode: setting}

    def panel(workload, rows, k, end=None):
        there = [p for p, *_ in settings if (p.key["workload"], p.rows) == (workload, rows) and (k is None or p.k == k)]
        k = max((p.k for p in there), default=0)
        bars = {m: max(of, key=lambda p: ratios[id(p)]) for m in ("dp", "ddp") if (of := [p for p in there if p.k == k and p.mode == m])}
        same = next((b for place, b in panels if place == (workload, rows, k)), None)
        if same is not None and end and end is not best[0] and same.get(end.mode) is best[0]:
            bars, same = {}, None
        if end:
            (bars if same is None else same)[end.mode] = end
        if bars and same is None and len(panels) < SLIDE_PANELS:
            panels.append(((workload, rows, k), bars))

    for end in (best[0], worst[0]):
        panel(end.key["workload"], end.rows, end.k, end)
    for i in range(SLIDE_PANELS):
        for w in file.workloads():
            batches = sorted({p.rows for p in file.of(w) if p.ok and p.mode != "plain-mt"}, reverse=True)
            if i < len(batches):
                panel(w, batches[i], None)
    return [[p for mode in ("dp", "ddp") if (p := bars.get(mode))] for _, bars in panels]


def slide_panels(file):
    """Below each pair of bars: its rows, and the best or the worst where all are certain; and over what the bars are."""
    settings, best, worst, _, counted, ordered = slide_settings(file)
    said = []
    for bars in slide_bars(file):
        marks = [": the best" if p is best[0] else ": the worst" for p in bars if p in (best[0], worst[0])]
        over = [f"{p.k} cores" if against_fastest(p)[0] is p.of_cores else "1 core" for p in bars]
        said += [f"{bars[0].rows} rows{''.join(marks) if ordered and counted == len(settings) else ''}",
                 f"against {over[0]}" + (f" (DDP: {over[1]})" if over[0] != over[-1] else
                                      ", one process" if over[0] != "1 core" else
                                      "" if bars[0].base.mode == "plain" else ", DataParallel")]
    kinds = {against_fastest(p)[0].kind for bars in slide_bars(file) for p in bars}
    return said + [("Lines: 95 % intervals over launches. " if "interval" in kinds else "") +
                   ("Dotted lines: smallest to largest of few launches. " if "range" in kinds else "") + "Hatched, ?: not certain."]


def slide_sentences(file, peers=None):
    planned, missing = file.run["planned"], file.run["planned"] - len(file.cells)
    settings, best, worst, least, counted, ordered = slide_settings(file)

    def setting(p, v, *_):
        name = p.key["workload"].partition(":")[0]
        name = name if sum(w.partition(":")[0] == name for w in file.workloads()) == 1 else p.key["workload"]
        few = f" in {v.n} launches" if v.kind == "range" else ""
        range_words = f"{ratio(v.lo)} to {ratio(v.hi)}{few}; " if v.kind != "none" else ""
        buckets = sorted({0} | {q.bucket for q in file.points})
        mode = "DDP" + (f" {bucket_words(p.bucket)}" if buckets.index(p.bucket) else "") if p.mode == "ddp" else "DataParallel"
        against = "the best single process" if p.cores else "one device"
        return times_words(v, f" times as fast as {against}") + f" ({range_words}{mode} on {p.k} devices, {name}, {p.rows} rows)"

    n, known = len(settings), sum(p.cores is not None for p, *_ in settings)
    pays = sum(pay > 0 for *_, pay in settings)
    unsure = sum(pay == 0 and p.cores is not None for p, *_, pay in settings)
    head = ("Not certain: data parallelism is" if least or not choice(file)[1] else
            f"Data parallelism pays in {pays} of {n} settings:" if pays else "Data parallelism is" if not known else
            "Whether data parallelism pays is not certain:" if unsure or known < n else "Data parallelism does not pay:")
    doubt = f" {doubts(file)}." if doubts(file) else ""
    second = [f"{'Of these, at' if counted < n else 'At'} worst {setting(*worst)}."] if ordered else []
    some = f", of the {counted} settings that are certain" if counted < n else ""
    against = "the best single process" if known == n else "one process" if known else "one device"
    first = (f"at best {setting(*best)}{some}" if ordered else setting(*best) if counted == 1 else
             f"not measured well enough in any of {n} settings" if least == 2 else
             f"{ratio(worst[1].middle)} to {ratio(best[1].middle)} times as fast as {against} in {counted} of {n} settings")
    if 0 < unsure < n:
        second += [f"In {unsure} of {n} settings it is not certain whether it pays."]
    if not known:
        second += ["One process on all cores was not measured, so whether it pays is not shown."]
    elif known < n:
        second += [f"In {n - known} of {n} settings one process on all cores was not measured, so whether it pays is not shown."]
    if peers:
        second += [peers.slide_words()]
    good = sum(l.ok for l in file.cells)
    said = f"{good} of {planned} planned launches {were(good)} verified, on virtual devices"
    said += " that share cores" if all(p.crowded for p, *_ in settings) else ", a core each"
    said += f"; {missing} not run." if missing else "."
    left = n - sum(map(len, slide_bars(file)))
    said += f" The page has {left} more {'setting' if left == 1 else 'settings'}." if left else ""
    return [f"{head} {first}.{doubt}", " ".join(second + state(file, True)), said]


class Peers:
    """A comparison with PyTorch; its steps are those after warm-up."""

    def __init__(self, path):
        self.file = json.load(open(path, encoding="utf-8"))

    @staticmethod
    def arm(cell, program, mode, k):
        return next((a for a in cell["arms"] if (a["program"], a["mode"], a["devices"]) ==
                     (program, mode, k)), None)

    # The groups of PyTorch's arms; lockstep is compared with the fastest arm of a group.
    GROUPS = {"parallel": ("ddp", "ddp-default"), "plain": ("plain", "compiled"), "products": ("products",)}
    WORDS = {"ddp": "PyTorch DDP over gloo, tuned, {} processes", "ddp-default": "PyTorch DDP over gloo, as it comes, {} processes",
             "plain": "PyTorch plain, 1 process", "compiled": "PyTorch plain by torch.compile, 1 process"}

    @staticmethod
    def step(arm):
        return Value([median(l["step_ns"]) for l in arm["launches"] if l["status"] == "ok"]).middle

    def choice(self, cell, groups, k):
        """By group, of those that are not absent."""
        return [[a for a in cell["arms"] if a["program"] == "pytorch" and "absent" not in a and
                 a["mode"] in self.GROUPS[group] and a["devices"] == (1 if group == "plain" else k)]
                for group in groups]

    def fastest(self, cell, groups, k):
        choice = self.choice(cell, groups, k)
        return min(sum(choice, []), key=self.step) if all(choice) else None

    @staticmethod
    def ratio(above, under, *unit):
        if not above or not under or not all(unit):
            return Value([])
        steps = [{l["round"]: median(l["step_ns"]) for l in a["launches"] if l["status"] == "ok"}
                 for a in (above, under, *unit)]
        return Value([steps[0][r] / steps[1][r] / (steps[2][r] / steps[3][r] if unit else 1)
                      for r in steps[0] if all(r in of for of in steps)])

    def step_rows(self):
        rows = []
        for cell in self.file["cells"]:
            for arm in cell["arms"]:
                good = [l for l in arm["launches"] if l["status"] == "ok"]
                step = Value([median(l["step_ns"]) for l in good])
                outside = Value([median(1 - m / s for m, s in zip(l["matmul_ns"], l["step_ns"]))
                                 for l in good if l.get("matmul_ns")])
                wide = step.kind != "interval" or step.hi - step.lo >= 0.2 * step.middle
                rows.append([None, time(step.middle) + ("?" if math.isfinite(step.middle) and wide else ""), spread(step, time), share(outside.middle),
                             f"absent: {arm['absent']}" if "absent" in arm else str(len(good))])
        return rows

    def words(self, cell, groups, k):
        """Which arm is the fastest, where there is a choice."""
        arm, choice = self.fastest(cell, groups, k), sum(self.choice(cell, groups, k), [])
        if arm is None or len(choice) < 2:
            return "-"
        n = arm["devices"]
        words = self.WORDS.get(arm["mode"], f"torch.mm alone, {n} x {-(-cell['batch'] // n)} rows").format(n)
        several = len({a["torch"] for a in cell["arms"] if "torch" in a}) > 1
        return words + (f" ({arm['torch']})" if several else "")

    def ratio_rows(self):
        k, rows = self.file["devices"], []
        for cell in self.file["cells"]:
            ours, one = (self.arm(cell, "lockstep", "dp", n) for n in (k, 1))
            ranks, bare = self.arm(cell, "lockstep", "ddp", k), self.arm(cell, "lockstep", "plain", 1)
            every, ddp, plain, products = (["parallel", "plain"], k), (["parallel"], k), (["plain"], 1), (["products"], k)
            alone = [self.fastest(cell, ["products"], n) for n in (1, k)]
            for above, under in ([(ours, every), (ours, ddp), (ours, plain)] + ([(ranks, ddp)] if ranks else []) +
                                 [(one, plain), (bare, plain)] +
                                 ([(ours, products), (one, (["products"], 1))] if all(alone) else [])):
                rows.append(self.ratio_row(self.ratio(above, self.fastest(cell, *under)), self.words(cell, *under)))
            speed_ups = [(one, ours), (self.fastest(cell, *plain), self.fastest(cell, *ddp))]
            if all(alone):
                speed_ups += [alone, (one, ours, *alone)]
            rows += [self.ratio_row(self.ratio(*sides), "-") for sides in speed_ups]
        return rows

    def slide_words(self):
        """Lockstep next to PyTorch's fastest program in all settings."""
        k, cells = self.file["devices"], self.file["cells"]
        all_of = [self.ratio(self.arm(c, "lockstep", "dp", k), self.fastest(c, ["parallel", "plain"], k)) for c in cells]
        torches = " and ".join([self.file["versions"]["torch"], *(b["torch"] for b in self.file["versions"].get("beside", []))])
        faster = sum(v.kind == "interval" and v.hi < 1 for v in all_of)
        busy = "; the machine was busy at the start" if self.file["machine"]["load_start"][0] > 0.5 else ""
        return (f"Lockstep is faster than PyTorch {torches} in {faster} of {len(cells)} settings: a step takes "
                f"{ratio(min(v.middle for v in all_of))} to {ratio(max(v.middle for v in all_of))} of the time of its fastest program{busy}.")

    @staticmethod
    def ratio_row(value, words):
        return [None, ratio(value.middle), spread(value, ratio), str(value.n), words]


# ---- strip ------------------------------------------------------------------------------------
def tenths(v):
    return f"{100 * v:.1f}{NBSP}%" if 100 * v < 9.95 else f"{100 * v:.0f}{NBSP}%"


def z_of(p):
    lo, hi = 0.0, 40.0
    for _ in range(200):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if 0.5 * math.erfc(-middle / math.sqrt(2)) < p else (lo, middle)
    return hi


def noise(file):
    cells = [p for p in file.points if len(p.ok) >= 3]
    wide = 1.4826 * median(abs(math.log(l.step / p.step.middle)) for p in cells for l in p.ok)
    least = math.expm1((z_of(0.95) + z_of(0.8)) * 1.05 * wide *
                       math.sqrt(2 / median(len(p.ok) for p in cells)))
    return wide, least


def beyond_chance(statistic, numbers):
    """Whether few of 999 other orders of these numbers are as far from 0; unknown is not."""
    seen, draw, other = abs(statistic(numbers)), random.Random(5), list(numbers)
    as_far = 1
    for _ in range(999):
        draw.shuffle(other)
        as_far += abs(statistic(other)) >= seen * (1 - 1e-9)
    return as_far <= 50


def drift(file, sure=False):
    """How much longer steps became; if sure, 0 unless that is beyond chance."""
    blocks = {}
    for p in file.points:
        if len(p.ok) < 3:
            continue
        cell = median(math.log(l.step) for l in p.ok)
        for l in p.ok:
            blocks.setdefault(l.key["launch"], []).append(
                (int(l.line["start_epoch_ns"]) / 3.6e12, math.log(l.step) - cell))
    if len(blocks) < 5:
        return nan
    means = [[sum(v) / len(v) for v in zip(*blocks[b])] for b in sorted(blocks)]
    x, y = [m[0] - means[0][0] for m in means], [m[1] for m in means]
    mx = sum(x) / len(x)
    below = sum((a - mx) ** 2 for a in x)
    if not below > 0:
        return nan

    def slope(y):
        my = sum(y) / len(y)
        return sum((a - mx) * (b - my) for a, b in zip(x, y)) / below
    return 0 if sure and not beyond_chance(slope, y) else math.expm1(slope(y) * (x[-1] - x[0]))


def lag1(x):
    mean = sum(x) / len(x)
    return sum((a - mean) * (b - mean) for a, b in zip(x, x[1:])) / sum((a - mean) ** 2 for a in x)


def alike(points):
    """The autocorrelation of launches that follow each other, each over the median of its cell; 0 if it may be chance."""
    off = sorted((int(l.line["start_epoch_ns"]) / 3.6e12, l.line["order_index"], math.log(l.step) - median(math.log(k.step) for k in p.ok))
                 for p in points if len(p.ok) >= 3 for l in p.ok)
    x = [o[2] for o in off]
    if len(x) < 20 or off[0][0] == off[-1][0] or max(x) == min(x):
        return 0
    return max(lag1(x), 0) if beyond_chance(lag1, x) else 0


def state(file, brief=False):
    """What intervals do not allow for; the slide has it in brief."""
    good = [l for l in file.cells if l.ok]
    change, said = drift(file, True), []
    much, unknown = sum(map(disturbed, good)), sum(l.line.get("foreign_frac") is None and not disturbed(l) for l in good)
    sessions = 1 + max(l.line["sitting"] for l in file.cells)
    if abs(change) > 0:
        said += [f"the machine drifted, times became {100 * abs(change):.0f} % {'longer' if change > 0 else 'shorter'}"]
    if file.alike > 0:
        alike = f"launches that follow each other are alike (autocorrelation {file.alike:.2f}), so "
        said += [f"{'' if brief else alike}intervals may be {widening(file.alike):.1f} times too narrow"]
    if much:
        most = [100 * max((number(l.line[name]) for l in good if l.line.get(name) is not None), default=0)
                for name in ("foreign_frac", "steal_frac")]
        why = f": up to {most[0]:.0f} % of the time of their cores went to other programs, {most[1]:.0f} % to other machines"
        said += [f"{much} of {len(good)} launches {were(much)} disturbed{'' if brief else why}"]
    if unknown and much and brief:
        said[-1] += f", of {unknown} it is not known"
    elif unknown:
        said += [f"whether {unknown} of {len(good)} launches {were(unknown)} disturbed is not known"]
    said += [f"there were {sessions} sessions, between which the machine may have changed"] if sessions > 1 else []
    return [f"Keep in mind: {'; '.join(said)}."] if said and file.run["source"] == "measured" else []


def strip_texts(file):
    """What must stand in the strip, word for word."""
    good = sum(l.ok for l in file.cells)
    run = file.run
    wide, least = noise(file)
    grade = "ABCD"[sum(wide > limit for limit in (0.01, 0.03, 0.10))]
    change = drift(file)
    _, named, kernels = run["blas"].rpartition("(")
    kernels = f", kernels {kernels.replace(')', '', 1)}" if named else ""
    texts = [f"verified {good}/{run['planned']}",
             f"All {run['planned']} planned launches of {len(file.points)} cells were measured and "
             "verified.", f"if it is at least {tenths(least)}",
             f"{run['cpu_model']}{kernels}, {count_words(run['cores'], 'core')}, "
             f"{count_words(run['usable_pus'], 'processing unit')}, {size(run['mem_bytes'])}",
             f"{run['created_utc'][:10]}, commit {run['git_sha'][:12]}"]
    words = f"noise {grade}: launches \u00b1{tenths(wide)}"
    if noisy_cells(file):
        texts.append(noisy_cells(file))
        words = f"They have a ? in the tables (Certain, under How to read this). All cells together: {words}. Two such"
    texts.append(words)
    known = [l.line["foreign_frac"] for l in file.cells
             if l.ok and l.line.get("foreign_frac") is not None]
    much = sum(map(disturbed, file.cells))
    much_words = f", {much} of {len(known)} launches disturbed" if much else ""
    if math.isfinite(change):
        texts.append(f"drift {'+' if change >= 0 else chr(0x2212)}{tenths(abs(change))}{much_words}")
    if known:
        texts.append(f"less than 5{NBSP}% of the cores in {sum(f < 0.05 for f in known)} of {len(known)} launches.")
    return texts


# ---- page -------------------------------------------------------------------------------------
HTML = "{http://www.w3.org/1999/xhtml}"


def text_of(node):
    return "".join(node.itertext())


def read_page(page):
    """Tables by id: rows of words, and the same from the link to its CSV."""
    root = xml.fromstring(page)
    tables, links = {}, {}
    for section in root.iter(HTML + "section"):
        table = section.find(f".//{HTML}table")
        if section.get("class") != "tables" or table is None:
            continue
        tables[section.get("id")] = [[text_of(c) for c in row.findall(HTML + "td")]
                                     for row in table.iter(HTML + "tr") if row.find(HTML + "td")
                                     is not None]
        href = section.find(f".//{HTML}a[@download]").get("href")
        content = urllib.parse.unquote(href.partition(",")[2])
        links[section.get("id")] = [row[1:] for row in csv.reader(io.StringIO(content))][1:]
    strip = next(h for h in root.iter(HTML + "header") if h.get("class") == "strip")
    said = {}
    for p in root.iter(HTML + "p"):
        said.setdefault(p.get("class"), text_of(p))
    captions = [text_of(c) for c in root.iter(HTML + "figcaption")]
    return tables, links, "\n".join(strip.itertext()), said, captions


MOST_WORDS = 40  # of a caption


def compare(page, expected, strip, paragraphs):
    """What differs, in words; and how many numbers were compared."""
    tables, links, found, said, captions = read_page(page)
    wrong, n = [], 0
    for name, text in paragraphs.items():
        n += len(re.findall(r"\d+(?:\.\d+)?", text))
        if said.get(name) != text:
            wrong.append(f"the {name} is '{said.get(name)}', not '{text}'")
    for caption in captions:
        if len(caption.split()) > MOST_WORDS:
            wrong.append(f"{len(caption.split())} words, more than {MOST_WORDS}, in '{caption}'")
    if not captions:
        wrong.append("there is no caption")
    for text in strip:
        n += len(re.findall(r"\d+(?:\.\d+)?", text))
        # There is no digit before or after: 12 is not in 112.
        if not re.search(r"(?<![\d.])" + re.escape(text) + r"(?![\d])", found):
            wrong.append(f"the strip lacks '{text}'")
    for name, rows in expected.items():
        if len(rows) != len(tables[name]):
            wrong.append(f"{name}: {len(tables[name])} rows, not {len(rows)}")
            continue
        for i, (want, got, link) in enumerate(zip(rows, tables[name], links[name])):
            if len(want) != len(got):
                wrong.append(f"{name}, row {i}: {len(got)} columns, not {len(want)}")
            for j, (a, b) in enumerate(zip(want, got)):
                n += 0 if a is None else len(re.findall(r"\d+(?:\.\d+)?", a))
                if a is not None and a != b:
                    wrong.append(f"{name}, row {i}, column {j}: '{b}', not '{a}'")
            if [c.lstrip("'") for c in link] != [c.lstrip("'") for c in got]:
                wrong.append(f"{name}, row {i}: the CSV has other words")
    return wrong, n


# ---- planted ----------------------------------------------------------------------------------
def numbers_of(page, expected):
    """Places of digits in cells and badges that were compared, and in nothing else."""
    places = []
    for match in re.finditer(r'<section class="tables" id="([\w-]+)">.*?</section>', page, re.S):
        if match[1] not in expected:
            continue
        rows = re.finditer(r"<tr[^>]*>(?:<td.*?</td>)+</tr>", match[0], re.S)
        for want, row in zip(expected[match[1]], rows):
            cells = re.finditer(r"<td[^>]*>(.*?)</td>", row[0], re.S)
            for a, cell in zip(want, cells):
                if a is not None:
                    start = match.start() + row.start() + cell.start(1)
                    places += [start + d.start() for d in re.finditer(r"\d", cell[1])]
    for begin, last in (('<header class="strip">', "</header>"), ('<p class="answer">', "</p>"),
                        ('<p class="lead">', "</p>")):
        start = page.index(begin)
        for words in re.finditer(r">([^<]+)<", page[start:page.index(last, start) + 1]):
            places += [start + words.start(1) + d.start() for d in re.finditer(r"\d", words[1])]
    return places


def plant(page, expected, strip, paragraphs):
    """Digits that were changed and not found, and a caption that is too long."""
    draw = random.Random(14)
    missed = []
    places = numbers_of(page, expected)
    in_strip = [at for at in places if at < page.index("</header>")]
    long = page.replace("</figcaption>", " word" * MOST_WORDS + "</figcaption>", 1)
    if not compare(long, expected, strip, paragraphs)[0]:
        missed.append("a long caption")
    for at in draw.sample(places, 40) + draw.sample(in_strip, 20):
        changed = page[:at] + str((int(page[at]) + 1) % 10) + page[at + 1:]
        if not compare(changed, expected, strip, paragraphs)[0]:
            missed.append(page[max(0, at - 40):at + 20])
    return missed


def elsewhere(lockstep, records, out, file, peers=None):
    """What is wrong with the sentences in summary.md, in annotations, and on the slide."""
    said = " ".join(answer(file))
    annotations = subprocess.run([lockstep, "report", records, "--format", "annotations"], check=False,
                                 capture_output=True, text=True).stdout
    wrong = []
    for name, text in (("summary.md", (out / "summary.md").read_text(encoding="utf-8").replace("\\", "")),
                       ("annotations", annotations.replace("%25", "%"))):
        if said not in text:
            wrong.append(f"{name} lacks '{said}'")
    if not choice(file)[2]:
        return wrong
    return wrong + slide_words(out, file, peers)


def waterfall_terms(out):
    """What is wrong with how sure the terms of a step are: 0 told apart from 0, 1 about 0, 2 from 0 to an end, 3 above 0."""
    wrong = []
    for line in (out / "waterfall.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line or not 1 < float(line.split("\t")[1]) < 16:
            continue
        start, end, lo, hi, sure, ns = map(float, line.split("\t")[2:8])
        term, least, most = end - start, lo - start, hi - start
        right = {0: min(term, least) > 0 or max(term, most) < 0, 1: most <= 0.02 + 1e-6, 2: most > 0.02 - 1e-6 and ns > 0,
                 3: term > 0 and ns > 0}[sure]
        if not right:
            wrong.append(f"the term {line} is not as sure as that")
    if re.search("(about|0 to) [-\u2212]", (out / "waterfall.svg").read_text(encoding="utf-8")):
        wrong.append("a time of the waterfall is negative")
    return wrong


def slide_words(out, file, peers=None):
    """What is wrong with the slide, and with the waterfall."""
    wrong = waterfall_terms(out)
    everything = [line.partition("\t")[2] for line in (out / "slide-text.tsv").read_text(encoding="utf-8").splitlines()]
    words = (out / "slide-text.tsv").read_text(encoding="utf-8").splitlines()[:3]
    drawn = " ".join(" ".join(xml.parse(out / "slide.svg").getroot().itertext()).split())
    for text, line in zip(slide_sentences(file, peers), words):
        if line.partition("\t")[2] != text or text not in drawn:
            wrong.append(f"the slide says '{line}', not '{text}'")
    *panels, caption = slide_panels(file)
    if [line for line in everything[3:-1] if re.match(r"(\d+ rows|against )", line)] != panels:
        wrong.append(f"the panels of the slide are {everything[3:-1]}, not {panels}")
    if caption not in drawn:
        wrong.append(f"the slide lacks '{caption}'")
    size_of_png = (out / "slide.png").read_bytes()[16:24]
    if struct.unpack(">II", size_of_png) != (1920, 1080):
        wrong.append("the slide is not 1920 x 1080")
    return wrong


MADE_UP = ["good", "six", "six-alike", "three", "flaky", "failing", "all-failing", "one-noisy", "beyond", "beyond-once", "busy"]


def made_up(lockstep, make_records, out):
    """What is wrong with the sentences about made-up records: each kind, and each without its last launches."""
    wrong, said = [], set()
    for kind in MADE_UP:
        whole = out / f"{kind}.jsonl"
        subprocess.run([make_records, "six" if kind == "busy" else kind, whole], check=True)
        lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
        if kind == "busy":
            # Two of three launches were disturbed.
            lines = [line.replace('"foreign_frac":null', f'"foreign_frac":{0.4 if i % 3 else 0.1}') for i, line in enumerate(lines)]
            whole.write_text("".join(lines), encoding="utf-8")
        cut = out / f"{kind}-cut.jsonl"
        cut.write_text("".join(lines[:-1 - len(lines) // 10]), encoding="utf-8")
        for path in (whole, cut):
            text = " ".join(answer(File(path)))
            got = subprocess.run([lockstep, "report", path, "--format", "annotations"], check=False,
                                 capture_output=True, text=True).stdout
            said.add(re.sub("[0-9.]+", "N", text))
            if f"::{text} " not in got.replace("%25", "%"):
                wrong.append(f"of {path.name} lacks '{text}': {got.splitlines()[-1:]}")
    # The slide of an interrupted sweep has all of its sentences, too.
    cut = out / "three-cut.jsonl"
    subprocess.run([lockstep, "report", cut, "--slide", "--out", out / "cut"], check=False, capture_output=True)
    wrong += elsewhere(lockstep, cut, out / "cut", File(cut))
    if not (out / "cut" / "slide.svg").exists() or " not run." not in slide_sentences(File(cut))[-1]:
        wrong.append("there is no slide of an interrupted sweep")
    # A real sweep has one process on all cores, and a fast or a slow one.
    whole = out / "cores.jsonl"
    subprocess.run([lockstep, "sweep", "--bind", "none", "--seconds", "0.02", "--steps", "2:6", "--devices", "virt:2", "--counts", "1,2",
                    "--batch", "31,64", "--mode", "plain,plain-mt,dp,ddp", "--launches", "6", "--workload", "mlp:64,96,10", "--out", whole],
                   check=True, capture_output=True)
    subprocess.run([lockstep, "report", whole, "--slide", "--out", out / "cores"], check=False, capture_output=True)
    wrong += slide_words(out / "cores", File(whole))
    rows = read_page((out / "cores" / "index.html").read_text(encoding="utf-8"))[0]["answers"]
    if rows != answer_rows(File(whole)):
        wrong.append(f"the answers of {whole.name} are {rows}, not {answer_rows(File(whole))}")
    got = subprocess.run([lockstep, "report", whole, "--format", "annotations"], check=False, capture_output=True, text=True).stdout
    if f"::{' '.join(answer(File(whole)))} " not in got.replace("%25", "%") or "process" not in got:
        wrong.append(f"of {whole.name} lacks '{' '.join(answer(File(whole)))}': {got.splitlines()[-1:]}")
    if len(said) < len(MADE_UP):
        wrong.append(f"made-up records make only {len(said)} different answers")
    return wrong


def main():
    lockstep, records, peer, work, *make_records = sys.argv[1:]
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is not installed", file=sys.stderr)
        return 77
    out = pathlib.Path(work)
    shutil.rmtree(out, ignore_errors=True)
    more = ["--peer", peer] if peer != "-" else []
    subprocess.run([lockstep, "report", records, *more, "--slide", "--out", out], check=True)
    page = (out / "index.html").read_text(encoding="utf-8")
    file, peers = File(records), Peers(peer) if peer != "-" else None
    good = sum(l.ok for l in file.cells)
    expected = {
        "answers": answer_rows(file), "bases": base_rows(file), "cells": cell_rows(file),
        "beside": beside_rows(file), "overlap": overlap_rows(file), "slowest": slowest_rows(file), "memory": memory_rows(file),
        "counts": [[f"{file.run['run_id'][:8]}, {file.run['created_utc'][:20]}",
                    str(file.run["planned"]),
                    str(sum(len(l.line["raw"]["t_step_ns"]) > 0 for l in file.cells)), str(good),
                    str(len(file.cells) - good), "0", str(file.run["planned"] - len(file.cells)),
                    timed_words(file)]],
        "costs": cost_rows(file)}
    if peers:
        expected |= {"peer-steps": peers.step_rows(), "peer-ratios": peers.ratio_rows()}
    expected = {name: rows for name, rows in expected.items() if rows}
    strip, paragraphs = strip_texts(file), sentences(file)
    wrong, n = compare(page, expected, strip, paragraphs)
    wrong += elsewhere(lockstep, records, out, file, peers)
    wrong += made_up(lockstep, make_records[0], out) if make_records else []
    for line in wrong[:40]:
        print(f"FAILED: {line}", file=sys.stderr)
    missed = [] if wrong else plant(page, expected, strip, paragraphs)
    for line in missed:
        print(f"FAILED: a changed number is not found: {line}", file=sys.stderr)
    print(f"{n} numbers on the page made again: {len(wrong)} differ; of 60 changed digits "
          f"{len(missed)} were not found")
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
