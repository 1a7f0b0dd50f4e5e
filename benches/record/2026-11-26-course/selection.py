#!/usr/bin/env python3
"""Which iteration and which recall bias hold on data that did not choose them.

    python3 selection.py train PROGRAM CORPORA OUT
    python3 selection.py table OUT

README.md in this folder describes what is run and how the table is read. Needs NumPy for the table.
"""

import json
import os
import random
import statistics
import subprocess
import sys

GROUPS = 40
COURSES = {
    "L2 0.03": "--dropout 0 --l2 0.03",
    "L2 0.1": "--dropout 0 --l2 0.1",
    "L2 0.3": "--dropout 0 --l2 0.3",
    "warm-up 20, 0.3 / 0.6, L2 0.1": "--dropout 0.3 --edge-dropout 0.6 --warm-up 20",
    "warm-up 20, 0.3 / 0.3, L2 0.1": "--dropout 0.3 --edge-dropout 0.3 --warm-up 20",
    "no warm-up, 0.3 / 0.3, L2 0.1": "--dropout 0.3 --edge-dropout 0.3 --warm-up 0",
    "no warm-up, 0.3 / 0.3, L2 0.02": "--dropout 0.3 --edge-dropout 0.3 --warm-up 0 --l2 0.02",
    "warm-up 20, 0.5 / 0.5, L2 0.1": "--dropout 0.5 --edge-dropout 0.5 --warm-up 20",
}
# Training and development file, template, recall biases, training sentences.
CORPORA = {
    "Dutch": ("conll2002-ned/ned.train", "conll2002-ned/ned.testa", "ner", "0,0.5,1,2", 2000),
    "Spanish": ("conll2002-esp/esp.train", "conll2002-esp/esp.testa", "ner", "0,0.5,1,2", 2000),
    "W-NUT 2017": ("wnut17/train.conll", "wnut17/dev.conll", "ner", "0,3,4,5,6,7,8", None),
    "CoNLL-2000": ("conll2000/train.txt", None, "chunk", "-0.5,0,0.5", 2000),
    "EWT UPOS": ("ewt/train.conllu", "ewt/dev.conllu", "pos", "", 2000),
}
WITH_IO = ("Dutch", "Spanish", "W-NUT 2017")


def sentences(path):
    """Returns the sentences of a file, without document marks."""
    with open(path, encoding="utf-8") as file:
        found = file.read().strip().split("\n\n")
    return [sentence for sentence in found if not sentence.startswith("-DOCSTART-")]


def sample(blocks, count, size, seed):
    """Returns about `count` sentences, in random blocks."""
    blocks = [blocks[i : i + size] for i in range(0, len(blocks), size)]
    random.Random(seed).shuffle(blocks)
    return [sentence for block in blocks for sentence in block][:count]


def train(program, corpora, out):
    """Runs what is missing."""
    os.makedirs(out, exist_ok=True)
    for name, (file, dev_file, template, biases, count) in CORPORA.items():
        training = sentences(os.path.join(corpora, file))
        if dev_file:
            dev = sentences(os.path.join(corpora, dev_file))
        else:
            training, dev = training[:-936], training[-936:]
        if count:
            training, dev = sample(training, count, 10, 7), sample(dev, 800, 20, 7)
        paths = [os.path.join(out, f"{name}.{kind}") for kind in ("train", "dev")]
        for path, text in zip(paths, (training, dev)):
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n\n".join(text) + "\n\n")
        for scheme in ("raw", "io") if name in WITH_IO else ("raw",):
            for course, options in COURSES.items():
                path = os.path.join(out, f"{name}, {scheme}: {course.replace('/', '|')}")
                if os.path.exists(path):
                    continue
                command = [program, "train", paths[0], "--dev", paths[1], "--template", template]
                command += ["--scheme", scheme, "--max-iterations", "80", "--patience", "1000"]
                command += ["--model", os.path.join(out, "model"), "--quiet", "--force"]
                command += ["--format", "conllu" if template == "pos" else "conll"]
                environment = {"SELECTION_OUT": path + ".part", "SELECTION_BIASES": biases}
                subprocess.run(
                    command + options.split(), env={**os.environ, **environment}, check=True
                )
                os.replace(path + ".part", path)


def choose(scores, patience=40):
    """Returns the iteration that training keeps."""
    best = 0
    for i, value in enumerate(scores):
        if value > scores[best]:
            best = i
        elif scores[best] > 0 and i >= best + patience:
            break
    return best


def table(out):
    """Prints the table."""
    import numpy

    draw = random.Random(3)
    halves = [draw.sample(range(GROUPS), GROUPS // 2) for _ in range(60)]
    halves += [[g for g in range(GROUPS) if g not in half] for half in halves]
    rules = {
        "outside, best": (1, False, 1),
        "outside, mean of 5": (1, False, 5),
        "outside, average of 8": (8, False, 1),
        "starts, best": (1, True, 1),
        "starts, mean of 5": (1, True, 5),
        "starts, average of 8": (8, True, 1),
    }

    def score(counts, has_spans):
        if has_spans:
            return 200 * counts[..., 0] / numpy.maximum(counts[..., 1] + counts[..., 2], 1)
        return 100 * counts[..., 3] / counts[..., 4]

    print(f"| corpus | course | {' | '.join(rules)} | iteration |\n{'|---' * 9}|")
    for name in sorted(n for n in os.listdir(out) if ": " in n and not n.endswith(".part")):
        corpus, course = name.split(": ")
        variants = {}
        with open(os.path.join(out, name), encoding="utf-8") as file:
            for line in map(json.loads, file):
                key = line["averaged"], line["starts"], line["bias"]
                variants.setdefault(key, []).append(line["groups"])
        cells, chosen = [], []
        for rule, (averaged, starts, width) in rules.items():
            keys = [k for k in variants if k[0] == averaged and (k[1] == starts or k[2] == 0)]
            # [iterations][biases][groups][counts]
            counts = numpy.stack([numpy.array(variants[key], float) for key in keys], 1)
            found = []
            for half in halves:
                rest = [g for g in range(GROUPS) if g not in half]
                has_spans = "UPOS" not in name
                seen, held_out = (
                    score(counts[:, :, groups].sum(2), has_spans) for groups in (half, rest)
                )
                smooth = numpy.stack(
                    [seen[max(0, i + 1 - width) : i + 1].mean(0) for i in range(len(seen))]
                )
                best = choose(smooth.max(1))
                found.append(held_out[best, smooth[best].argmax()])
                if rule == "starts, mean of 5":
                    chosen.append(best)
            cells.append(f"{statistics.mean(found):.2f}")
        row = [corpus, course.replace("|", "/"), *cells, f"{statistics.median(chosen):.0f}"]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
