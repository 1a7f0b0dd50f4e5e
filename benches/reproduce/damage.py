#!/usr/bin/env python3
"""Scores on damaged text (Chen et al. 2014, section 6.4), by the rate of what is left out.

    python3 benches/reproduce/damage.py names CORPORA OUT      W-NUT 2017: attributes
    python3 benches/reproduce/damage.py chunks CORPORA OUT     CoNLL-2000: parts of speech
    python3 benches/reproduce/damage.py documents CORPORA OUT  RTs: words; SVMs, too

Each method trains with several strengths. For each rate of damage, the model is the one that is
best on development data damaged at this rate; its score on test data, damaged at the same rate, is
what the table has. Of CoNLL-2000, the first 2000 sentences are training data and the last 936
development data; of RTs, a tenth each is development and test data. Writes OUT/damage-TASK.md and
.json.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import labeled
from corpora import read_sentences, write_sentences

DROPOUT = [["--dropout", rate, "--l2", l2]
           for rate in ("0.3", "0.5", "0.7", "0.9") for l2 in ("0.01", "0.1", "1")]
L2 = [["--dropout", "0", "--l2", l2] for l2 in ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")]
METHODS = {"L2": L2, "dropout": DROPOUT}
HINGE = ["--loss", "hinge"]
SVMS = {
    "SVM": [[*HINGE, "--dropout", "0", "--l2", l2] for l2 in ("0.3", "1", "3", "10", "30")],
    "dropout SVM": [[*HINGE, "--dropout", rate, "--l2", l2]
                    for rate in ("0.3", "0.5", "0.7", "0.9") for l2 in ("0.1", "0.3", "1")],
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = {"names": names, "chunks": chunks, "documents": documents}
    parser.add_argument("task", choices=tasks)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", default="target/release/dropchain")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        results = tasks[arguments.task](arguments.program, arguments.corpora, Path(folder))
    stem = arguments.out / f"damage-{arguments.task}"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text("\n".join(table(*item) for item in results.items()))


def names(program, corpora, folder):
    """F1 on W-NUT 2017 with the template `ner`."""
    parts = [f"{part}.conll" for part in ("train", "dev", "test")]
    public = labeled.public(corpora, "wnut17", *parts)
    train, dev, test = (str(public / part) for part in parts)
    models = train_all(folder, METHODS, [program, "train", train, "--template", "ner"])
    left_out = ["--delete", "0..0.9"]
    return {"attributes left out": best(models, [program, "eval"], dev, test, left_out, "f1")}


def chunks(program, corpora, folder):
    """F1 on CoNLL-2000 with the template `chunk`."""
    public = labeled.public(corpora, "conll2000", "train.txt", "test.txt")
    sentences = list(read_sentences(public / "train.txt"))
    train, dev = str(folder / "train.conll"), str(folder / "dev.conll")
    write_sentences(train, sentences[:2000])
    write_sentences(dev, sentences[-936:])
    test = str(public / "test.txt")
    options = ["--template", "chunk", "--columns", "word,pos,chunk"]
    models = train_all(folder, METHODS, [program, "train", train, *options])
    missing = ["--missing", "pos=0..1"]
    return {"pos missing": best(models, [program, "eval"], dev, test, missing, "f1")}


def documents(program, corpora, folder):
    """Accuracy on RTs."""
    classes = labeled.by_class(labeled.read_snippets(corpora).train)
    parts = {"dev": lambda i, n: i % 10 == 0, "test": lambda i, n: i % 10 == 1,
             "train": lambda i, n: i % 10 > 1}
    files = {name: folder / f"{name}.tsv" for name in parts}
    for name, is_in in parts.items():
        lines = labeled.part(classes, is_in)
        files[name].write_text(labeled.text_of(lines, ".tsv"), encoding="utf-8")
    train, dev, test = (str(files[name]) for name in ("train", "dev", "test"))
    models = train_all(folder, METHODS | SVMS, [program, "classify", "train", train])
    command = [program, "classify", "eval"]
    return {"words left out": best(models, command, dev, test, ["--delete", "0..0.9"], "accuracy")}


def train_all(folder, methods, command):
    """Returns the models of each method."""
    models = {}
    for method, settings in methods.items():
        models[method] = []
        for i, options in enumerate(settings):
            model = folder / f"{method.replace(' ', '-')}-{i}.model"
            run(command + options + ["--model", str(model), "--quiet"])
            models[method].append((options, str(model)))
    return models


def best(models, command, dev, test, damage, score):
    """Returns by method and rate the score on test data of the model that is best on dev data."""
    results = {}
    for method, candidates in models.items():
        def scores(model, file):
            reports = json.loads(run([*command, model, file, *damage, "--json"]))
            return {report["rate"]: 100 * report[score] for report in reports}

        on_dev = [(options, model, scores(model, dev)) for options, model in candidates]
        on_test = {}
        results[method] = []
        for rate in on_dev[0][2]:
            options, model, found = max(on_dev, key=lambda item: item[2][rate])
            if model not in on_test:
                on_test[model] = scores(model, test)
            results[method].append({"rate": rate, "options": " ".join(options),
                                    "dev": found[rate], "test": on_test[model][rate]})
    return results


def table(name, results):
    """A table with a row for each rate."""
    lines = [f"| {name} | " + " | ".join(results) + " |", "|---:" * (len(results) + 1) + "|"]
    for cells in zip(*results.values()):
        scores = (f"{cell['test']:.2f}" for cell in cells)
        lines.append(f"| {cells[0]['rate']:.1f} | " + " | ".join(scores) + " |")
    return "\n".join(lines) + "\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: as good as converged
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
