#!/usr/bin/env python3
"""Trains along different courses on development data, and prints a table of the scores.

    course.py PROGRAM CORPORA LOGS [CORPUS…]

PROGRAM is dropchain, CORPORA the folder of the public corpora; a run whose log is in LOGS already
is not repeated. Each run goes on for its number of iterations whatever the scores, so one log tells
what stopping on development data would have chosen, and what training without such data ends with.
"""

import json
import pathlib
import subprocess
import sys

NAMES = ["--columns", "word,pos,ner", "--label", "ner"]
DUTCH = ("conll2002-ned/ned.train", "conll2002-ned/ned.testa")
SPANISH = ("conll2002-esp/esp.train", "conll2002-esp/esp.testa")
WNUT = ("wnut17/train.conll", "wnut17/dev.conll")
EWT = ("ewt/train.conllu", "ewt/dev.conllu")
CORPORA = {  # training file, development file, options
    "Dutch, ner": (*DUTCH, [*NAMES, "--template", "ner"]),
    "Spanish, ner": (*SPANISH, [*NAMES, "--template", "ner"]),
    "Spanish, ner-finkel": (*SPANISH, [*NAMES, "--template", "ner-finkel"]),
    "W-NUT 2017, ner, IO": (*WNUT, ["--scheme", "io", "--template", "ner"]),
    "EWT UPOS, pos-sancl": (*EWT, ["--label", "upos", "--template", "pos-sancl"]),
    "EWT UPOS, pos": (*EWT, ["--label", "upos", "--template", "pos"]),
    "CoNLL-2000, chunk": (
        "chunks.train",  # made of conll2000/train.txt
        "chunks.dev",
        ["--columns", "word,pos,chunk", "--template", "chunk"],
    ),
}


def rates(node, edge, l2):
    """Returns the options of these rates."""
    return ["--dropout", str(node), "--edge-dropout", str(edge), "--l2", str(l2)]


REWEIGHTED = ["--gradient", "reweighted=20"]
COURSES = {  # options, iterations
    "L2 0.03": (["--dropout", "0", "--l2", "0.03"], 100),
    "L2 0.1": (["--dropout", "0", "--l2", "0.1"], 60),
    "L2 0.3": (["--dropout", "0", "--l2", "0.3"], 100),
    "L2 1": (["--dropout", "0", "--l2", "1"], 60),
    "as shipped": (rates(0.3, 0.6, 0.1), 200),
    "L2 0.05": (rates(0.3, 0.6, 0.05), 120),
    "0.5/0.5, L2 0.1": (rates(0.5, 0.5, 0.1), 120),
    "warm-up 10": ([*rates(0.3, 0.6, 0.1), "--warm-up", "10"], 120),
    "warm-up 10, L2 0.03": ([*rates(0.3, 0.6, 0.03), "--warm-up", "10"], 140),
    "warm-up 5": ([*rates(0.3, 0.6, 0.1), "--warm-up", "5"], 120),
    "no warm-up": ([*rates(0.3, 0.6, 0.1), "--warm-up", "0"], 200),
    "no warm-up, 0.5/0.5, L2 0.03": ([*rates(0.5, 0.5, 0.03), "--warm-up", "0"], 200),
    "no warm-up, 0.5/0.5, no L2": ([*rates(0.5, 0.5, 0), "--warm-up", "0"], 200),
    "reweighted, 0.3/0.6, L2 0.1": ([*rates(0.3, 0.6, 0.1), *REWEIGHTED], 120),
    "reweighted, 0.3/0.6, no warm-up": (
        [*rates(0.3, 0.6, 0.1), *REWEIGHTED, "--warm-up", "0"],
        120,
    ),
    "reweighted, 0.15/0.3, L2 0.1": ([*rates(0.15, 0.3, 0.1), *REWEIGHTED], 100),
    "reweighted, 0.1/0.2, L2 0.1": ([*rates(0.1, 0.2, 0.1), *REWEIGHTED], 100),
    "reweighted, 0.1/0.1, L2 0.03": ([*rates(0.1, 0.1, 0.03), *REWEIGHTED], 100),
    "reweighted, 0.2/0.2, L2 0.03": ([*rates(0.2, 0.2, 0.03), *REWEIGHTED], 100),
}
PATIENCE = 40


def split_chunks(corpora, folder):
    """Writes the last 936 training sentences of CoNLL-2000 as development data."""
    sentences = (corpora / "conll2000/train.txt").read_text().strip("\n").split("\n\n")
    for name, part in [("chunks.train", sentences[:-936]), ("chunks.dev", sentences[-936:])]:
        (folder / name).write_text("\n\n".join(part) + "\n\n")


def train(program, corpora, logs, corpus, course):
    """Trains once, unless there is a log, and returns its iterations."""
    train, dev, options = CORPORA[corpus]
    course_options, iterations = COURSES[course]
    name = "".join(c if c.isalnum() else "-" for c in f"{corpus}.{course}")
    log = logs / f"{name}.log"
    if not log.exists():
        files = [(logs if f.startswith("chunks") else corpora) / f for f in (train, dev)]
        partial = logs / "running"
        command = [program, "train", files[0], "--dev", files[1], *options, *course_options]
        command += ["--max-iterations", str(iterations), "--patience", "1000", "--force", "--quiet"]
        command += ["--model", logs / "model", "--log", partial, "--threads", "1"]
        subprocess.run(command, check=True)
        partial.rename(log)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line["event"] == "iteration"]


def score(line):
    """Returns the score of an iteration in percent."""
    return 100 * line.get("dev_f1", line.get("dev_accuracy", 0))


def summary(iterations):
    """Returns the best score with patience, its iteration, and the mean of the last ten scores."""
    scores = [score(line) for line in iterations]
    best = 0
    for number, value in enumerate(scores):
        if value > scores[best]:
            best = number
        elif number - best >= PATIENCE:
            break
    return scores[best], best, sum(scores[-10:]) / 10


def main():
    """Prints a row per run."""
    program, corpora, logs, *chosen = sys.argv[1:]
    corpora, logs = pathlib.Path(corpora), pathlib.Path(logs)
    logs.mkdir(exist_ok=True)
    split_chunks(corpora, logs)
    print("| corpus | course | stopped on dev | at | last | R |\n|---|---|---|---|---|---|")
    for corpus in chosen or CORPORA:
        for course in COURSES:
            iterations = train(program, corpora, logs, corpus, course)
            best, at, last = summary(iterations)
            noise = iterations[-1]["dropout"]
            scores = f"{best:.2f} | {at} | {last:.2f} | {noise:.0f}"
            print(f"| {corpus} | {course} | {scores} |", flush=True)


main()
