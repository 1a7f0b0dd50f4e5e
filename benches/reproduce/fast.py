#!/usr/bin/env python3
"""Figures of Wang and Manning, "Fast 'dropout' training for logistic regression" (2013).

    python3 benches/reproduce/fast.py course CORPORA OUT    figure 1, and 3 with --rate 0.7: errors
    python3 benches/reproduce/fast.py gradient CORPORA OUT  figure 2: gradients
    python3 benches/reproduce/fast.py samples CORPORA OUT   figure 4: time by samples
    python3 benches/reproduce/fast.py time CORPORA OUT      table 1: training times

Documents are halves of RT-2k with their words as features, in place of two newsgroups; those of
`gradient` and `time` are snippets of RTs. Times of `samples` and `time` are processor seconds.
`--samples N` is the number of sampled masks of a document (the paper has 100). Writes
OUT/fast-FIGURE.json, .md and .svg.
"""

import argparse
import json
import math
import random
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import labeled
import logistic
from cached import Program
from picture import describe, draw
from wager import FAST, trained, write

STRENGTH = "0.01"
RATE = 0.5
RUNS, DIMENSIONS, DOCUMENTS = 200, 300, 1000
SAMPLES = ("1", "2", "5", "10", "20")
ITERATIONS = 5  # of masks; of the Gaussian, which are short, four times as many


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = {"course": course, "gradient": gradient, "samples": samples, "time": time}
    parser.add_argument("figure", choices=modes)
    labeled.add_arguments(parser)
    parser.add_argument("--rate", default="0.5", help="course: the rate of dropout")
    parser.add_argument("--samples", default="10", help="sampled masks of a document")
    parser.add_argument("--no-draw", action="store_true",
                        help="only the descriptions of pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    name = "fast-course-" + arguments.rate.replace(".", "") if arguments.figure == "course" else (
        f"fast-{arguments.figure}")
    paths = modes[arguments.figure](arguments, arguments.out / name)
    for path in [] if arguments.no_draw else paths:
        draw(path)


def halves(corpus, seed=1):
    lines = list(labeled.with_features(corpus, pairs=False).train)
    random.Random(seed).shuffle(lines)
    return lines[::2], lines[1::2]


def sampled(count):
    return ["--noise", "monte-carlo", "--samples", count]


def course(arguments, stem):
    """Figures 1 and 3: error on the other half by seconds and by iterations."""
    program = Program(arguments.program, stem.with_suffix(".runs"))
    train, dev = (program.store(lines, ".svm")
                  for lines in halves(labeled.read_reviews(arguments.corpora)))
    noise = ["--dropout", arguments.rate, "--l2", STRENGTH]
    methods = {"L2": ["--dropout", "0", "--l2", "0.1"], "Gaussian": [*FAST, *noise],
               f"{arguments.samples} samples": [*sampled(arguments.samples), *noise]}
    by_time, by_iteration = [], []
    table = ["| method | seconds an iteration | iterations | least error | at second | at the end "
             "|", "|---|---:" + "|---:" * 4 + "|"]
    for name, options in methods.items():
        with tempfile.TemporaryDirectory(dir=program.folder) as folder:
            log = Path(folder) / "log"
            program.call("classify", "train", train.path, "--dev", dev.path, "--model",
                         Path(folder) / "model", "--quiet", "--threads", 1, "--log", log,
                         "--patience", 60, "--max-iterations", 60, *options)
            rows = [json.loads(line) for line in log.read_text().splitlines()]
        rows = [row for row in rows if row["event"] == "iteration" and row["iteration"]]
        errors = [100 * (1 - row["dev_accuracy"]) for row in rows]
        by_time.append((name, [(row["seconds"], e) for row, e in zip(rows, errors)]))
        by_iteration.append((name, [(row["iteration"], e) for row, e in zip(rows, errors)]))
        least = errors.index(min(errors))
        table.append(f"| {name} | {rows[-1]['seconds'] / len(rows):.3f} | {len(rows)} | "
                     f"{errors[least]:.2f} | {rows[least]['seconds']:.2f} | {errors[-1]:.2f} |")
    write(stem, table)
    title = f"RT-2k, rate {arguments.rate}"
    return [describe(f"{stem}-time", title, ("seconds", "log"), "error in percent", by_time),
            describe(f"{stem}-iterations", title, "iteration", "error in percent", by_iteration)]


