#!/usr/bin/env python3
"""Training on RT-2k: time to the loss that liblinear reaches, and the price of noise.

    python3 speed.py DROPCHAIN CORPORA [--rounds N] > speed.md

Needs scikit-learn. Features are words and pairs of words between blanks, with the value 1, for both
programs from the same matrix; one thread each; reading is left out. The programs take turns.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

LOSSES = ("softmax", "logistic")
STRENGTHS = (0.1, 1.0)  # c2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    texts, labels = [], []
    for label in ("neg", "pos"):
        for file in sorted((arguments.corpora / "movie-reviews" / label).glob("*.txt")):
            texts.append(file.read_text())
            labels.append(label == "pos")
    vectorizer = CountVectorizer(binary=True, ngram_range=(1, 2), tokenizer=str.split,
                                 token_pattern=None, dtype=numpy.float64)
    matrix = vectorizer.fit_transform(texts)
    labels = numpy.array(labels, dtype=int)
    print(f"{matrix.shape[0]} documents, {matrix.shape[1]} features, {matrix.nnz} entries\n")
    print("| loss | c2 | liblinear, s | to its loss, s | ratio | to the end, s | with noise, s | "
          "ratio to without |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.svm"
        dump_svmlight_file(matrix, labels, str(data), zero_based=False)
        for loss, strength in itertools.product(LOSSES, STRENGTHS):
            rounds = [measure(arguments.program, data, matrix, labels, loss, strength)
                      for _ in range(arguments.rounds)]
            peer, reached, end, noise = (statistics.median(x) for x in zip(*rounds))
            print(f"| {loss} | {strength} | {peer:.2f} | {reached:.2f} | {reached / peer:.2f} | "
                  f"{end:.2f} | {noise:.2f} | {noise / end:.2f} |", flush=True)


def measure(program, data, matrix, labels, loss, strength):
    """Returns seconds: liblinear's, until its loss, until the end, until the end with noise."""
    # c2·‖θ‖² over two classes is c2/2·‖w‖² for w = θ₁ − θ₂. The bias has four weights there, so its
    # penalty is half of that of a feature.
    peer = LogisticRegression(C=1 / strength, solver="liblinear", intercept_scaling=2**0.5)
    clock = time.perf_counter()
    peer.fit(matrix, labels)
    seconds = time.perf_counter() - clock
    margins = numpy.where(labels == 1, 1, -1) * peer.decision_function(matrix)
    likelihood = numpy.logaddexp(0, -margins).sum()
    squares = (peer.coef_**2).sum() + (peer.intercept_**2).sum() / 2
    objective = likelihood + strength / 2 * squares
    plain = train(program, data, loss, strength, 0)
    noisy = train(program, data, loss, strength, 0.3)
    reached = [x["seconds"] for x in plain if x["objective"] <= objective]
    if not reached:
        raise SystemExit(f"the objective {objective} was not reached: {plain[-1]['objective']}")
    return seconds, reached[0], plain[-1]["seconds"], noisy[-1]["seconds"]


def train(program, data, loss, strength, dropout):
    """Returns the iterations of a run."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [program, "classify", "train", data, "--loss", loss, "--l2", strength,
                   "--dropout", dropout, "--threads", 1, "--model", Path(folder) / "model",
                   "--log", log, "--quiet"]
        subprocess.run(list(map(str, command)), check=True)
        events = map(json.loads, log.read_text().splitlines())
        return [event for event in events if event["event"] == "iteration"]


if __name__ == "__main__":
    main()
