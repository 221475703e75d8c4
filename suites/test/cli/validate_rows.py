"""False passes and wrong limits that shipped with other tools: the verdict of each here.

validate_rows.py LOCKSTEP FOLDER MAKE_RECORDS

A row is one of them: what happened there, as a profile and records of make_records, and the verdict
that is right. Records are shapes of files: their times follow a formula. `status` is the exit status,
`verdicts` those of the limits, None where there is no verdict at all. `control` is the same with
the mistake put right: it shows that the row is not good for another reason.
"""
import json
import os
import subprocess
import sys

LOCKSTEP, FOLDER, MAKE_RECORDS = sys.argv[1:]

# 30 rows of it take 5.5 us and noise: 5.4 million rows a second.
CELL = {"workload": "tutorial", "mode": "dp", "devices": 2, "batch": 30}
THREE = dict(CELL, devices=3)
MLP = {"workload": "mlp:1024,1024,1024,1024", "mode": "dp", "devices": 2}
B200 = ['"model":""', '"model":"NVIDIA B200"']


def limit(metric, at, statistic="typical", kind="binding", **bounds):
    row = {"metric": metric, "at": at, "kind": kind, "source": "a made-up table",
           "date": "2026-11-23", "evidence": "published", **bounds}
    return row if statistic is None else dict(row, statistic=statistic)


def rate(minimum, expected=None):
    bounds = {"min": minimum} if expected is None else {"min": minimum, "expected": expected}
    return limit("throughput", CELL, **bounds)


def step(maximum, at=CELL, **more):
    return limit("step_time", at, max=maximum, **more)


def case(status, limits, verdicts=None, records=("old",), words="", device=None, **more):
    return dict(status=status, limits=limits, verdicts=verdicts, records=records, words=words,
                device=device, **more)


ROWS = [
    ("a limit in the wrong unit never fails: MB/s where GB/s was meant",
     case(3, [rate("5 ksamples/s", "5.4 Msamples/s")], ["INVALID"], words="of another unit",
          check="of another unit"),
     case(1, [rate("5 Msamples/s", "5.4 Msamples/s")], ["FAIL"], ["old 1.5"])),
    ("a limit that lost a digit: 137,500 where 1,372,500 was computed",
     case(3, [rate("0.5 Msamples/s", "5.4 Msamples/s")], ["INVALID"], words="lost a digit",
          check="lost a digit"),
     case(1, [rate("5 Msamples/s", "5.4 Msamples/s")], ["FAIL"], ["old 1.5"])),
    ("a bound without a number to hold it against: ms where us was meant",
     case(3, [step("5.7 ms")], ["INVALID"], words="it stays PASS even at 0.3 of the speed: write a bound near",
          check="it stays PASS even at 0.3 of the speed"),
     case(0, [step("5.7 us")], ["PASS"])),
    ("launches scatter so much that a third of the speed keeps the limit",
     case(3, [step("25 us")], ["INVALID"], ["old", "old 4"], words="these 16 launches scatter so much",
          check="these 16 launches scatter so much"),
     case(0, [step("25 us")], ["PASS"], ["old 4", "old 4"])),
    ("a machine without a limit passes: its default is 0",
     case(3, [rate("0 samples/s")], ["INVALID"], words="no min above 0", check="no min above 0"),
     case(2, [rate("5 Msamples/s")], match={"gpu_model": "NVIDIA GB200"},
          words="the profile is for GPU 'NVIDIA GB200', the records are of 'none'")),
    ("a machine is held against the limit of the model before",
     case(2, [rate("2 Msamples/s")], match={"gpu_model": "NVIDIA H100"}, edit=B200,
          words="the profile is for GPU 'NVIDIA H100', the records are of 'NVIDIA B200'"),
     case(0, [rate("2 Msamples/s")], ["PASS"], match={"gpu_model": "NVIDIA B200"}, edit=B200)),
    ("two official limits for one test",
     case(2, [rate("4 Msamples/s"), rate("5 Msamples/s")], words="is binding, too, at the same"),
     case(0, [rate("4 Msamples/s"), dict(rate("9 Msamples/s"), kind="advisory")],
          ["PASS", "FAIL"])),
    ("a platform that is not known, and a checker's own error: exit 0",
     case(2, [rate("4 Msamples/s")], match={"cpu_model": "Another CPU"},
          words="the profile is for the processor"),
     case(3, [rate("1 samples/s")], ["INVALID"], ["all-failing"], words="not verified")),
    ("a dependency is missing: \"not available\" counts as success",
     case(3, [limit("moved", CELL, None, max="1 B")], ["UNMEASURED"], words="has no moved"),
     None),
    ("a diagnostic could not run, and ends successfully",
     case(3, [step("1 s")], ["UNMEASURED"], ["no-cells"], words="no cell of the records"),
     None),
    ("limits exist, and are not enforced unless somebody asks",
     case(3, [step("6 us", kind="advisory")], ["PASS"]),
     case(0, [step("6 us")], ["PASS"])),
    ("the peak over all sizes is compared",
     case(1, [limit("throughput", MLP, min="10 ksamples/s")], ["FAIL"], words="10 rows"),
     case(0, [limit("throughput", dict(MLP, batch=30), min="10 ksamples/s")], ["PASS"])),
    ("the limit says bf16, and another type was measured",
     case(3, [step("1 s", dict(CELL, math="bf16"))], ["UNMEASURED"], words="no cell of the records"),
     case(0, [step("6 us", dict(CELL, math="f32"))], ["PASS"])),
    ("no cell matched, so none failed",
     case(3, [step("1 s", dict(CELL, batch=12345))], ["UNMEASURED"],
          words="no cell of the records"),
     None),
    ("tried again until it passed once",
     case(1, [step("5.7 us")], ["FAIL"], ["slower", "slower", "slower", "old"]),
     case(0, [step("5.7 us")], ["PASS"])),
    ("one GPU at 35 % of its speed passes the longest level",
     case(1, [limit("device_spread", THREE, "floor", max="1.05 x")], ["FAIL"], ["one-third"],
          device=1),
     # All equally slow: nothing of the spread, so a limit of the spread alone is not enough.
     case(1, [limit("device_spread", CELL, "floor", max="1.05 x"), step("5.7 us")],
          ["PASS", "FAIL"], ["old 2.86"])),
    ("the straggler rule blames the rank that waits",
     case(1, [limit("device_spread", THREE, "cost", max="1.05 x")], ["FAIL"], ["one-third"],
          words="device 1", device=1),
     case(1, [limit("device_spread", THREE, "cost", max="1.05 x")], ["FAIL"], ["one-slow"],
          device=1)),
]

