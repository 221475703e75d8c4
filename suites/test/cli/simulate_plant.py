"""Plants steps: records of a sweep whose ranks are processes, made those of a step that is known.

  simulate_plant.py RECORDS OUT

A step computes 3 ms and 0.1 ms for each row of its largest shard, 31 % of it forward, 59 % backward
and 10 % the update; a message takes 0.2 ms and 10 ns for a byte, and everybody sends to everybody
twice. Nothing is hidden. Lines are no longer chained.
"""

import json
import sys

from baseline_plant import bare

ALPHA, BETA, FIXED, ROW = 200_000, 10, 3_000_000, 100_000
PARTS = {"forward": 0.3, "loss": 0.01, "backward": 0.59, "update": 0.1}
SAME = ("median", "mean", "min", "max", "p05", "p25", "p75", "p95")


def fill(values, number):
    """The same number in all places of nested lists."""
    if isinstance(values, list):
        return [fill(value, number) for value in values]
    return None if values is None else number


def plant(cell):
    ranks, size = cell["cell"]["n_devices"], 4 * cell["model_params"]
    compute = FIXED + ROW * -(-cell["cell"]["global_batch"] // ranks)
    buckets = -(-size // (cell["cell"]["bucket_bytes"] or size))
    comm = round(2 * (ranks - 1) * (buckets * ALPHA + BETA * size / ranks))
    step, raw = compute + comm, cell["raw"]
    raw["t_step_ns"] = fill(raw["t_step_ns"], step)
    raw["flags"] = [flag & 1 for flag in raw["flags"]]
    raw["t_start_ns"] = [2 * step * i for i in range(len(raw["t_start_ns"]))]
    for name, part in {**PARTS, "reduce": 0}.items():
        number = comm if name == "reduce" else round(part * compute)
        if raw["phase_ns"][name] is not None:
            raw["phase_ns"][name] = fill(raw["phase_ns"][name], number)
            cell["phase_median_ns"][name] = float(number)
    rounds = len((raw.get("rounds_ns") or {"whole": []})["whole"])
    cell["wall_ns"] = cell["setup_ns"] + 2 * step * (len(raw["t_step_ns"]) + rounds)
    # The real ones took another time: it is as in a record of before.
    cell["verify_ns"] = cell["launch_ns"] = 0
    cell["clock_ratio"] = None
    raw["matmul_ns"] = fill(raw["matmul_ns"], 0)
    if raw.get("rounds_ns"):
        for name, number in {"compute": compute, "comm": comm, "whole": step}.items():
            raw["rounds_ns"][name] = fill(raw["rounds_ns"][name], number)
        cell.update(compute_alone_ns=compute, comm_alone_ns=comm, whole_ns=step)
        cell["hidden_frac"] = 0.0 if ranks > 1 else None
    cell.update({f"{name}_ns": float(step) for name in SAME})
    cell.update(cv=0.0, rho1=0.0, n_eff=float(cell["n_valid"]), outside_frac=1.0, throughput_samples_per_s=cell["cell"]["global_batch"] * 1e9 / step)


def main():
    with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], "w", encoding="utf-8") as out:
        for line in source:
            record = json.loads(bare(line.rstrip("\n")))
            if "run/" in record.get("schema", ""):
                record["schema"] = "lockstep/run/1.1"
            if record.get("schema", "").startswith("lockstep/cell/"):
                plant(record)
            print(json.dumps(record, separators=(",", ":")), file=out)


if __name__ == "__main__":
    main()
