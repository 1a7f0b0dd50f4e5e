#!/usr/bin/env python3
"""Courses of training compared over five folds of the training data of every corpus.

    python3 folds.py PROGRAM CORPORA OUT [--only NAME…] [--minutes N] > table.md

README.md in this folder describes what is run and how the table is read. Every finished run is a
JSON file in OUT; the same command continues where it was interrupted, and prints the table.
"""

import argparse
import dataclasses
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

FOLDS = 5
DEFAULT, NO_WARM_UP = "default", "no warm-up"
COURSES = {
    "L2 0.03": ["--dropout", "0", "--l2", "0.03"],
    "L2 0.1": ["--dropout", "0", "--l2", "0.1"],
    "L2 0.3": ["--dropout", "0", "--l2", "0.3"],
    "L2 1": ["--dropout", "0", "--l2", "1"],
    DEFAULT: [],
    NO_WARM_UP: ["--warm-up", "0"],
    "warm-up 5": ["--warm-up", "5"],
    "reweighted": "--gradient reweighted --dropout 0.1 --edge-dropout 0.2".split(),
}
NAMES = ("L2 0.1", "L2 0.3", DEFAULT, NO_WARM_UP, "warm-up 5", "reweighted")
POS = ("L2 0.03", "L2 0.1", DEFAULT, NO_WARM_UP, "warm-up 5")


@dataclasses.dataclass(frozen=True)
class Case:
    """A corpus with a template."""

    name: str
    file: str
    mark: str  # what a document begins with; without: blocks of BLOCK sentences
    options: tuple
    courses: tuple


BLOCK = 25
DUTCH = ("conll2002-ned/ned.train", "-DOCSTART-", ("--columns", "word,pos,ner"))
SPANISH = ("conll2002-esp/esp.train", "", ("--columns", "word,pos,ner"))
CHUNKS = ("conll2000/train.txt", "", ("--columns", "word,pos,chunk", "--scheme", "bioes"))
EWT = ("ewt/train.conllu", "# newdoc")


def case(name, corpus, template, courses, *options):
    """Returns the case of a template on a corpus."""
    file, mark, *columns = corpus
    return Case(name, file, mark, (*sum(columns, ()), "--template", template, *options), courses)


CASES = [
    case("W-NUT 2017, ner", ("wnut17/train.conll", ""), "ner", NAMES, "--scheme", "io"),
    case("Spanish, ner", SPANISH, "ner", NAMES),
    case("Dutch, ner", DUTCH, "ner", NAMES, "--document", "sentence"),
    case("EWT UPOS, pos", EWT, "pos", POS, "--label", "upos"),
    case("CoNLL-2000, chunk", CHUNKS, "chunk", NAMES[:5]),
    case("Dutch, ner-finkel", DUTCH, "ner-finkel", NAMES[:5], "--scheme", "io"),
    case("EWT XPOS, pos", EWT, "pos", ("L2 0.03", DEFAULT, NO_WARM_UP), "--label", "xpos"),
]