# These are false alarms of counters that records do not have: how long a GPU was held back, and why.
# A limit of them is refused. When there is such a metric, its row belongs above.
NO_METRIC = [
    ("a thermal violation of 0.0 s fails a good machine", "thermal_violation", "0 s"),
    ("a healthy power cap fails a good machine", "throttle_reasons", "0 x"),
]


def run(*arguments):
    return subprocess.run([LOCKSTEP, *arguments], capture_output=True, text=True, check=False)


def make_records(name, kinds, edit):
    paths = []
    for i, kind in enumerate(kinds):
        paths.append(f"{name}-{i}.jsonl")
        kind, *factor = kind.split()
        subprocess.run([MAKE_RECORDS, kind, paths[-1], *factor], check=True)
        with open(paths[-1], encoding="utf-8") as file:
            text = file.read()
        run_id = json.loads(text.split("\n", 1)[0])["run_id"]
        text = text.replace(run_id, f"{i:08x}{run_id[8:]}")
        text = text.replace('"start_epoch_ns":"1795', f'"start_epoch_ns":"{1795 + i}')
        if edit:
            assert edit[0] in text
            text = text.replace(*edit)
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text)
    return paths


def make_profile(path, limits, match):
    with open(path, "w", encoding="utf-8") as file: # JSON is YAML
        json.dump({"schema": "lockstep/profile/1.0", "name": "row", "match": match,
                   "limits": limits}, file)


def say(verdict):
    shown = [(x["place"], x["reason"], x["likely"]) for x in verdict["limits"]]
    return "\n".join(" ".join(texts) for texts in shown)


def judge(name, row):
    """What is wrong with the verdict of a row; '' if nothing is."""
    records = make_records(name, row["records"], row.get("edit"))
    make_profile(name + ".yaml", row["limits"], row.get("match", {}))
    done = run("validate", "--profile", name + ".yaml", "--format", "json", *records)
    if done.returncode != row["status"]:
        return f"exit status {done.returncode}, not {row['status']}: {done.stdout}{done.stderr}"
    if row["verdicts"] is None:
        return "" if done.stdout == "" and row["words"] in done.stderr else f"words: {done.stderr}"
    verdict = json.loads(done.stdout)
    machine = {0: "ACCEPTED", 1: "REJECTED", 3: "NOT SHOWN"}[row["status"]]
    found = [x["verdict"] for x in verdict["limits"]]
    devices = [x["device"] for x in verdict["limits"] if x["verdict"] == "FAIL"]
    if verdict["verdict"] != machine or found != row["verdicts"]:
        return f"{verdict['verdict']} with {found}: {say(verdict)}"
    if row["device"] is not None and devices != [row["device"]]:
        return f"device {devices}, not {row['device']}"
    if row["words"] not in say(verdict):
        return f"not '{row['words']}' in: {say(verdict)}"
    if "check" in row:
        checked = run("validate", "check", name + ".yaml", *records)
        if checked.returncode != 1 or row["check"] not in checked.stderr:
            return f"validate check: {checked.returncode}, {checked.stderr}"
    return ""


def main():
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    bad = 0
    for number, (name, row, control) in enumerate(ROWS):
        for kind, one in (("row", row), ("control", control)):
            problem = judge(f"{kind}{number}", one) if one else ""
            bad += problem != ""
            if problem:
                print(f"FAILED: {name} ({kind}): {problem}", file=sys.stderr)
    metrics = run("validate", "check", "--metrics").stdout
    for name, metric, bound in NO_METRIC:
        make_profile("no.yaml", [limit(metric, CELL, None, max=bound)], {})
        done = run("validate", "--profile", "no.yaml", *make_records("no", ["old"], None))
        if metric in metrics or done.returncode != 2 or "it is not known" not in done.stderr:
            bad += 1
            print(f"FAILED: {name}: {done.returncode}, {done.stderr}", file=sys.stderr)
    print(f"{len(ROWS)} rows with a verdict, {len(NO_METRIC)} without a metric, {bad} wrong")
    return bad > 0


sys.exit(main())
