#!/usr/bin/env python3
"""Classification of documents: the papers' figures beside ours.

    python3 benches/reproduce/documents.py folds CORPORA OUT     Wang & Manning 2013, table 1
    python3 benches/reproduce/documents.py thirds CORPORA OUT    Wager et al. 2013, table 4;
                                                                 Wang et al. 2013, table 3
    python3 benches/reproduce/documents.py table2 CORPORA OUT    Wang et al. 2013, tables 1 and 2
    python3 benches/reproduce/documents.py strengths CORPORA OUT Wang et al. 2013, figure 2

CORPORA has the folders rt-polarity and movie-reviews. `--corpus NAME TRAIN [TEST]` adds a corpus: a
folder per class, lines with a class, a tab and a text, or SVMlight's format (.svm, .svmlight,
.libsvm). Figures of the papers are shown beside corpora with the names rt-2k, rts, subj, athr, cr,
mpqa, 20news, rcv1_4, r21578 and tdt2.

Strengths, rates and iterations are chosen by folds of the training documents alone: with `--stop
dev` by `dropchain classify tune`, with `--stop convergence`, as in the papers, strengths and rates
alone. `folds` and `thirds` divide all documents of a corpus; `table2` has its test documents, or a
random half. Writes OUT/MODE.md and .json, and for figure 2 .svg.
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

import labeled
from significance import paired_t

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from figure import draw  # noqa: E402

FOLDS = 10
L2 = "0.003,0.01,0.03,0.1,0.3,1,3,10"
NOISE = ["--dropout", "0.3,0.5,0.7,0.9", "--l2", "0.01,0.1,0.3,1"]
GAUSSIAN = ["--masks", "inputs", "--noise", "gaussian-scores"]
COLUMNS = {
    "None": ["--dropout", "0", "--l2", "0"],
    "L2": ["--dropout", "0", "--l2", L2],
    "Dropout": NOISE,
    "Fast dropout": [*GAUSSIAN, *NOISE],
    "Informativeness": ["--dropout", "0", "--l2-informativeness", "0.1,1",
                        "--l2", "0.01,0.1,1,10"],
    # Settings that fast dropout often has: samples are too slow to search. The paper has 100.
    "Fast dropout, 0.5": [*GAUSSIAN, "--dropout", "0.5", "--l2", "0.01"],
    "Monte Carlo": ["--noise", "monte-carlo", "--samples", "10", "--dropout", "0.5",
                    "--l2", "0.01"],
}
DEFAULT = ["None", "L2", "Dropout", "Fast dropout"]
# Documents without classes: their weight and the rate are chosen together.
UNLABELED = {"Dropout": [], "Fast dropout": GAUSSIAN}
WEIGHTS = ["--dropout", "0.3,0.5,0.7,0.9", "--unlabeled-weight", "0.05,0.1,0.2,0.4,1"]
# Wang & Manning 2013, table 1 (LR, Gaussian, MC dropout); Wager et al. 2013, table 4, and
# Wang et al. 2013, table 3; Wang et al. 2013, table 2.
PAPER = {
    "folds": {
        "rt-2k": {"L2": 88.2, "Fast dropout": 89.7, "Monte Carlo": 89.8},
        "rts": {"L2": 77.2, "Fast dropout": 79.0, "Monte Carlo": 79.2},
        "subj": {"L2": 91.3, "Fast dropout": 93.4, "Monte Carlo": 93.3},
        "athr": {"L2": 83.6, "Fast dropout": 87.4, "Monte Carlo": 86.7},
        "cr": {"L2": 80.4, "Fast dropout": 82.1, "Monte Carlo": 82.0},
        "mpqa": {"L2": 84.6, "Fast dropout": 86.1, "Monte Carlo": 86.0},
    },
    "thirds": {
        "rt-2k": {"L2": 80.63, "Dropout": 81.23, "+Unlabeled": 80.33},
        "rts": {"L2": 73.49, "Dropout": 75.18, "+Unlabeled": 76.56},
        "subj": {"L2": 88.96, "Dropout": 90.85, "+Unlabeled": 91.48},
        "xgraph": {"L2": 83.10, "Dropout": 84.64, "+Unlabeled": 85.41},
        "bbcrypt": {"L2": 97.28, "Dropout": 98.49, "+Unlabeled": 99.24},
        "imdb": {"L2": 87.14, "Dropout": 88.70, "+Unlabeled": 89.21},
        "20news": {"L2": 76.55, "Dropout": 79.07, "+Unlabeled": 80.47},
        "rcv1_4": {"L2": 94.76, "Dropout": 94.79, "+Unlabeled": 95.16},
        "r21578": {"L2": 90.67, "Dropout": 91.24, "+Unlabeled": 90.30},
        "tdt2": {"L2": 97.34, "Dropout": 97.54, "+Unlabeled": 97.89},
    },
    "table2": {
        "20news": {"None": 81.44, "L2": 82.19, "Dropout": 83.37, "+Test": 84.71},
        "rcv1_4": {"None": 95.76, "L2": 95.90, "Dropout": 96.03, "+Test": 96.11},
        "r21578": {"None": 92.24, "L2": 92.24, "Dropout": 92.24, "+Test": 92.58},
        "tdt2": {"None": 97.74, "L2": 97.91, "Dropout": 98.00, "+Test": 98.12},
    },
}
STRENGTHS = ("0.0001", "0.001", "0.01", "0.1", "1", "10", "100")
LINES = {
    "L2": {"dropout": 0},
    "Dropout": {"dropout": 0.5},
    "Fast dropout": {"dropout": 0.5, "masks": "inputs", "noise": "gaussian-scores"},
}


def main():
    modes = {"folds": folds, "thirds": thirds, "table2": table2, "strengths": strengths}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=modes)
    labeled.add_arguments(parser)
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=DEFAULT)
    parser.add_argument("--stop", choices=("dev", "convergence"), default="dev")
    parser.add_argument("--inner", type=int, default=3,
                        help="tenths of the training documents that choose until convergence")
    parser.add_argument("--tokens", choices=("blanks", "words"), default="blanks",
                        help="the papers' corpora are tokenized: words stand between blanks")
    parser.add_argument("--ngrams", default="1..2", help="lengths of n-grams of words")
    parser.add_argument("--divisions", type=int, default=FOLDS,
                        help="folds and thirds: only the first N of ten")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    arguments = parser.parse_args()
    labeled.check_arguments(parser, arguments)
    corpora = {"rt-2k": lambda: labeled.read_reviews(arguments.corpora),
               "rts": lambda: labeled.read_snippets(arguments.corpora)}
    for corpus in arguments.corpus:
        corpora[corpus[0]] = lambda corpus=corpus: labeled.read(*corpus)
    unknown = [name for name in arguments.only or [] if name not in corpora]
    if unknown:
        parser.error(f"--only {unknown[0]}: expected one of {', '.join(corpora)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in arguments.only or corpora:
        corpus = corpora[name]()
        results[name] = modes[arguments.mode](Program(arguments, corpus.suffix), corpus)
        # After each corpus, so that an interruption leaves what is complete.
        stem = arguments.out / arguments.mode
        stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        write = plot if arguments.mode == "strengths" else table
        stem.with_suffix(".md").write_text(write(arguments.mode, results, stem))
    print(stem.with_suffix(".md").read_text(), end="")


class Program:
    """The program, and until when it trains."""

    def __init__(self, arguments, suffix):
        self.path = arguments.program
        self.columns = arguments.columns
        self.inner = arguments.inner
        self.jobs = arguments.jobs
        self.suffix = suffix
        words = ["--tokens", arguments.tokens, "--ngrams", arguments.ngrams]
        self.features = [] if suffix == ".svm" else words
        self.divisions = arguments.divisions
        self.tune = tuned if arguments.stop == "dev" else converged

    def run(self, *arguments):
        command = [self.path, "classify", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: as good as converged
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def file(self, folder, name):
        return folder / f"{name}{self.suffix}"

    def write(self, folder, name, lines):
        """Writes lines, or texts without classes."""
        self.file(folder, name).write_text(labeled.text_of(lines, self.suffix), encoding="utf-8")

    def score(self, model, test):
        return 100 * json.loads(self.run("eval", model, test, "--json"))["accuracy"]

    def train(self, train, model, settings, unlabeled=()):
        """Trains until convergence."""
        options = [x for name, value in settings.items() for x in (f"--{name}", value)]
        options += ["--unlabeled", *unlabeled] if unlabeled else []
        options += ["--model", model, "--quiet", "--threads", 1, *self.features]
        if float(settings["l2"]) == 0 and float(settings["dropout"]) == 0:
            options += ["--max-iterations", 500]  # there is no minimum
        self.run("train", train, *options)

    def accuracy(self, train, test, settings, unlabeled=()):
        """Trains until convergence and returns the accuracy on a test."""
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            self.train(train, model, settings, unlabeled)
            return self.score(model, test)


def tuned(program, folder, model, options, unlabeled, _=False):
    """Tunes on the training documents in a folder, and returns the chosen settings."""
    options = [*options, "--folds", 5, "--model", model, "--quiet",
               *program.features]
    if unlabeled:
        options += ["--unlabeled", *unlabeled]
    text = program.run("tune", program.file(folder, "train"), *options, "--json")
    best = json.loads(text)["configurations"][0]
    return {key: best[key] for key in ("dropout", "l2", "unlabeled_weight", "best_iteration")
            if key in best}


def converged(program, folder, model, options, unlabeled, transductive=False):
    """Like tuned, but all training runs until convergence. If the test documents are in the noise
    term, the held-out ones that choose are in it, too."""
    names = [name.removeprefix("--") for name in options[::2]]
    values = itertools.product(*(str(value).split(",") for value in options[1::2]))
    grid = [dict(zip(names, row)) for row in values]
    means = [0.0] * len(grid)
    train, rest, held_out = (program.file(folder, name) for name in ("train", "rest", "held-out"))
    without_class = program.file(folder, "held-out-unlabeled")
    seen = [*unlabeled, without_class] if transductive else unlabeled
    if len(grid) > 1:
        lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
        for fold in range(program.inner):
            # Of every ten documents, which are of one class, one is held out.
            text = "".join(line for i, line in enumerate(lines) if i % FOLDS == fold)
            held_out.write_text(text, encoding="utf-8")
            write_unlabeled(program, without_class, labeled.read_lines(held_out))
            text = "".join(line for i, line in enumerate(lines) if i % FOLDS != fold)
            rest.write_text(text, encoding="utf-8")
            with ThreadPoolExecutor(program.jobs) as pool:
                work = (pool.submit(program.accuracy, rest, held_out, row, seen) for row in grid)
                scores = [future.result() for future in list(work)]
            means = [mean + score / program.inner for mean, score in zip(means, scores)]
    chosen = grid[means.index(max(means))]
    program.train(train, model, chosen, unlabeled)
    return chosen | {"held_out": max(means)}


def write_unlabeled(program, file, lines):
    """Documents whose classes are not read: texts alone, or SVMlight's lines."""
    is_svmlight = program.suffix == ".svm"
    text = labeled.text_of(lines, ".svm") if is_svmlight else "".join(f"{x}\n" for _, x in lines)
    file.write_text(text, encoding="utf-8")


