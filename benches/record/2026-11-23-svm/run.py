#!/usr/bin/env python3
"""Support vector machines on RTs: the same minimum as liblinear, and accuracies over folds.

    python3 run.py liblinear DROPCHAIN CORPORA                     objectives beside liblinear's
    python3 run.py folds DROPCHAIN CORPORA [--folds N]             losses with and without noise

Features are words and pairs of words between blanks, with the value 1. `liblinear` needs
scikit-learn, and does nothing without it. `folds` takes the first N of ten folds; strengths and
rates are chosen on a tenth of the training documents of each, and all training runs until
convergence.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "reproduce"))

import documents  # noqa: E402

STRENGTHS = (0.1, 1.0, 10.0)  # c2
LOSSES = ("softmax", "hinge", "logistic", "squared")
L2 = {
    "softmax": ("0.1,0.3,1,3", "0.1,0.3,1"),
    "hinge": ("0.3,1,3,10", "0.1,0.3,1"),
    "logistic": (None, "0.1,0.3,1"),  # without noise it is softmax
    "squared": ("3,10,30,100", "0.3,1,3"),
}
RATES = "0.3,0.5,0.7,0.9"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=("liblinear", "folds"))
    parser.add_argument("program")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    arguments = parser.parse_args()
    corpus = documents.read_snippets(arguments.corpora)
    if arguments.mode == "liblinear":
        liblinear(arguments.program, corpus)
    else:
        folds(arguments, corpus)


def liblinear(program, corpus):
    try:
        import numpy
        from sklearn.datasets import dump_svmlight_file
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.svm import LinearSVC
    except ImportError:
        print("there is no scikit-learn: nothing to compare with")
        return
    texts = [text for label in ("neg", "pos") for text in corpus[label]]
    signs = numpy.repeat([-1.0, 1.0], [len(corpus["neg"]), len(corpus["pos"])])
    vectorizer = CountVectorizer(binary=True, ngram_range=(1, 2), tokenizer=str.split,
                                 token_pattern=None, dtype=numpy.float64)
    matrix = vectorizer.fit_transform(texts)
    print(f"{matrix.shape[0]} documents, {matrix.shape[1]} features, {matrix.nnz} entries\n")
    print("| c2 | liblinear | dropchain | excess |\n|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.svm"
        dump_svmlight_file(matrix, signs, str(data), zero_based=False)
        for strength in STRENGTHS:
            # c2·‖θ‖² with θ = ±½·w is ½·c2·‖w‖²; the bias is two features of value 1.
            peer = LinearSVC(loss="hinge", C=1 / strength, intercept_scaling=2**0.5, tol=1e-4,
                             max_iter=100_000)
            peer.fit(matrix, signs)
            losses = numpy.maximum(0, 1 - signs * peer.decision_function(matrix))
            squares = (peer.coef_**2).sum() + (peer.intercept_**2).sum() / 2
            lowest = losses.sum() + strength / 2 * squares
            found = objective(program, folder, data, strength)
            excess = (found - lowest) / lowest
            print(f"| {strength} | {lowest:.3f} | {found:.3f} | {excess:+.1e} |", flush=True)
            if abs(excess) > 1e-3:
                sys.exit("the minima differ")


def objective(program, folder, data, strength):
    """Returns the bound at the end of training, at most 5·10⁻⁵ above the loss per document."""
    log = Path(folder) / "log"
    command = [program, "classify", "train", data, "--loss", "hinge", "--dropout", 0, "--l2",
               strength, "--model", Path(folder) / "model", "--force", "--log", log, "--quiet"]
    log.unlink(missing_ok=True)
    subprocess.run(list(map(str, command)), check=True)
    events = map(json.loads, log.read_text().splitlines())
    return [event for event in events if event["event"] == "iteration"][-1]["objective"]


def folds(arguments, corpus):
    program = documents.Program(arguments.program, "convergence", 1)
    train = program.train
    results = {}
    for fold in range(arguments.folds):
        def is_test(i, size):
            return i * documents.FOLDS // size == fold
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            documents.write(folder / "test", documents.part(corpus, is_test))
            documents.write(folder / "train",
                            documents.part(corpus, lambda i, size: not is_test(i, size)))
            for loss, has_noise in itertools.product(LOSSES, (0, 1)):
                if L2[loss][has_noise] is None:
                    continue
                program.train = lambda *data, loss=loss: train(
                    data[0], data[1], {**data[2], "loss": loss}
                )
                rates = RATES if has_noise else "0"
                options = ["--dropout", rates, "--l2", L2[loss][has_noise]]
                found = documents.converged(program, folder, options)
                print(fold, loss, *found, file=sys.stderr, flush=True)
                results.setdefault((loss, has_noise), []).append(found[0])
    print("| loss | without noise | dropout | gain |\n|---|---:|---:|---:|")
    for loss in LOSSES:
        plain = results.get((loss, 0), results["softmax", 0])
        noisy = results[loss, 1]
        means = statistics.mean(plain), statistics.mean(noisy)
        print(f"| {loss} | {means[0]:.2f} | {means[1]:.2f} | {means[1] - means[0]:+.2f} |")


if __name__ == "__main__":
    main()
