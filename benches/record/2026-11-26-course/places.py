#!/usr/bin/env python3
"""Where the recall bias acts, over five folds of whole corpora, on data that did not choose it.

    python3 places.py train PROGRAM CORPORA OUT
    python3 places.py table PROGRAM CORPORA OUT > places.md

README.md in this folder describes what is run and how the table is read. Needs NumPy for the table.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../2026-11-22-folds"))
import folds
from selection import choose

TWEETS = ("wnut17/train.conll", "")
COURSES = {"L2 0.1": ["--dropout", "0", "--l2", "0.1"], "default": []}
CASES = [
    folds.case("Dutch", folds.DUTCH, "ner", COURSES, "--document", "sentence"),
    folds.case("Spanish", folds.SPANISH, "ner", COURSES),
    folds.case("W-NUT 2017", TWEETS, "ner", COURSES),
]
BIASES = "-0.5,0,0.5,1,1.5,2,3"
# What part of the bias is added inside spans, beside all of it at their starts.
PLACES = {"none": [], "starts": [0.0], "between": [0.5], "`O`": [1.0], "starts or `O`": [0.0, 1.0]}
GROUPS, WARM_UP = 40, 20


def train(measurement):
    """Trains on all folds but one with each course, as far as there is no result."""

    def run(job):
        case, end, fold, course = job
        result = measurement.path(case.name, fold, course, "scores")
        if os.path.exists(result):
            return
        files = [measurement.path(case.name, fold, kind + end) for kind in ("train", "dev")]
        command = [measurement.program, "train", files[0], "--dev", files[1], *case.options]
        command += [*COURSES[course], "--max-iterations", "90", "--patience", "1000", "--force"]
        command += ["--model", result + ".model", "--threads", "1", "--quiet", "--format", "conll"]
        found = {"SELECTION_OUT": result + ".part", "SELECTION_BIASES": BIASES}
        subprocess.run(command, env={**os.environ, **found}, check=True)
        os.replace(result + ".part", result)

    ends = {case: measurement.split(case) for case in CASES}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [(c, ends[c], f, n) for c in CASES for f in range(5) for n in COURSES]))


def f1(counts):
    """Returns F1 scores from counts of right, predicted and gold spans in the last axis."""
    return 200 * counts[..., 0] / (counts[..., 1] + counts[..., 2]).clip(1)


def mean(scores, width, warm_up):
    """Averages over iterations with the same objective; iteration 0 stands alone."""
    first = [max(min(i, 1), i + 1 - width, (i > warm_up) * (warm_up + 1)) for i in range(99)]
    return [scores[first[i] : i + 1].mean(0) for i in range(len(scores))]


def held_out(path, places, width, warm_up):
    """Returns the score on halves of a fold that did not choose, and the iteration chosen."""
    import numpy

    variants = {}
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            variants.setdefault((line["inside"], line["bias"]), []).append(line["groups"])
    keys = [key for key in variants if key[1] == 0 or key[0] in places]
    # [iterations][biases][groups][counts]
    counts = numpy.stack([numpy.array(variants[key], float) for key in keys], 1)
    draw, found = random.Random(3), []
    halves = [draw.sample(range(GROUPS), GROUPS // 2) for _ in range(30)]
    for half in halves + [[g for g in range(GROUPS) if g not in half] for half in halves]:
        rest = [group for group in range(GROUPS) if group not in half]
        seen, other = (f1(counts[:, :, groups].sum(2)) for groups in (half, rest))
        means = mean(seen, width, warm_up)
        best = choose([row.max() for row in means])
        found.append((other[best, means[best].argmax()], best))
    scores, iterations = zip(*found)
    return statistics.mean(scores), statistics.median(iterations)


def table(measurement):
    """Prints the table."""
    print(f"| corpus | course | mean of | {' | '.join(PLACES)} |\n{'|---' * (3 + len(PLACES))}|")
    for case in CASES:
        for course in COURSES:
            paths = [measurement.path(case.name, fold, course, "scores") for fold in range(5)]
            for width in (1, 5):
                cells = []
                for places in PLACES.values():
                    warm_up = WARM_UP if course == "default" else 0
                    found = [held_out(path, places, width, warm_up) for path in paths]
                    score, iteration = map(statistics.mean, zip(*found))
                    cells.append(f"{score:.2f} ({iteration:.0f})")
                print(f"| {case.name} | {course} | {width} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    step, *paths = sys.argv[1:]
    paths = argparse.Namespace(**dict(zip(("program", "corpora", "out"), paths)), minutes=1e6)
    globals()[step](folds.Measurement(paths))
