#!/usr/bin/env python3
"""Compares the tagging CPU time of two builds of dropchain, interleaved, on one thread.

python3 before.py PROGRAM_BEFORE PROGRAM_AFTER MODEL INPUT FORMAT [MODEL INPUT FORMAT…]
"""

import os, subprocess, sys

ROUNDS = 7


def cpu_seconds(program, model, source, form):
    command = [program, "tag", model, source, "--format", form, "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


programs, cases = sys.argv[1:3], sys.argv[3:]
print("| input | before | after | after / before |\n|---|---|---|---|")
for model, source, form in zip(cases[::3], cases[1::3], cases[2::3]):
    rounds = [[cpu_seconds(p, model, source, form) for p in programs] for _ in range(ROUNDS)]
    before, after = map(min, zip(*rounds))
    name = f"{form} ({os.path.basename(model)})"
    print(f"| {name} | {before:.2f} s | {after:.2f} s | {after / before:.2f} |")