class Measurement:
    """Runs the program; what has been run is not run again."""

    counts = ("iterations",)  # columns with whole numbers

    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.program)
        self.corpora = os.path.abspath(arguments.corpora)
        self.out = os.path.abspath(arguments.out)
        self.end = time.monotonic() + 60 * arguments.minutes
        os.makedirs(self.out, exist_ok=True)

    def path(self, *parts):
        """Returns the path of a file in the folder of results."""
        name = "".join(c if c.isalnum() else "-" for c in "+".join(map(str, parts[:-1])))
        return os.path.join(self.out, f"{name}.{parts[-1]}")

    def split(self, case):
        """Writes the folds of a corpus: blocks of sentences, or documents, in turn."""
        with open(os.path.join(self.corpora, *case.file.split("/")), encoding="utf-8") as file:
            sentences = re.split(r"\n\s*\n", file.read().strip())
        end = os.path.splitext(case.file)[1]
        blocks = []
        for i, sentence in enumerate(sentences):
            if sentence.startswith(case.mark) if case.mark else i % BLOCK == 0:
                blocks.append([])
            blocks[-1].append(sentence)
        for fold in range(FOLDS):
            for kind in ("train", "dev"):
                path = self.path(case.name, fold, kind + end)
                is_dev = kind == "dev"
                chosen = [b for i, b in enumerate(blocks) if (i % FOLDS == fold) == is_dev]
                text = "\n\n".join("\n\n".join(block) for block in chosen) + "\n\n"
                if not os.path.exists(path):
                    with open(path + ".part", "w", encoding="utf-8") as file:
                        file.write(text)
                    os.replace(path + ".part", path)
        return end

    def train(self, case, end, fold, course):
        """Trains on all folds but one and tags that, unless done; returns the score."""
        result = self.path(case.name, fold, course, "json")
        if not os.path.exists(result) and time.monotonic() < self.end:
            train, dev = (self.path(case.name, fold, kind + end) for kind in ("train", "dev"))
            model, log = (self.path(case.name, fold, course, kind) for kind in ("model", "log"))
            command = [self.program, "train", train, "--dev", dev, *case.options, *COURSES[course]]
            command += ["--model", model, "--log", log, "--threads", "1", "--quiet", "--force"]
            # 3: the last line search failed
            if subprocess.run(command).returncode not in (0, 3):
                sys.exit(f"{command} failed")
            form = "conllu" if end == ".conllu" else "conll"
            with open(self.path(case.name, fold, course, form), "w", encoding="utf-8") as file:
                command = [self.program, "tag", model, dev, "--format", form, "--output", form]
                subprocess.run(command, check=True, stdout=file)
            os.remove(model)
            with open(log, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
            scores = [
                100 * event.get("dev_f1", event.get("dev_accuracy", 0))
                for event in events
                if event["event"] == "iteration"
            ]
            means = [statistics.mean(scores[i : i + 11]) for i in range(max(1, len(scores) - 10))]
            last = statistics.mean(scores[-10:])
            found = {**self.found(scores, events), "smooth": max(means), "last": last}
            with open(result + ".part", "w", encoding="utf-8") as file:
                json.dump({**found, "iterations": len(scores)}, file)
            os.replace(result + ".part", result)
            print(f"{case.name}, fold {fold}, {course}: {found}", file=sys.stderr, flush=True)

    def found(self, scores, events):
        """Returns the score of a run, given that of each iteration and the lines of its log."""
        return {"score": max(scores)}

    def results(self, case, course):
        """Returns the results of a course, or None if a fold is missing."""
        try:
            files = [open(self.path(case.name, fold, course, "json")) for fold in range(FOLDS)]
        except FileNotFoundError:
            return None
        return [json.load(file) for file in files]

    def pooled(self, case, course):
        """Writes the tagged text of all folds into one file; returns its path."""
        form = "conllu" if case.file.endswith("u") else "conll"
        path = self.path(case.name, course, form)
        with open(path, "w", encoding="utf-8") as out:
            for fold in range(FOLDS):
                with open(self.path(case.name, fold, course, form), encoding="utf-8") as file:
                    out.write(file.read().strip("\n") + "\n\n")
        return path

    def gold(self, case, end):
        """Writes the held-out text of all folds into one file; returns its path."""
        path = self.path(case.name, "gold" + end)
        with open(path, "w", encoding="utf-8") as out:
            for fold in range(FOLDS):
                with open(self.path(case.name, fold, "dev" + end), encoding="utf-8") as file:
                    out.write(file.read().strip("\n") + "\n\n")
        return path

    def rows(self, case):
        """Yields the rows of a case."""
        done = {course: self.results(case, course) for course in case.courses}
        done = {course: results for course, results in done.items() if results}
        mean = {c: statistics.mean(r["score"] for r in results) for c, results in done.items()}
        l2 = [course for course in done if course.startswith("L2")]
        if not l2:
            return
        best = max(l2, key=mean.get)
        end = os.path.splitext(case.file)[1]
        for course, results in done.items():
            scores = [result["score"] for result in results]
            cells = [case.name, course, f"{mean[course]:.2f} ± {statistics.stdev(scores):.2f}"]
            for key in ("smooth", "last"):
                cells.append(f"{statistics.mean(result[key] for result in results):.2f}")
            for key in self.counts:
                cells.append(f"{statistics.mean(result[key] for result in results):.0f}")
            if course.startswith("L2"):
                cells += ["", ""]
            else:
                base = [result["score"] for result in done[best]]
                ahead = sum(a > b for a, b in zip(scores, base))
                cells.append(f"{mean[course] - mean[best]:+.2f} ({ahead} of {FOLDS})")
                cells.append(self.p_value(case, end, best, course))
            yield f"| {' | '.join(cells)} |"

    def p_value(self, case, end, *courses):
        """Compares the tagged text of two courses, all folds together, by bootstrap."""
        tagged = [self.pooled(case, course) for course in courses]
        command = [self.program, "compare", self.gold(case, end), *tagged, "--json"]
        if "--label" in case.options:
            command += case.options[case.options.index("--label") :][:2]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        comparison = json.loads(run.stdout)
        p = (comparison.get("f1") or comparison["accuracy"])["p_value"]
        return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def main():
    """Runs what is missing and prints the table."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("corpora", metavar="CORPORA")
    parser.add_argument("out", metavar="OUT", help="folder for logs and results")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no training after this")
    parser.add_argument("--processes", type=int, default=2, help="at a time, of one thread each")
    arguments = parser.parse_args()
    measurement = Measurement(arguments)
    cases = [case for case in CASES if case.name in arguments.only]
    ends = {case: measurement.split(case) for case in cases}
    jobs = [
        (case, ends[case], fold, course)
        for case in cases
        for course in case.courses
        for fold in range(FOLDS)
    ]
    with ThreadPoolExecutor(arguments.processes) as pool:
        list(pool.map(lambda job: measurement.train(*job), jobs))
    columns = ["corpus, template", "course", "mean ± deviation", "smooth", "last"]
    columns += [*measurement.counts, "gain over L2", "p"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for case in cases:
        print("\n".join(measurement.rows(case)), flush=True)


if __name__ == "__main__":
    main()