def gradient(arguments, stem):
    """Figure 2: random dimensions of the gradient, sampled, and by formulas."""
    program = Program(arguments.program, stem.with_suffix(".runs"))
    lines = halves(labeled.read_snippets(arguments.corpora))[0][:DOCUMENTS]
    train = program.store(lines, ".svm")
    bias, weights = trained(program, train, [*FAST, "--dropout", RATE, "--l2", STRENGTH,
                                             "--max-iterations", 10])
    documents = logistic.Documents(lines)
    reference, other = (sampled_gradient(documents, bias, weights, seed) for seed in (1, 2))
    approximations = {"other masks": other, "Gaussian": expected(documents, bias, weights, True),
                      "naive": expected(documents, bias, weights, False)}
    features = sorted(reference)
    table = ["| gradient | root mean squared difference to one run of masks |", "|---|---:|"]
    for name, found in approximations.items():
        square = sum((found[j] - reference[j]) ** 2 for j in features) / len(features)
        table.append(f"| {name} | {math.sqrt(square):.4f} |")
    write(stem, table)
    # Of features of a few documents at least: most others are of one.
    counts = Counter(j for row in documents.rows for j, _ in row)
    chosen = random.Random(3).sample([j for j in features if counts[j] >= 5], DIMENSIONS)
    series = [(name, [(reference[j], found[j]) for j in chosen], "points")
              for name, found in approximations.items()]
    ends = min(reference[j] for j in chosen), max(reference[j] for j in chosen)
    series.append(("y = x", [(x, x) for x in ends], "dashed"))
    return [describe(stem, "Gradients, RTs", f"{RUNS} samples of masks", "other gradient",
                     series)]


def sampled_gradient(documents, bias, weights, seed):
    """Eq. 5 with samples of masks; features that remain grow."""
    rng, total = random.Random(seed), {}
    for row, y in zip(documents.rows, documents.labels):
        parts = [(j, x, x * weights.get(j, 0.0)) for j, x in row]
        for _ in range(RUNS):
            kept = [part for part in parts if rng.random() >= RATE]
            score = bias + sum(part[2] for part in kept) / (1 - RATE)
            factor = (y - logistic.sigmoid(score)) / (1 - RATE) / RUNS
            for j, x, _ in kept:
                total[j] = total.get(j, 0.0) + factor * x
    return {j: total.get(j, 0.0) for row in documents.rows for j, _ in row}


def expected(documents, bias, weights, with_means):
    """Eq. 6 with α and β, or, as the naive approximation, α alone."""
    total = {}
    scores = documents.scores(bias, weights)
    variances = documents.variances(weights, RATE)
    slope = lambda d: logistic.sigmoid(d) * (1 - logistic.sigmoid(d))
    for row, y, score, variance in zip(documents.rows, documents.labels, scores, variances):
        alpha = y - logistic.gaussian(logistic.sigmoid, score, variance)
        beta = -logistic.gaussian(slope, score, variance) if with_means else 0.0
        for j, x in row:
            # A feature that remains moves the mean by x·w·ρ, as it grows by 1/(1 − δ).
            shift = x * weights.get(j, 0.0) * RATE / (1 - RATE)
            total[j] = total.get(j, 0.0) + x * (alpha + shift * beta)
    return total


def samples(arguments, stem):
    """Figure 4: processor seconds of an iteration by the number of samples."""
    program = Program(arguments.program, stem.with_suffix(".runs"))
    train = program.store(halves(labeled.read_reviews(arguments.corpora))[0], ".svm")

    def seconds(options, iterations):
        model = program.folder / "model"
        return program.call("classify", "train", train.path, "--model", model, "--quiet",
                            "--threads", 1, "--max-iterations", iterations, "--dropout", RATE,
                            "--l2", STRENGTH, *options)[1]

    def an_iteration(options, count=ITERATIONS):
        return (seconds(options, 1 + count) - seconds(options, 1)) / count

    points = [(int(count), an_iteration(sampled(count))) for count in SAMPLES]
    gaussian = statistics.median(an_iteration(FAST, 4 * ITERATIONS) for _ in range(5))
    table = ["| samples | seconds an iteration | times that of the Gaussian |", "|---:" * 3 + "|"]
    table += [f"| {count} | {value:.3f} | {value / gaussian:.1f} |" for count, value in points]
    table.append(f"| Gaussian | {gaussian:.4f} | 1 |")
    write(stem, table)
    ends = (points[0][0], points[-1][0])
    return [describe(stem, "Time by samples, RT-2k", "samples", "seconds an iteration",
                     [("masks", points), ("Gaussian", [(x, gaussian) for x in ends], "dashed")])]


def time(arguments, stem):
    """Table 1: processor seconds of training until convergence, of words and pairs of words."""
    program = Program(arguments.program, stem.with_suffix(".runs"))
    table = ["| corpus | method | seconds | times L2 |", "|---|---|---:|---:|"]
    noise = ["--dropout", RATE, "--l2", STRENGTH]
    methods = {"L2": ["--dropout", "0", "--l2", "0.1"], "Gaussian": [*FAST, *noise],
               "quadratic": noise, f"{arguments.samples} samples":
                   [*sampled(arguments.samples), *noise]}
    for corpus in (labeled.read_snippets(arguments.corpora),
                   labeled.read_reviews(arguments.corpora)):
        lines = labeled.with_features(corpus).train
        train = program.store([line for i, line in enumerate(lines) if i % 10], ".svm")
        found = {}
        for name, options in methods.items():
            found[name] = program.call("classify", "train", train.path, "--model",
                                       program.folder / "model", "--quiet", "--threads", 1,
                                       *options)[1]
            table.append(f"| {corpus.name} | {name} | {found[name]:.2f} | "
                         f"{found[name] / found['L2']:.1f} |")
    write(stem, table)
    return []


if __name__ == "__main__":
    main()
