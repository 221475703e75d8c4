#!/usr/bin/env python3
"""Reads a trace of `lockstep sweep --trace` by a JSON parser that is not ours, and checks it."""
import argparse
import collections
import json
import sys

STEPS = 3


def complain(text):
    print(f"trace_check: {text}", file=sys.stderr)
    sys.exit(1)


def number(event, key):
    """A time in ns: it has at most three digits behind the point."""
    if not isinstance(event.get(key), (int, float)) or event[key] < 0:
        complain(f"'{key}' of {event}")
    return round(event[key] * 1000)


def names_of(events, what):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == what}


def check_row(name, row, slack):
    """In order of time no event begins before the last one has ended."""
    row.sort(key=lambda event: (number(event, "ts"), number(event, "dur")))
    for one, next_one in zip(row, row[1:]):
        if number(one, "ts") + number(one, "dur") > number(next_one, "ts") + slack:
            complain(f"{name}: {one} and {next_one} overlap")


def check_step(name, step, phases, devices, slack):
    """What the rows show of each phase is what the step's record has of it."""
    begin = number(step, "ts")
    end = begin + number(step, "dur")
    shown = collections.Counter()
    for event in phases:
        at, long = number(event, "ts"), number(event, "dur")
        shown[event["name"], (event["tid"] - 1) // 2] += long
        if slack == 0 and not begin <= at <= at + long <= end:
            complain(f"{name}: {event} is not within its step, {step}")
    if step["args"]["left_out"] != 0:
        complain(f"{name}: {step['args']['left_out']} events had no place")
    recorded = {}
    for phase, times in step["args"]["phases_ns"].items():
        if len(times) != devices:
            complain(f"{name}: {phase} of {len(times)} devices, there are {devices}")
        recorded.update({(phase, device): ns for device, ns in enumerate(times) if ns > 0})
    for key in recorded.keys() | shown.keys():
        if abs(shown[key] - recorded.get(key, 0)) > slack:
            complain(f"{name}: {key}: {shown[key]} ns shown, {recorded.get(key)} ns recorded")
    if {device for _, device in recorded} != set(range(devices)):
        complain(f"{name}: a device without a phase")


def check_cell(name, events, rows, slack):
    devices = sum(row.endswith(" compute") for row in rows.values())
    steps = [event for event in events if event["cat"] == "step"]
    phases = [event for event in events if event["cat"] == "phase"]
    if len(steps) != STEPS or devices < 1:
        complain(f"{name}: {len(steps)} steps on {devices} devices")
    for tid in {event["tid"] for event in events}:
        if tid not in rows:
            complain(f"{name}: row {tid} has no name")
        check_row(f"{name}, {rows[tid]}", [e for e in events if e["tid"] == tid], slack)
    for step in steps:
        own = [event for event in phases if event["args"]["step"] == step["args"]["step"]]
        check_step(name, step, own, devices, slack)
    return {event["name"] for event in events}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("cells", type=int)
    parser.add_argument("--slack", type=int, default=0, help="ns, where devices have clocks of their own")
    parser.add_argument("--names", default="", help="events that must be somewhere")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    if {event["ph"] for event in events} - {"X", "M"}:
        complain("events of other kinds than X and M")
    cells, rows = names_of(events, "process_name"), names_of(events, "thread_name")
    if len(cells) != arguments.cells or len(set(cells.values())) != arguments.cells:
        complain(f"{len(cells)} cells, must be {arguments.cells}: {sorted(cells.values())}")
    seen = set()
    for (pid, _), name in cells.items():
        own = [event for event in events if event["pid"] == pid and event["ph"] == "X"]
        named = {tid: row for (of, tid), row in rows.items() if of == pid}
        seen |= check_cell(name, own, named, arguments.slack)
    missing = set(filter(None, arguments.names.split(","))) - seen
    if missing:
        complain(f"no event is called {sorted(missing)}")


main()
