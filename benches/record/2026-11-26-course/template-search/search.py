#!/usr/bin/env python3
"""Changes of a template, compared with it over folds of training data.

    python3 search.py run PROGRAM CORPORA OUT CANDIDATES [--sample N] [--corpora NAME…]
    python3 search.py table OUT > table.md

README.md in this folder describes what is run. Results are lines of OUT/results.jsonl; what has
been run is not run again.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.environ.get("DROPCHAIN_ROOT", os.path.join(HERE, "../../../..")))
NER = ["--columns", "word,pos,ner"]
# file, first line of a document or sentences per block, every which unit, folds, options
CORPORA = {
    "Spanish": ("conll2002-esp/esp.train", 25, 4, 3, NER),
    "Dutch": ("conll2002-ned/ned.train", "-DOCSTART-", 4, 3, NER),
    "W-NUT": ("wnut17/train.conll", 25, 1, 3, []),
    "sample": (f"{ROOT}/corpora/sample/train.conll", 5, 1, 3, NER),
    "EWT": ("ewt/train.conllu", "# newdoc", 6, 5, ["--label", "upos"]),
}
PATIENCE = ["--patience", "20"]


def units(text, mark):
    """Returns the documents or blocks of a corpus, as texts."""
    sentences = [s for s in re.split(r"\n[ \t]*\n", text) if s.strip()]
    if isinstance(mark, int):
        return ["\n\n".join(sentences[i:i + mark]) for i in range(0, len(sentences), mark)]
    starts = [i for i, s in enumerate(sentences) if s.startswith(mark)] + [len(sentences)]
    return ["\n\n".join(sentences[a:b]) for a, b in zip(starts, starts[1:])]


def dealt(corpora, name, sample):
    """Returns the folds of one of the samples of a corpus; of EWT they are the genres."""
    file, mark, every, folds, _ = CORPORA[name]
    with open(os.path.join(corpora, file), encoding="utf-8", errors="replace") as lines:
        found = units(lines.read(), mark)
    random.Random(1 + (every == 1) * sample).shuffle(found)
    found = found[sample % every::every]
    if name != "EWT":
        return [found[i::folds] for i in range(folds)]
    genres = collections.defaultdict(list)
    for unit in found:
        genres[re.match(r"# newdoc id = ([a-z]+)-", unit).group(1)].append(unit)
    return [genres[g] for g in sorted(genres)]


def candidates(path):
    """Yields (template, name, its text) of every change; the first of a template is none."""
    for part in re.split(r"(?m)^# ", open(path).read())[1:]:
        title, *lines = part.strip().split("\n")
        base, name = title.split(": ", 1)
        text = open(f"{ROOT}/features/{base}.tpl").read().split("\n")
        for line in lines:
            if line.startswith("-"):
                text.remove(line[1:])
            elif line.startswith("+"):
                text.append(line[1:])
        yield base, name, "\n".join(text) + "\n"


def write(path, found):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n\n".join(found) + "\n")


def train(program, out, folds, held_out, options, template):
    """Trains on all folds but one, which stops training, and returns what came of it."""
    def at(name):
        return os.path.join(out, name)

    write(at("train"), [u for i, fold in enumerate(folds) if i != held_out for u in fold])
    write(at("dev"), folds[held_out])
    with open(at("t.tpl"), "w") as file:
        file.write(template)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    form = ["--format", "conllu" if "upos" in options else "conll"]
    subprocess.run([program, "train", at("train"), "--dev", at("dev"), "-t", at("t.tpl"), *form,
                    "-m", at("m"), "--log", at("log"), "--threads", "1", "--quiet", *PATIENCE,
                    *options], check=True)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    start, *events, end = [json.loads(line) for line in open(at("log"))]
    scores = [e.get("dev_f1", e.get("dev_accuracy")) for e in events if e["event"] == "iteration"]
    kept = end["best_iteration"]
    near = scores[max(kept - 2, 21):kept + 3] or scores[kept:kept + 1]
    return {"score": 100 * statistics.mean(near), "kept": kept, "cpu": round(cpu, 2),
            "attributes": start["attributes"], "active": start["active_per_token"],
            "ms": 1000 * cpu / max(1, end["iterations"])}


def run(arguments):
    os.makedirs(arguments.out, exist_ok=True)
    results = os.path.join(arguments.out, "results.jsonl")
    open(results, "a").close()
    done = {tuple(json.loads(line)["key"]) for line in open(results)}
    for base, name, template in candidates(arguments.candidates):
        for corpus in arguments.corpora:
            folds = dealt(arguments.data, corpus, arguments.sample)
            for i in range(len(folds)):
                key = (base, name, corpus, arguments.sample, i)
                if key not in done:
                    found = train(arguments.program, arguments.out, folds, i,
                                  CORPORA[corpus][4], template)
                    with open(results, "a") as file:
                        file.write(json.dumps({"key": key, **found}) + "\n")


def spread(found):
    return statistics.mean(found), statistics.stdev(found) / len(found) ** 0.5


def table(out):
    """Prints for every template the differences to it: mean by corpus, and ± standard error."""
    rows = {tuple(row["key"]): row for row in map(json.loads, open(f"{out}/results.jsonl"))}
    for base in dict.fromkeys(k[0] for k in rows):
        own = {k[2:]: r for k, r in rows.items() if k[:2] == (base, "none")}
        names = list(dict.fromkeys(k[2] for k in rows if k[0] == base))
        print(f"\n| `{base}` | {' | '.join(names)} | mean | attributes | active | time |")
        print("|---" * (len(names) + 5) + "|")
        for name in dict.fromkeys(k[1] for k in rows if k[0] == base):
            pairs = [(k[2], r, own[k[2:]]) for k, r in rows.items()
                     if k[:2] == (base, name) and k[2:] in own]
            cells = []
            for corpus in names:
                found = [r["score"] - (name != "none") * b["score"] for c, r, b in pairs
                         if c == corpus]
                cells.append(spread(found) if len(found) > 1 else None)
            known = [cell for cell in cells if cell]
            if known:
                error = sum(e ** 2 for _, e in known) ** 0.5 / len(known)
                cells.append((statistics.mean(m for m, _ in known), error))
                print(f"| {name} |", " | ".join(
                    "" if cell is None else f"{cell[0]:.2f}" if name == "none"
                    else f"{cell[0]:+.2f} ± {cell[1]:.2f}" for cell in cells), end=" | ")
                print(" | ".join(f"{statistics.mean(r[key] / b[key] for _, r, b in pairs):.2f}"
                                 for key in ("attributes", "active", "ms")), "|")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run")
    for name in ("program", "data", "out", "candidates"):
        command.add_argument(name)
    command.add_argument("--sample", type=int, default=0)
    command.add_argument("--corpora", nargs="+", default=["Spanish", "Dutch", "W-NUT", "sample"])
    commands.add_parser("table").add_argument("out")
    arguments = parser.parse_args()
    run(arguments) if arguments.command == "run" else table(arguments.out)
