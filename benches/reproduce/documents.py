#!/usr/bin/env python3
"""Classification of documents: the paper's figures beside ours.

    python3 benches/reproduce/documents.py folds CORPORA OUT     Wang & Manning 2013, table 1
    python3 benches/reproduce/documents.py thirds CORPORA OUT    Wager et al. 2013, table 4;
                                                                 Wang et al. 2013, table 3
    python3 benches/reproduce/documents.py strengths CORPORA OUT Wang et al. 2013, figure 2

CORPORA has the folders rt-polarity and movie-reviews; `--corpus NAME FILE` adds one of lines with a
class, a tab and a text, or of a folder per class. Strengths, rates and iterations are chosen by
folds of the training documents alone: with `--stop dev` by `dropchain classify tune`, with `--stop
convergence`, as in the papers, strengths and rates alone. Writes OUT/MODE.md and .json.
"""

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from significance import paired_t

FOLDS = 10
L2 = "0.003,0.01,0.03,0.1,0.3,1,3,10"
NOISE = ["--dropout", "0.3,0.5,0.7,0.9", "--l2", "0.01,0.1,0.3,1"]
COLUMNS = {
    "None": ["--dropout", "0", "--l2", "0"],
    "L2": ["--dropout", "0", "--l2", L2],
    "Dropout": NOISE,
}
# Wang & Manning 2013, table 1 (plain LR, Gaussian approximation); Wager et al. 2013, table 4.
PAPER = {
    "folds": {
        "rt-2k": {"L2": 88.2, "Dropout": 89.7},
        "rts": {"L2": 77.2, "Dropout": 79.0},
        "subj": {"L2": 91.3, "Dropout": 93.4},
        "athr": {"L2": 83.6, "Dropout": 87.4},
        "cr": {"L2": 80.4, "Dropout": 82.1},
        "mpqa": {"L2": 84.6, "Dropout": 86.1},
    },
    "thirds": {
        "rts": {"L2": 73.49, "Dropout": 75.18, "+Unlabeled": 76.56},
        "subj": {"L2": 88.96, "Dropout": 90.85, "+Unlabeled": 91.48},
    },
    "strengths": {},
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=PAPER)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", default="target/release/dropchain")
    parser.add_argument("--corpus", nargs=2, action="append", default=[], metavar=("NAME", "FILE"))
    parser.add_argument("--only", nargs="+", help="names of corpora")
    parser.add_argument("--stop", choices=("dev", "convergence"), default="dev")
    parser.add_argument("--inner", type=int, default=3,
                        help="tenths of the training documents that choose until convergence")
    arguments = parser.parse_args()
    corpora = {"rt-2k": read_reviews, "rts": read_snippets}
    corpora = {name: read(arguments.corpora) for name, read in corpora.items()}
    corpora.update((name, read_corpus(Path(path))) for name, path in arguments.corpus)
    names = arguments.only or list(corpora)
    modes = {"folds": folds, "thirds": thirds, "strengths": strengths}
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in names:
        program = Program(arguments.program, arguments.stop, arguments.inner)
        results[name] = modes[arguments.mode](program, corpora[name])
        stem = arguments.out / arguments.mode
        stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(arguments.mode, results))
    print(stem.with_suffix(".md").read_text(), end="")


def read_reviews(corpora):
    """Documents of RT-2k by class; their names begin with their fold."""
    folder = corpora / "movie-reviews"
    return {label: [clean(file.read_text()) for file in sorted((folder / label).glob("*.txt"))]
            for label in ("neg", "pos")}


def read_snippets(corpora):
    """Documents of RTs by class."""
    file = corpora / "rt-polarity" / "rt-polarity"
    return {label: [clean(line) for line in file.with_suffix(f".{label}").open(encoding="utf-8")]
            for label in ("neg", "pos")}


def read_corpus(path):
    """Documents by class of a file of labeled lines, or of a folder per class."""
    corpus = {}
    if path.is_dir():
        for folder in sorted(path.iterdir()):
            corpus[folder.name] = [clean(f.read_text()) for f in sorted(folder.iterdir())]
        return corpus
    for line in path.open(encoding="utf-8"):
        label, text = line.split("\t", 1)
        corpus.setdefault(label, []).append(clean(text))
    return corpus


def clean(text):
    return " ".join(text.split())


def write(path, documents):
    path.write_text("".join(f"{label}\t{text}\n" for label, text in documents), encoding="utf-8")


def part(corpus, is_in):
    """The documents whose number in their class is in a part: (number, size of the class)."""
    return [(label, text) for label, texts in corpus.items()
            for i, text in enumerate(texts) if is_in(i, len(texts))]


