#!/usr/bin/env python3
"""The weight and the rate of unlabeled text: names in tweets, independent tokens.

    python3 benches/reproduce/transduction.py CORPORA OUT

Trains on W-NUT 2017 with the words of its test sentences in the noise term (Wang et al. 2013, table
2, +Test), by weight, rate and kind of noise, and scores the iteration that is best on development
data. Only what is best there, with and without unlabeled text, and the largest weight are scored on
test data. Writes OUT/transduction.md and .json.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import labeled
from cached import Program
from wager import write

OPTIONS = ["--format", "conll", "--template", "ner-finkel", "--scheme", "io", "--order", "0",
           "--l2", "0.1", "--warm-up", "0"]
WEIGHTS = ("0", "0.02", "0.1", "0.4", "1")
NOISE = {"quadratic": ([], ("0.1", "0.3", "0.5")), "reweighted": (["--noise", "reweighted"],
                                                                 ("0.1",))}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", default="target/release/dropchain")
    arguments = parser.parse_args()
    names = [f"{part}.conll" for part in ("train", "dev", "test")]
    folder = labeled.public(arguments.corpora, "wnut17", *names)
    files = [folder / name for name in names]
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / "transduction"
    program = Program(arguments.program, stem.with_suffix(".runs"))
    rows = [row for kind, (options, rates) in NOISE.items() for rate in rates
            for row in by_weight(program, files, kind, [*options, "--dropout", rate], rate)]
    for chosen in selected(rows):
        chosen["test"] = score(program, chosen["model"], files[2])
    stem.with_suffix(".json").write_text(json.dumps(
        [{key: value for key, value in row.items() if key != "model"} for row in rows],
        indent=1) + "\n")
    write(stem, table(rows))


def by_weight(program, files, kind, options, rate):
    train, dev, test = files
    for weight in WEIGHTS:
        folder = Path(tempfile.mkdtemp(dir=program.folder))
        model, log = folder / "model", folder / "log"
        more = ["--unlabeled", test, "--unlabeled-weight", weight]
        program.call("train", train, "--dev", dev, "--model", model, "--log", log, "--quiet",
                     "--threads", 1, *OPTIONS, *options, *(more if weight != "0" else []))
        events = [json.loads(line) for line in log.read_text().splitlines()]
        course = [event["dev_f1"] for event in events if "dev_f1" in event]
        row = {"noise": kind, "rate": rate, "weight": weight, "model": model,
               "iteration": events[-1]["best_iteration"], "dev": score(program, model, dev),
               "last": 100 * course[-1]}
        print({key: value for key, value in row.items() if key != "model"}, file=sys.stderr,
              flush=True)
        yield row


def score(program, model, file):
    text, _ = program.call("eval", model, file, "--format", "conll", "--json")
    report = json.loads(text)
    report = report.get("overall", report)
    return {key: 100 * report[key] for key in ("precision", "recall", "f1")}


def selected(rows):
    """The best on development data without and with unlabeled text, and the best with the
    largest weight, each of either kind of noise."""
    found = []
    for kind in NOISE:
        for is_in in (lambda row: row["weight"] == "0", lambda row: row["weight"] != "0",
                      lambda row: row["weight"] == WEIGHTS[-1]):
            of_kind = [row for row in rows if row["noise"] == kind and is_in(row)]
            found.append(max(of_kind, key=lambda row: row["dev"]["f1"]))
    return found


def table(rows):
    lines = ["| noise | rate | α | iteration | dev P | R | F1 | F1 at the end | test P | R | F1 |",
             "|---|---:|---:" + "|---:" * 8 + "|"]
    for row in rows:
        test = row.get("test")
        cells = [f"{value:.2f}" for value in row["dev"].values()] + [f"{row['last']:.2f}"]
        cells += [f"{value:.2f}" for value in test.values()] if test else ["", "", ""]
        lines.append(f"| {row['noise']} | {row['rate']} | {row['weight']} | {row['iteration']} | "
                     f"{' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
