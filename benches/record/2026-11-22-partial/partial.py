#!/usr/bin/env python3
"""Training on partial labels against dropping the sentences that have them.

Usage: partial.py DROPCHAIN CORPORA/conll2000

Trains on the first 1,000 sentences of the training file of CoNLL-2000, of which a share has lost
the labels of about half of its tokens, and scores the last 1,000 sentences of that file. Nothing
is selected on them: all models are trained for 60 iterations with the
default options. The test file is not read.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

TRAIN, HELD_OUT = 1000, 1000
SHARES = (0.5, 0.8)


def read(path):
    text = path.read_text()
    return [block.splitlines() for block in text.strip().split("\n\n")]


def write(path, sentences):
    path.write_text("".join("\n".join(lines) + "\n\n" for lines in sentences))


def hidden(sentence, label, numbers):
    """Replaces the label of about half of the tokens."""
    lines = []
    for line in sentence:
        cells = line.split(" ")
        if numbers.random() < 0.5:
            cells[-1] = label
        lines.append(" ".join(cells))
    return lines


def score(program, directory, sentences, options=()):
    """Trains on sentences and returns F1 on the held-out ones."""
    train, model = directory / "train.conll", directory / "model"
    write(train, sentences)
    command = [program, "train", train, "--template", "chunk", "--columns", "word,pos,chunk",
               "--model", model, "--force", "--quiet", "--max-iterations", "60", *options]
    # Exit code 3: the model is written, but training has not converged.
    if subprocess.run(command).returncode not in (0, 3):
        sys.exit("training failed")
    command = [program, "eval", model, directory / "held-out.conll", "--json"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return 100 * json.loads(result.stdout)["f1"]


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    (path,) = corpus.glob("train*")
    sentences = read(path)
    train = sentences[:TRAIN]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write(directory / "held-out.conll", sentences[-HELD_OUT:])
        print(f"all labels: F1 {score(program, directory, train):.2f}", flush=True)
        for share in SHARES:
            is_hidden = [i < share * TRAIN for i in range(TRAIN)]
            random.Random(1).shuffle(is_hidden)
            known = [s for s, hide in zip(train, is_hidden) if not hide]

            def replaced(label):
                numbers = random.Random(2)
                pairs = zip(train, is_hidden)
                return [hidden(s, label, numbers) if hide else s for s, hide in pairs]

            partial = score(program, directory, replaced("_"), ["--partial-labels"])
            outside = score(program, directory, replaced("O"))
            dropped = score(program, directory, known) if known else float("nan")
            print(f"share {share}: partial {partial:.2f}, dropped {dropped:.2f}, "
                  f"hidden as O {outside:.2f}", flush=True)


if __name__ == "__main__":
    main()