def evaluate(program, train, test, unlabeled, name):
    """What all columns reach for one division: accuracy, settings, and the p-value of the paired
    bootstrap against L2."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program.write(folder, "train", train)
        program.write(folder, "test", test)
        write_unlabeled(program, program.file(folder, "unlabeled"), unlabeled)
        columns = {column: (COLUMNS[column], []) for column in program.columns}
        name_of_more = "+Test" if unlabeled == test else "+Unlabeled"
        for base, options in UNLABELED.items():
            if base in columns:
                column = name_of_more if base == "Dropout" else f"{base}, {name_of_more}"
                columns[column] = ([*options, *WEIGHTS], [program.file(folder, "unlabeled")])
        for column, (options, files) in columns.items():
            model = folder / f"{column.replace(' ', '-')}.model"
            if files:
                base = column.split(", ")[0] if ", " in column else "Dropout"
                options = [*options, "--l2", found[base]["chosen"]["l2"]]
            transductive = bool(files) and unlabeled == test
            chosen = program.tune(program, folder, model, options, files, transductive)
            files = [model, program.file(folder, "test")]
            against = ["--against", folder / "L2.model"] if "L2" in found else []
            report = json.loads(program.run("eval", *files, *against, "--json"))
            found[column] = {"accuracy": 100 * report["accuracy"], "chosen": chosen}
            if against:
                found[column]["p_value"] = report["against"]["accuracy"]["p_value"]
            print(name, column, found[column], file=sys.stderr, flush=True)
    return found


def folds(program, corpus):
    """Ten folds. Those of RT-2k are the numbers in the names of its files."""
    classes = labeled.by_class(everything(corpus))
    results = []
    for fold in range(program.divisions):
        test = labeled.part(classes, lambda i, size: i * FOLDS // size == fold)
        train = labeled.part(classes, lambda i, size: i * FOLDS // size != fold)
        results.append(evaluate(program, train, test, test, fold))
    return results


def everything(corpus):
    """All documents by class, those to train first."""
    return labeled.grouped(corpus.train + (corpus.test or []))


def shuffled(corpus, seed):
    """All documents, those of each class in random order."""
    classes = labeled.by_class(everything(corpus))
    for bodies in classes.values():
        random.Random(seed).shuffle(bodies)
    return classes


def thirds(program, corpus):
    """Ten random divisions into thirds: to train, to test, without classes."""
    results = []
    for seed in range(program.divisions):
        classes = shuffled(corpus, seed)
        parts = [labeled.part(classes, lambda i, size: i * 3 // size == k) for k in range(3)]
        results.append(evaluate(program, *parts, seed))
    return results


def table2(program, corpus):
    """The test documents of the corpus, or a random half."""
    train, test = labeled.grouped(corpus.train), corpus.test
    if test is None:
        classes = shuffled(corpus, 1)
        train, test = (labeled.part(classes, lambda i, size: i * 2 // size == k) for k in range(2))
    return {"description": describe(program, train, test),
            "parts": [evaluate(program, train, test, test, corpus.name)]}


def describe(program, train, test):
    """What table 1 has of a corpus."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program.write(folder, "train", train)
        program.run("train", program.file(folder, "train"), "--model", folder / "model", "--quiet",
                    "--max-iterations", 1, "--log", folder / "log", *program.features)
        start = json.loads((folder / "log").read_text().splitlines()[0])
    return {"q": round(start["active_per_token"]), "d": start["attributes"],
            "K": start["labels"], "N_train": len(train), "N_test": len(test)}