class Program:
    """The program, and until when it trains."""

    def __init__(self, path, stop, inner):
        self.path = path
        self.inner = inner
        self.tune = tuned if stop == "dev" else converged

    def run(self, *arguments):
        command = [self.path, "classify", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: as good as converged
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def score(self, model, test):
        return 100 * json.loads(self.run("eval", model, test, "--json"))["accuracy"]

    def train(self, train, test, settings, unlabeled=()):
        """Trains until convergence and returns the accuracy on a test."""
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            options = [x for name, value in settings.items() for x in (f"--{name}", value)]
            options += ["--unlabeled", *unlabeled] if unlabeled else []
            options += ["--model", model, "--quiet", "--threads", 1]
            if settings["l2"] == "0" and settings["dropout"] == "0":
                options += ["--max-iterations", 500]  # there is no minimum
            self.run("train", train, *options)
            return self.score(model, test)


def tuned(program, folder, options, unlabeled=()):
    """Tunes on folder/train and returns the accuracy on folder/test and the chosen settings."""
    model = folder / "model"
    options = [*options, "--folds", 5, "--halving", "off", "--model", model, "--force", "--quiet"]
    if unlabeled:
        options += ["--unlabeled", *unlabeled]
    text = program.run("tune", folder / "train", *options, "--json")
    best = json.loads(text)["configurations"][0]
    chosen = {key: best[key] for key in ("dropout", "l2", "unlabeled_weight", "best_iteration")
              if key in best}
    return program.score(model, folder / "test"), chosen


def converged(program, folder, options, unlabeled=()):
    """Like tuned, but all training runs until convergence."""
    names = [name.removeprefix("--") for name in options[::2]]
    values = itertools.product(*(str(value).split(",") for value in options[1::2]))
    grid = [dict(zip(names, row)) for row in values]
    means = [0.0] * len(grid)
    if len(grid) > 1:
        lines = (folder / "train").read_text(encoding="utf-8").splitlines(keepends=True)
        for fold in range(program.inner):
            # Of every ten documents, which are of one class, one is held out.
            held_out = [line for i, line in enumerate(lines) if i % FOLDS == fold]
            rest = [line for i, line in enumerate(lines) if i % FOLDS != fold]
            (folder / "held_out").write_text("".join(held_out), encoding="utf-8")
            (folder / "rest").write_text("".join(rest), encoding="utf-8")
            work = [(folder / "rest", folder / "held_out", row, unlabeled) for row in grid]
            with ThreadPoolExecutor(2) as pool:
                scores = list(pool.map(lambda task: program.train(*task), work))
            means = [mean + score / program.inner for mean, score in zip(means, scores)]
    chosen = grid[means.index(max(means))]
    return program.train(folder / "train", folder / "test", chosen, unlabeled), chosen


def more(chosen):
    """The options for documents without classes, around the settings of Dropout."""
    return ["--dropout", chosen["dropout"], "--l2", chosen["l2"], "--unlabeled-weight", "0.2,0.6,1"]


def evaluate(program, train, test, unlabeled, name):
    """The accuracy of all columns for one division."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "train", train)
        write(folder / "test", test)
        (folder / "text").write_text("".join(f"{text}\n" for _, text in unlabeled))
        for column, options in COLUMNS.items():
            found[column] = program.tune(program, folder, options)
            print(name, column, *found[column], file=sys.stderr, flush=True)
        column = "+Test" if unlabeled == test else "+Unlabeled"
        options = more(found["Dropout"][1])
        found[column] = program.tune(program, folder, options, [folder / "text"])
        print(name, column, *found[column], file=sys.stderr, flush=True)
    return found


def folds(program, corpus):
    """Ten folds. Those of RT-2k are the numbers in the names of its files."""
    results = []
    for fold in range(FOLDS):
        def is_test(i, size):
            return i * FOLDS // size == fold
        test = part(corpus, is_test)
        train = part(corpus, lambda i, size: not is_test(i, size))
        results.append(evaluate(program, train, test, test, fold))
    return results


def thirds(program, corpus):
    """Ten random divisions into thirds: to train, to test, without classes."""
    results = []
    for seed in range(FOLDS):
        shuffled = {}
        for label, texts in corpus.items():
            shuffled[label] = list(texts)
            random.Random(seed).shuffle(shuffled[label])
        parts = [part(shuffled, lambda i, size, k=k: i * 3 // size == k) for k in range(3)]
        results.append(evaluate(program, *parts, seed))
    return results


def strengths(program, corpus):
    """Accuracy over folds by λ of λ·‖θ‖², until convergence, with and without noise."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for fold in range(FOLDS):
            def is_test(i, size):
                return i * FOLDS // size == fold
            write(folder / "test", part(corpus, is_test))
            write(folder / "train", part(corpus, lambda i, size: not is_test(i, size)))
            for strength in ["0.0001", "0.001", "0.01", "0.1", "1", "10", "100"]:
                for name, rate in (("L2", 0), ("Dropout", 0.5)):
                    settings = {"dropout": rate, "l2": strength}
                    accuracy = program.train(folder / "train", folder / "test", settings)
                    results.setdefault(strength, {}).setdefault(name, []).append(accuracy)
    return results


def table(mode, results):
    lines = []
    if mode == "strengths":
        lines += ["| corpus | λ | L2 | Dropout |", "|---|---:|---:|---:|"]
        for name, rows in results.items():
            for strength, columns in rows.items():
                cells = [f"{statistics.mean(columns[c]):.2f}" for c in ("L2", "Dropout")]
                lines.append(f"| {name} | {strength} | {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"
    lines += ["| corpus | column | paper | ours | ± | over L2 | p |",
              "|---|---|---:|---:|---:|---:|---:|"]
    for name, parts in results.items():
        for column in parts[0]:
            scores = [found[column][0] for found in parts]
            paper = PAPER[mode].get(name, {}).get(column, "")
            cells = [paper, f"{statistics.mean(scores):.2f}", f"{statistics.stdev(scores):.2f}"]
            if column in ("None", "L2"):
                cells += ["", ""]
            else:
                over = paired_t([found[column][0] - found["L2"][0] for found in parts])
                cells += [f"{over['mean']:+.2f}", f"{over['p_value']:.3f}"]
            lines.append(f"| {name} | {column} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
