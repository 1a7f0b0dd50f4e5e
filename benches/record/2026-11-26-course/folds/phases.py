#!/usr/bin/env python3
"""Courses in phases over the folds that folds.py has written: phases.py PROGRAM OUT > phases.md

Each phase continues the weights of the one before (`--init`). The last two kinds of courses need a
program that is patched with phases.patch, which reads the environment; the others do not.
"""

import json
import os
import statistics
import subprocess
import sys

PLAIN = "--dropout 0"
DEFAULT = "--dropout 0.3 --edge-dropout 0.6"
REWEIGHTED = "--gradient reweighted --dropout 0.1 --edge-dropout 0.2"
COURSES = {  # options and iterations of each phase, environment
    "rates that grow": (
        [
            (PLAIN, 20),
            ("--dropout 0.1 --edge-dropout 0.2", 10),
            ("--dropout 0.2 --edge-dropout 0.4", 10),
            (DEFAULT, None),
        ],
        {},
    ),
    "rates that fall": (
        [
            (PLAIN, 20),
            ("--dropout 0.5 --edge-dropout 0.8", 20),
            ("--dropout 0.15 --edge-dropout 0.3", None),
        ],
        {},
    ),
    "reweighted, then eq. 14": ([(PLAIN, 20), (REWEIGHTED, 40), (DEFAULT, None)], {}),
    "eq. 14, then fixed": (
        [(PLAIN, 20), (DEFAULT, 30), (DEFAULT + " --gradient reweighted=1000", None)],
        {},
    ),
    "no noise below 2 tokens": ([(DEFAULT, None)], {"DC_MIN": "2"}),
    "no noise below 4 tokens": ([(DEFAULT, None)], {"DC_MIN": "4"}),
    "floor 0.005": ([(DEFAULT, None)], {"DC_FLOOR": "0.005"}),
    "floor 0.02, L2 0.03": ([(DEFAULT + " --l2 0.03", None)], {"DC_FLOOR": "0.02"}),
}
CASES = {
    "W-NUT-2017--ner": (".conll", "--template ner --scheme io"),
    "Dutch--ner": (".train", "--columns word,pos,ner --template ner --document sentence"),
}


def score(program, out, case, fold, course):
    """Trains the phases of a course; returns the best score of the last one."""
    (end, options), (phases, environment) = CASES[case], COURSES[course]
    train, dev = (os.path.join(out, f"{case}-{fold}.{kind}{end}") for kind in ("train", "dev"))
    files = [os.path.join(out, f"phase{i}.model") for i in range(len(phases))]
    log = os.path.join(out, "phase.log")
    for i, (own, iterations) in enumerate(phases):
        command = [program, "train", train, *options.split(), *own.split(), "--model", files[i]]
        command += ["--log", log, "--threads", "1", "--quiet", "--force"]
        if i > 0:
            command += ["--warm-up", "0", "--init", files[i - 1]]
        command += ["--max-iterations", str(iterations)] if iterations else ["--dev", dev]
        if subprocess.run(command, env={**os.environ, **environment}).returncode not in (0, 3):
            sys.exit(f"{command} failed")
    with open(log, encoding="utf-8") as file:
        return 100 * max(json.loads(line).get("dev_f1", 0) for line in file)


def main():
    """Prints a row for each corpus and course."""
    program, out = sys.argv[1:]
    for case in CASES:
        for course in COURSES:
            scores = [score(program, out, case, fold, course) for fold in range(5)]
            cells = [case, course, f"{statistics.mean(scores):.2f}"]
            cells.append(" ".join(f"{score:.2f}" for score in scores))
            print(f"| {' | '.join(cells)} |", flush=True)


main()
