#!/usr/bin/env python3
"""Adapts a tagger to another genre: parts of speech of reviews, from the other genres of EWT.

The source are all training sentences of the other genres; of reviews there are few. Each method
trains with several strengths and rates; the best on the development sentences of reviews is
evaluated once on the test sentences of reviews, and on those of the other genres.

usage: adaptation.py DROPCHAIN EWT [--sizes 50,200,1000] [--work DIR]
"""

import argparse
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

TARGET = "reviews"
RATES = [0, 0.3]
# method: its strengths c2
STRENGTHS = {
    "scratch": [0.03, 0.1, 0.3, 1],
    "init": [0.03, 0.1, 0.3, 1],
    "towards": [0.03, 0.1, 0.3, 1, 3, 10],
    "pooled": [0.03, 0.1, 0.3],
}


def sentences(file, is_target):
    """The sentences of a CoNLL-U file, of the target genre or of all others."""
    blocks = Path(file).read_text(encoding="utf-8").split("\n\n")
    genre = lambda block: block.split("sent_id = ")[1].split("-")[0]
    return [b for b in blocks if b.strip() and (genre(b) == TARGET) == is_target]


class Experiment:
    def __init__(self, program, folder, work):
        self.program, self.work = program, work
        for part in ["train", "dev", "test"]:
            for name, is_target in [("target", True), ("other", False)]:
                found = sentences(folder / f"{part}.conllu", is_target)
                self.write(f"{part}-{name}.conllu", found)
        self.target = sentences(folder / "train.conllu", True)

    def write(self, name, blocks):
        (self.work / name).write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")

    def run(self, *arguments):
        command = [self.program, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.work, check=True, capture_output=True, text=True)
        return done.stdout

    def train(self, model, *arguments, rate, strength):
        self.run(
            "train", *arguments, "--label", "upos", "--template", "pos", "--model", model,
            "--quiet", "--dropout", rate, "--l2", strength,
        )

    def accuracy(self, model, name):
        scores = json.loads(self.run("eval", model, name, "--label", "upos", "--json"))
        return 100 * scores["accuracy"]

    def best(self, method, train, extra):
        """The best configuration on the development data: accuracy, strength, rate."""
        found = []
        for strength, rate in itertools.product(STRENGTHS[method], RATES):
            model = f"{method}-{strength}-{rate}.model"
            files = [*train, "--dev", "dev-target.conllu", *extra]
            self.train(model, *files, rate=rate, strength=strength)
            found.append((self.accuracy(model, "dev-target.conllu"), strength, rate, model))
        return max(found, key=lambda result: result[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("ewt", type=Path)
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        experiment = Experiment(options.program, options.ewt.resolve(), work)
        source = ["train-other.conllu", "--dev", "dev-other.conllu"]
        experiment.train("source.model", *source, rate=0.3, strength=0.1)
        report(experiment, "source alone", 0, "source.model", 0.1, 0.3)
        for size in map(int, options.sizes.split(",")):
            experiment.write("small.conllu", experiment.target[:size])
            small = ["small.conllu"]
            methods = {
                "scratch": (small, []),
                "init": (small, ["--init", "source.model"]),
                "towards": (small, ["--towards", "source.model"]),
                "pooled": (["train-other.conllu", *small], []),
            }
            for method, (train, extra) in methods.items():
                _, strength, rate, model = experiment.best(method, train, extra)
                report(experiment, method, size, model, strength, rate)


def report(experiment, method, size, model, strength, rate):
    files = ["dev-target.conllu", "test-target.conllu", "test-other.conllu"]
    scores = [experiment.accuracy(model, name) for name in files]
    cells = [method, size, strength, rate, *(f"{score:.2f}" for score in scores)]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
