#!/usr/bin/env python3
"""Compares sizes of models and their scores: dropchain's precisions and pruning, and CRFsuite.

    pip install python-crfsuite
    cargo build --release
    python3 benches/compare/model_size.py FOLDER_WITH_CONLL2000 > table.md

CoNLL-2000, without noise, to convergence; every tenth sentence of the training file is held out and
scored. The same attributes are the 19 templates of CRFsuite's chunking example, with weights for
observed pairs only, the same penalty and the same end; the template `chunk` has weights for all
labels. Labels that differ are those of held-out tokens, from the model with weights of 8 bytes.
"""

import json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import PROGRAM, read_conll, write_attributes
from tagging import train_crfsuite

PRECISIONS = ["f64", "f32", "f16"]
THRESHOLDS = ["0.001", "0.01", "0.03"]
L2 = "1"  # that of train_crfsuite


def write_columns(sentences, path):
    with open(path, "w", encoding="utf-8") as out:
        for sentence in sentences:
            out.write("\n".join(" ".join(cells) for cells in sentence) + "\n\n")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def score(model, data):
    """Returns the F1 of a model on a file, and the labels that it gives."""
    f1 = json.loads(run("eval", model, data, "--json"))["f1"]
    labels = [line.split()[-1] for line in run("tag", model, data).splitlines() if line]
    return 100 * f1, labels


def main():
    folder = sys.argv[1]
    sentences = list(read_conll(os.path.join(folder, "train.txt")))
    held_out = sentences[::10]
    rest = [sentence for i, sentence in enumerate(sentences) if i % 10]
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        write_columns(rest, path("train.txt"))
        write_columns(held_out, path("dev.txt"))
        write_attributes(rest, path("train.crfsuite"))
        write_attributes(held_out, path("dev.crfsuite"))
        train_crfsuite(rest, path("crfsuite"), 1000)
        megabytes = lambda model: os.path.getsize(path(model)) / 1e6
        baseline = megabytes("crfsuite")
        f1, _ = score(path("crfsuite"), path("dev.crfsuite"))
        columns = "attributes | weights | pruned below | MB | of CRFsuite's | F1"
        print(f"| {columns} | labels that differ |")
        print("|---|---|---|--:|--:|--:|--:|")
        print(f"| same | CRFsuite, 8 bytes | | {baseline:.1f} | 1.00 | {f1:.2f} | |")
        same = [path("train.crfsuite"), "--states", "observed", "--boundary", "off"]
        same += ["--dropout", "0", "--l2", L2]
        chunk = [path("train.txt"), "--columns", "word,pos,chunk", "--template", "chunk"]
        chunk += ["--dropout", "0"]
        for name, data, options in [("same", "dev.crfsuite", same), ("`chunk`", "dev.txt", chunk)]:
            exact = None
            cases = [(precision, "0") for precision in PRECISIONS]
            cases += [("f16", threshold) for threshold in THRESHOLDS]
            for precision, threshold in cases:
                run(
                    *["train", *options, "--precision", precision, "--prune", threshold],
                    *["--model", path("model"), "--quiet"],
                )
                f1, labels = score(path("model"), path(data))
                exact = exact or labels
                differ = sum(a != b for a, b in zip(exact, labels))
                size = megabytes("model")
                print(
                    f"| {name} | {precision} | {threshold if threshold != '0' else ''} | {size:.1f}"
                    f" | {size / baseline:.2f} | {f1:.2f} | {differ} of {len(exact)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
