#!/usr/bin/env python3
"""Figures of Wager, Wang and Liang, "Dropout training as adaptive regularization" (2013).

    python3 benches/reproduce/wager.py penalties CORPORA OUT   figure 1a: R and its expansion
    python3 benches/reproduce/wager.py training CORPORA OUT    figure 1b: both along training
    python3 benches/reproduce/wager.py unlabeled CORPORA OUT   figure 2: accuracy by sizes
    python3 benches/reproduce/wager.py certainty CORPORA OUT   what R of unlabeled documents does

Figure 1b is of 1,000 documents of RT-2k with their words as features, in place of two newsgroups;
figure 2 is of RTs, in place of IMDB. `certainty` is not in the paper: R and the certainty of
documents with and without classes along training, on random halves of RTs and RT-2k. Features are
words; rates and strengths of figure 2 are chosen on three tenths of the labeled documents. Writes
OUT/wager-FIGURE.json, .md and .svg.
"""

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
from pathlib import Path

import labeled
import logistic
from cached import Program
from picture import describe, draw

ITERATIONS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150)
MEANS = (0.5, 0.73, 0.82, 0.88, 0.95)
SHARED = ["--masks", "inputs"]
FAST = [*SHARED, "--noise", "gaussian-scores"]
RATE = 0.9  # of figure 1b, which does not name one
STRENGTH = "0.01"
ALPHA = "0.4"
TEST = 2662
UNLABELED_SIZES = (0, 1000, 3000, 6000)
LABELED_SIZES = (500, 1500, 4000)
TENTHS = 3  # of the labeled documents, which choose
LABELED, UNLABELED = 2000, 4000
GRIDS = {
    "L2": [["--dropout", "0", "--l2", l2] for l2 in ("0.1", "1", "10")],
    "dropout": [["--dropout", rate, "--l2", l2] for rate in ("0.3", "0.5", "0.7")
                for l2 in ("0.3", "1")],
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = {"penalties": penalties, "training": training, "unlabeled": unlabeled,
             "certainty": certainty}
    parser.add_argument("figure", choices=modes)
    labeled.add_arguments(parser)
    parser.add_argument("--divisions", type=int, default=2, help="unlabeled: random divisions")
    parser.add_argument("--no-draw", action="store_true", help="only the descriptions of pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    paths = modes[arguments.figure](arguments, arguments.out / f"wager-{arguments.figure}")
    for path in [] if arguments.no_draw else paths:
        draw(path)


def penalties(_, stem):
    """Figure 1a: a function of p and the deviation, without any data."""
    lines = []
    for p in MEANS:
        score = math.log(p / (1 - p))
        deviations = [i / 20 for i in range(31)]
        lines += [(f"p = {p}", [(s, logistic.penalty(score, s * s)) for s in deviations]),
                  (f"p = {p}, quadratic",
                   [(s, logistic.quadratic_penalty(score, s * s)) for s in deviations], "dashed")]
    at = {name: dict(points) for name, points, *_ in lines}
    rows = ["| p | R at σ = 0.5 | quadratic | at 1 | quadratic | at 1.5 | quadratic |",
            "|---:" * 7 + "|"]
    for p in MEANS:
        cells = [f"{at[name][s]:.4f}" for s in (0.5, 1.0, 1.5)
                 for name in (f"p = {p}", f"p = {p}, quadratic")]
        rows.append(f"| {p} | {' | '.join(cells)} |")
    write(stem, rows)
    return [describe(stem, "Penalty of Gaussian noise", "deviation σ of the score", "R", lines)]


def training(arguments, stem):
    """Figure 1b: R, its expansion and the loss of models of more and more iterations."""
    corpus = labeled.with_features(labeled.read_reviews(arguments.corpora), pairs=False)
    lines = [line for i, line in enumerate(corpus.train) if i % 2 == 0]
    documents = logistic.Documents(lines)
    program = Program(arguments.program, stem.with_suffix(".runs"))
    train = program.store(lines, ".svm")
    rows = []
    for iterations in ITERATIONS:
        options = [*FAST, "--dropout", RATE, "--l2", "0", "--max-iterations", iterations]
        bias, weights = trained(program, train, options)
        scores = documents.scores(bias, weights)
        variances = documents.variances(weights, RATE)
        rows.append({
            "iterations": iterations,
            "masks": documents.sampled_penalty(bias, weights, RATE, 5, 1),
            "gaussian": sum(map(logistic.penalty, scores, variances)),
            "quadratic": sum(map(logistic.quadratic_penalty, scores, variances)),
            "loss": documents.loss(scores),
        })
        print(rows[-1], file=sys.stderr, flush=True)
    names = {"masks": "R over masks", "gaussian": "R of Gaussian scores",
             "quadratic": "quadratic", "loss": "−log-likelihood"}
    table = [f"| iterations | {' | '.join(names.values())} |", "|---:" * 5 + "|"]
    table += [f"| {row['iterations']} | {' | '.join(f'{row[key]:.1f}' for key in names)} |"
              for row in rows]
    write(stem, table)
    series = [(name, [(row["iterations"], row[key]) for row in rows],
               "dashed" if key == "quadratic" else "line") for key, name in names.items()]
    return [describe(stem, "Penalties along training, RT-2k", "iteration", ("penalty, loss", "log"),
                   series)]


def trained(program, train, options):
    with tempfile.TemporaryDirectory(dir=program.folder) as folder:
        model = Path(folder) / "model"
        program.call("classify", "train", train.path, "--model", model, "--quiet", "--threads", 1,
                     *options)
        return logistic.weights_of(program, model)


def unlabeled(arguments, stem):
    """Figure 2: accuracy by the number of documents without and with classes."""
    corpus = labeled.with_features(labeled.read_snippets(arguments.corpora), pairs=False)
    program = Program(arguments.program, stem.with_suffix(".runs"))
    by_unlabeled = {size: [] for size in UNLABELED_SIZES}
    by_labeled = {size: [] for size in LABELED_SIZES}
    for seed in range(arguments.divisions):
        lines = list(corpus.train)
        random.Random(seed).shuffle(lines)
        test, lines = program.store(lines[:TEST], ".svm"), lines[TEST:]
        for size, found in by_unlabeled.items():
            found.append(scores(program, lines[:LABELED], lines[LABELED:][:size], test))
        for size, found in by_labeled.items():
            found.append(scores(program, lines[:size], lines[-UNLABELED:], test))
        print(seed, [{k: v[-1] for k, v in found.items()} for found in (by_unlabeled, by_labeled)],
              file=sys.stderr, flush=True)
    paths, table = [], []
    for name, fixed, results in (
            ("unlabeled", f"{LABELED} labeled documents", by_unlabeled),
            ("labeled", f"{UNLABELED} unlabeled documents", by_labeled)):
        methods = list(results[max(results)][0])
        mean = {method: [(size, statistics.mean(run[method] for run in runs))
                         for size, runs in results.items() if method in runs[0]]
                for method in methods}
        table += [f"{fixed}:\n", f"| {name} documents | {' | '.join(methods)} |",
                  "|---:" * (len(methods) + 1) + "|"]
        for size in results:
            cells = [f"{dict(mean[method]).get(size, mean['dropout'][0][1]):.2f}"
                     for method in methods]
            table.append(f"| {size} | {' | '.join(cells)} |")
        table.append("")
        series = [(method, points) for method, points in mean.items()]
        paths.append(describe(f"{stem}-by-{name}", f"RTs, {fixed}", f"{name} documents",
                            "accuracy in percent", series))
    write(stem, table)
    return paths


def scores(program, train, unlabeled_lines, test):
    """Accuracy by method, with settings chosen on tenths of the labeled documents."""
    pairs = [[program.store(lines, ".svm") for lines in pair]
             for pair in labeled.hold_out(train, TENTHS)]
    whole = program.store(train, ".svm")
    grids = dict(GRIDS)
    if unlabeled_lines:
        more = ["--unlabeled", program.store(unlabeled_lines, ".svm"), "--unlabeled-weight", ALPHA]
        grids["dropout + unlabeled"] = [[*options, *more] for options in GRIDS["dropout"]]
    found = {}
    for method, grid in grids.items():
        errors = [statistics.mean(program.score(rest, [*SHARED, *options], held_out)["error"]
                                  for rest, held_out in pairs) for options in grid]
        options = grid[errors.index(min(errors))]
        found[method] = 100 - program.score(whole, [*SHARED, *options], test)["error"]
    return found


def certainty(arguments, stem):
    """R per document and certainty, with and without classes, by iteration and weight."""
    program = Program(arguments.program, stem.with_suffix(".runs"))
    table = ["| corpus | noise | α | iterations | R labeled | unlabeled | certainty labeled | "
             "unlabeled | right of the certain | accuracy |", "|---|---|---:" + "|---:" * 7 + "|"]
    series = []
    for corpus in (labeled.read_snippets(arguments.corpora),
                   labeled.read_reviews(arguments.corpora)):
        lines = list(labeled.with_features(corpus, pairs=False).train)
        random.Random(1).shuffle(lines)
        halves = lines[::2], lines[1::2]
        first, second = (logistic.Documents(half) for half in halves)
        train, rest = (program.store(half, ".svm") for half in halves)
        for noise, options in (("quadratic", SHARED), ("fast", FAST)):
            for alpha in ("0", "0.2", "1"):
                more = ["--unlabeled", rest.path, "--unlabeled-weight", alpha]
                points = []
                for iterations in (5, 10, 20, 40, 80, 160):
                    bias, weights = trained(program, train, [
                        *options, "--dropout", "0.7", "--l2", STRENGTH,
                        *(more if alpha != "0" else []), "--max-iterations", iterations])
                    row = observe(bias, weights, first, second, noise)
                    cells = [f"{x:.3f}" for x in row[:4]] + [f"{x:.2f}" for x in row[4:]]
                    table.append(f"| {corpus.name} | {noise} | {alpha} | {iterations} | "
                                 f"{' | '.join(cells)} |")
                    points.append((iterations, row[1]))
                    print(table[-1], file=sys.stderr, flush=True)
                if noise == "quadratic" or alpha == "1":
                    series.append((f"{corpus.name}, {noise}, α = {alpha}", points,
                                   "dashed" if noise == "fast" else "line"))
    write(stem, table)
    return [describe(stem, "R of a document without a class", ("iteration", "log"), ("R", "log"),
                   series)]


def observe(bias, weights, first, second, noise):
    """R per document with and without classes, mean probabilities of the predicted class of both,
    accuracy on the unlabeled documents with a probability above 0.9, and on all."""
    of = logistic.quadratic_penalty if noise == "quadratic" else logistic.penalty
    rs, certain, right = [], [], []
    for documents in (first, second):
        scores = documents.scores(bias, weights)
        variances = documents.variances(weights, 0.7)
        rs.append(statistics.mean(map(of, scores, variances)))
        certain.append([logistic.sigmoid(abs(d)) for d in scores])
        right = [(d > 0) == (y == 1) for d, y in zip(scores, documents.labels)]
    sure = [is_right for p, is_right in zip(certain[1], right) if p > 0.9]
    return [*rs, *map(statistics.mean, certain), 100 * statistics.mean(sure or [0]),
            100 * statistics.mean(right)]


def write(stem, lines):
    stem.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