def strengths(program, corpus):
    """Accuracy over folds by λ of λ·‖θ‖², until convergence, with and without noise."""
    results = {strength: {line: [] for line in LINES} for strength in STRENGTHS}
    classes = labeled.by_class(everything(corpus))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        train, test = (program.file(folder, name) for name in ("train", "test"))
        for fold in range(FOLDS):
            program.write(folder, "test",
                          labeled.part(classes, lambda i, size: i * FOLDS // size == fold))
            program.write(folder, "train",
                          labeled.part(classes, lambda i, size: i * FOLDS // size != fold))
            for strength, line in itertools.product(STRENGTHS, LINES):
                accuracy = program.accuracy(train, test, LINES[line] | {"l2": strength})
                results[strength][line].append(accuracy)
    return results


def plot(_, results, stem):
    """A table and a plot of accuracy by strength."""
    lines = [f"| corpus | λ | {' | '.join(LINES)} |", "|---|---:" + "|---:" * len(LINES) + "|"]
    panels = []
    for name, rows in results.items():
        means = {line: [statistics.mean(row[line]) for row in rows.values()] for line in LINES}
        for i, strength in enumerate(rows):
            cells = [f"{means[line][i]:.2f}" for line in LINES]
            lines.append(f"| {name} | {strength} | {' | '.join(cells)} |")
        values = [float(strength) for strength in rows]
        panels.append((name, [(line, list(zip(values, means[line]))) for line in LINES]))
    draw(stem.with_suffix(".svg"), panels, {"label": "λ", "scale": "log"}, {"label": "accuracy"})
    return "\n".join(lines) + "\n"


def table(mode, results, _):
    lines = ["| corpus | column | paper | ours | ± | over L2 | p |",
             "|---|---|---:|---:|---:|---:|---:|"]
    descriptions = ["", "| corpus | q | d | K | N train | N test |",
                    "|---|---:|---:|---:|---:|---:|"]
    for name, parts in results.items():
        if mode == "table2":
            cells = " | ".join(map(str, parts["description"].values()))
            descriptions.append(f"| {name} | {cells} |")
            parts = parts["parts"]
        for column in parts[0]:
            scores = [found[column]["accuracy"] for found in parts]
            paper = PAPER[mode].get(name, {}).get(column, "")
            deviation = f"{statistics.stdev(scores):.2f}" if len(parts) > 1 else ""
            cells = [name, column, str(paper), f"{statistics.mean(scores):.2f}", deviation]
            lines.append(f"| {' | '.join(cells + over(parts, column))} |")
    return "\n".join(lines + (descriptions if mode == "table2" else [])) + "\n"


def over(parts, column):
    """The difference to L2 and its p-value: of a paired t-test over divisions, or, of one division,
    of the paired bootstrap over documents."""
    if column in ("None", "L2") or "L2" not in parts[0]:
        return ["", ""]
    differences = [found[column]["accuracy"] - found["L2"]["accuracy"] for found in parts]
    p = paired_t(differences)["p_value"] if len(parts) > 1 else parts[0][column]["p_value"]
    return [f"{statistics.mean(differences):+.2f}", f"{p:.3f}"]


if __name__ == "__main__":
    main()
