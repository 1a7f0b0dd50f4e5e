#!/usr/bin/env python3
"""Courses of training compared on little training data: 100 to 3,000 sentences.

    python3 sizes.py PROGRAM CORPORA OUT > sizes.md

README.md in this folder describes what is run and how the table is read. Every finished run is a
JSON file in OUT; the same command continues where it was interrupted.
"""

import json
import os
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

NAMES = "--columns word,pos,ner --template ner".split()
CASES = {  # training file, development file, options
    "Dutch, ner": (
        "conll2002-ned/ned.train",
        "conll2002-ned/ned.testa",
        [*NAMES, "--document", "sentence"],
    ),
    "Spanish, ner": ("conll2002-esp/esp.train", "conll2002-esp/esp.testa", NAMES),
    "EWT UPOS, pos": (
        "ewt/train.conllu",
        "ewt/dev.conllu",
        ["--label", "upos", "--template", "pos"],
    ),
}
COURSES = {
    "L2 0.1": ["--dropout", "0", "--l2", "0.1"],
    "L2 0.3": ["--dropout", "0", "--l2", "0.3"],
    "default": ["--warm-up", "20"],
    "warm-up 5": ["--warm-up", "5"],
    "no warm-up": ["--warm-up", "0"],
    "rate 0.15": ["--warm-up", "20", "--dropout", "0.15"],
    "reweighted": "--gradient reweighted --dropout 0.1 --edge-dropout 0.2".split(),
}
SIZES = {100: 3, 300: 3, 1000: 3, 3000: 1}  # sentences: number of draws
BLOCK = 10


def draw(path, size, seed):
    """Returns random blocks of adjacent sentences."""
    with open(path, encoding="utf-8") as file:
        sentences = file.read().strip("\n").split("\n\n")
    sentences = [s for s in sentences if not s.startswith("-DOCSTART-")]
    blocks = [sentences[i : i + BLOCK] for i in range(0, len(sentences), BLOCK)]
    random.Random(seed).shuffle(blocks)
    chosen = [sentence for block in blocks[: size // BLOCK] for sentence in block]
    return "\n\n".join(chosen) + "\n\n"


def run(program, corpora, out, job):
    """Trains once, unless there is a result; returns the best score and the best mean of eleven."""
    case, size, seed, course = job
    train, dev, options = CASES[case]
    name = "".join(c if c.isalnum() else "-" for c in "+".join(map(str, job)))
    result, log = (os.path.join(out, f"{name}.{end}") for end in ("json", "log"))
    if not os.path.exists(result):
        part = os.path.join(out, name + os.path.splitext(train)[1])
        with open(part, "w", encoding="utf-8") as file:
            file.write(draw(os.path.join(corpora, train), size, seed))
        command = [program, "train", part, "--dev", os.path.join(corpora, dev), *options]
        command += [*COURSES[course], "--model", part + ".model", "--log", log]
        command += ["--threads", "1", "--quiet", "--force"]
        if subprocess.run(command).returncode not in (0, 3):  # 3: the last line search failed
            sys.exit(f"{command} failed")
        with open(log, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        scores = [
            100 * event.get("dev_f1", event.get("dev_accuracy", 0))
            for event in events
            if event["event"] == "iteration"
        ]
        means = [statistics.mean(scores[i : i + 11]) for i in range(max(1, len(scores) - 10))]
        with open(result, "w", encoding="utf-8") as file:
            json.dump([max(scores), max(means)], file)
        os.remove(part)
        os.remove(part + ".model")
    with open(result, encoding="utf-8") as file:
        return json.load(file)


def main():
    """Prints a row for each corpus and size."""
    program, corpora, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    jobs = [
        (case, size, seed, course)
        for case in CASES
        for size, draws in SIZES.items()
        for seed in range(draws)
        for course in COURSES
    ]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda job: run(program, corpora, out, job), jobs)
        results = dict(zip(jobs, results))
    columns = ["corpus, template", "sentences", "best L2", *list(COURSES)[2:]]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for case in CASES:
        for size, draws in SIZES.items():
            mean = {
                course: [
                    statistics.mean(results[case, size, seed, course][i] for seed in range(draws))
                    for i in range(2)
                ]
                for course in COURSES
            }
            l2 = max(list(COURSES)[:2], key=lambda course: mean[course][0])
            gains = [
                " / ".join(f"{mean[course][i] - mean[l2][i]:+.2f}" for i in range(2))
                for course in list(COURSES)[2:]
            ]
            print(f"| {case} | {size} | {mean[l2][0]:.2f} | {' | '.join(gains)} |")


main()
