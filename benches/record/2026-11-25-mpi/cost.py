"""What an evaluation costs by token, by attribute and label, and by weight.

Trains with one thread on corpora, and on two copies of them, which have the same weights; fits

    milliseconds = tokens · (E + F · attributes · S + G · K · S) + O · weights

where attributes are those of a token after collapsing, K is the number of labels, and S that number
rounded up to whole SIMD vectors of 8; relative errors weigh alike.

    python3 cost.py DROPCHAIN CORPORA > cost.md

Needs NumPy.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy

CASES = {
    "conll2000, chunk": ("conll2000/train.txt", "--template chunk"),
    "ewt, pos-sancl": ("ewt/train.conllu", "--template pos-sancl --label upos"),
    "wnut17, ner": ("wnut17/train.conll", "--template ner"),
    "conll2002-esp, ner": ("conll2002-esp/esp.train", "--template ner"),
}
NOISES = {"no noise": "--dropout 0", "dropout": "--dropout 0.5 --warm-up 0"}
ROUNDS = 3


def measure(program, text, suffix, options):
    """Returns tokens, attributes per token, labels, weights, and ms per evaluation."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        train = pathlib.Path(folder) / f"train{suffix}"
        train.write_text(text)
        options = f"{options} --threads 1 --max-iterations 16 --quiet --force --model m --log log"
        for _ in range(ROUNDS):
            command = [program, "train", train, *options.split()]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode not in (0, 3):
                sys.exit(done.stderr)
            log = [json.loads(x) for x in (train.parent / "log").read_text().splitlines()]
            iterations = [line for line in log if line["event"] == "iteration"]
            first, last = iterations[4], iterations[-1]
            evaluations = last["evaluations"] - first["evaluations"]
            times.append(1e3 * (last["seconds"] - first["seconds"]) / evaluations)
    start = log[0]
    active = start.get("collapsed_active_per_token", start["active_per_token"])
    return start["tokens"], active, start["labels"], start["weights"], statistics.median(times)


def main():
    program, corpora = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    for noise, noise_options in NOISES.items():
        rows, names = [], []
        for name, (path, options) in CASES.items():
            file = corpora / path
            text = file.read_text(encoding="utf-8").rstrip("\n") + "\n\n"
            for copies in (1, 2):
                options_of_run = f"{options} {noise_options}"
                rows.append(measure(program, text * copies, file.suffix, options_of_run))
                names.append(f"{name}, {copies} ×" if copies > 1 else name)
        tokens, active, labels, weights, times = map(numpy.array, zip(*rows))
        padded = -(-labels // 8) * 8
        by_token = [tokens, tokens * active * padded, tokens * labels * padded]
        terms = numpy.stack([*by_token, weights], axis=1)
        relative = terms / times[:, None]
        cost = numpy.linalg.lstsq(relative, numpy.ones(len(times)), rcond=None)[0]
        fitted = terms @ cost
        print(f"{noise}: E = {1e3 * cost[0]:.2f} µs per token, F = {1e6 * cost[1]:.2f} ns per "
              f"attribute and label, G = {1e6 * cost[2]:.2f} ns per label pair, "
              f"O = {1e6 * cost[3]:.1f} ns per weight\n")
        print("| corpus, template | tokens | attributes | K | weights | ms measured | ms fitted | "
              "error |\n|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, row, fit in zip(names, rows, fitted):
            t, a, k, w, ms = row
            print(f"| {name} | {t} | {a:.1f} | {k} | {w} | {ms:.1f} | {fit:.1f} | "
                  f"{100 * (fit / ms - 1):+.0f} % |", flush=True)
        print()


main()
