#!/usr/bin/env python3
"""The simulation of rare but useful features: Wager, Wang and Liang (2013), section 4.1, table 3.

    python3 benches/reproduce/simulation.py OUT [--runs 100] [--fixed]

50 features carry the signal, in 5 groups of 10 that are active in 4 % of documents each; 1000 are
standard normal noise. All have a mean square of 1. A document with an active group has y ~
σ(0.057·Σ x) of its features, others a fair coin. Each run trains on 75 documents, 3 of each of 25
groups of which 5 exist, and tests on 1000. Strengths are those that are best on 20 other runs;
with `--fixed`, a few are shown instead, and none is chosen. Writes OUT/simulation.md and .json, or
OUT/simulation-fixed.md and .json.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GROUPS, SIZE, NUISANCE, PERIOD = 5, 10, 1000, 25
BETA = 0.057
TRAIN, TEST, TUNING = 75, 1000, 20
SHARED = ["--masks", "inputs"]
L2 = ("1", "3", "10", "32", "100", "300", "1000", "3000")
RATES = ("0.5", "0.7", "0.9", "0.95")
WITH_NOISE = [["--dropout", rate, "--l2", l2]
              for rate in RATES for l2 in ("0.1", "1", "10", "100", "1000")]
METHODS = {
    "L2": [["--dropout", "0", "--l2", l2] for l2 in L2],
    "dropout, eq. 12": [[*SHARED, *options] for options in WITH_NOISE],
    "dropout, eq. 8": WITH_NOISE,
    "fast dropout": [[*SHARED, "--noise", "gaussian-scores", *options] for options in WITH_NOISE],
}
FIXED = {
    f"{name}, c2 = {l2}": [*options, "--l2", l2]
    for name, options, strengths in (
        ("L2", ["--dropout", "0"], ("1", "32", "300")),
        ("L2, also of the bias", ["--dropout", "0", "--penalize-bias"], ("32", "3000")),
        ("dropout, eq. 12, 0.9", [*SHARED, "--dropout", "0.9"], ("0.01", "32")),
        ("fast dropout, 0.9", [*SHARED, "--noise", "gaussian-scores", "--dropout", "0.9"],
         ("0.01",)))
    for l2 in strengths
}
PAPER = {"L2": [0.66, 0.53], "dropout, eq. 12": [0.73, 0.55]}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--fixed", action="store_true", help="show settings, choose none")
    parser.add_argument("--program", default="target/release/dropchain")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / ("simulation-fixed" if arguments.fixed else "simulation")
    chosen = {method: [options] for method, options in FIXED.items()}
    if not arguments.fixed:
        chosen = choose(arguments.program)
    results = [run(arguments.program, chosen, f"test {i}") for i in range(arguments.runs)]
    stem.with_suffix(".json").write_text(json.dumps({"chosen": chosen, "runs": results}) + "\n")
    text = table(chosen, results)
    stem.with_suffix(".md").write_text(text)
    print(text, end="")


def choose(program):
    """The settings of each method that are best on runs for tuning."""
    chosen = {}
    tuning = [run(program, METHODS, f"tuning {i}") for i in range(TUNING)]
    for method, settings in METHODS.items():
        # By the accuracy on documents with signal, which is what differs.
        means = [statistics.mean(scores[method][i][0] for scores in tuning)
                 for i in range(len(settings))]
        chosen[method] = [settings[means.index(max(means))]]
        print(method, *chosen[method][0], f"{max(means):.4f}", file=sys.stderr, flush=True)
    return chosen


def documents(rng, count, cycles):
    """Documents with their classes, and whether they have signal."""
    mean = math.sqrt(PERIOD / 2)  # of an exponential distribution with a mean square of PERIOD
    for i in range(count):
        group = i % PERIOD if cycles else rng.randrange(PERIOD)
        sign = rng.choice((-1, 1))
        features, score = [], 0.0
        if group < GROUPS:
            values = [sign * rng.expovariate(1 / mean) for _ in range(SIZE)]
            score = BETA * sum(values)
            features = [(group * SIZE + j + 1, value) for j, value in enumerate(values)]
        features += [(GROUPS * SIZE + j + 1, rng.gauss(0, 1)) for j in range(NUISANCE)]
        label = "pos" if rng.random() < 1 / (1 + math.exp(-score)) else "neg"
        yield label, features, group < GROUPS


def write(path, corpus):
    with path.open("w") as file:
        for label, features, _ in corpus:
            cells = " ".join(f"{number}:{value:.5g}" for number, value in features)
            file.write(f"{label} {cells}\n")


def run(program, methods, seed):
    """Returns by method and settings the accuracies on documents with signal and on all."""
    rng = random.Random(seed)
    train = list(documents(rng, TRAIN, cycles=True))
    test = list(documents(rng, TEST, cycles=False))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "train.svm", train)
        write(folder / "test.svm", test)
        for method, settings in methods.items():
            found[method] = [accuracies(program, folder, options, test) for options in settings]
    return found


def accuracies(program, folder, options, test):
    model = str(folder / "model")
    classify(program, "train", str(folder / "train.svm"), "--model", model, "--quiet",
             "--threads", "1", *options)
    printed = classify(program, "predict", model, str(folder / "test.svm"))
    predicted = [line.split("\t")[0] for line in printed.splitlines()]
    right = [(label == guess, active) for (label, _, active), guess in zip(test, predicted)]
    active = [is_right for is_right, active in right if active]
    return statistics.mean(active), statistics.mean(is_right for is_right, _ in right)


def classify(program, *arguments):
    done = subprocess.run([program, "classify", *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: as good as converged
        sys.exit(f"{' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def table(chosen, results):
    lines = ["| method | settings | paper: active | all | ours: active | ± | all | ± |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    for method, [options] in chosen.items():
        paper = [f"{x:.2f}" for x in PAPER.get(method, [])] or ["", ""]
        cells = []
        for k in range(2):
            scores = [run[method][0][k] for run in results]
            error = statistics.stdev(scores) / len(scores) ** 0.5
            cells += [f"{statistics.mean(scores):.3f}", f"{error:.3f}"]
        lines.append(f"| {method} | `{' '.join(options)}` | {' | '.join(paper + cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
