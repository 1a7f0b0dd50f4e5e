#!/usr/bin/env python3
"""What a model says about words in raw text, and how frequent words are, as columns for templates.

    python3 columns.py corpus PROGRAM CORPORA OUT [SAMPLE]    what a first model says of raw text
    python3 columns.py frequency PROGRAM CORPORA OUT LOOKUPS  LOOKUPS has XX_lexeme_prob.json.gz

Uses the folds of search.py, and writes its results as that does; README.md describes both.
"""

import collections
import gzip
import json
import math
import os
import subprocess
import sys

import search

SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)
UNSEEN = "-"


def tokens(unit):
    """Yields sentences, lists of the cells of tokens."""
    for sentence in unit.split("\n\n"):
        lines = [line.split() for line in sentence.split("\n") if not line.startswith("# ")]
        if lines and len(lines[0]) == 10:  # CoNLL-U
            lines = [[cells[1], cells[3]] for cells in lines if cells[0].isdigit()]
        yield [cells for cells in lines if cells]


def with_columns(unit, columns):
    """Returns a document with the cells that `columns` has for the words of each sentence."""
    sentences = []
    for sentence in tokens(unit):
        found = columns([cells[0] for cells in sentence])
        sentences.append("\n".join(" ".join([cells[0], *more, cells[-1]])
                                   for cells, more in zip(sentence, found)))
    return "\n\n".join(sentences)


def bucket(counts, kind):
    share = counts[kind] / counts.total()
    return str(sum(share > s for s in SHARES))


def likeliest(counts):
    """Returns the most frequent type but O, a bucket of its share, and one of the count."""
    if counts is None:
        return UNSEEN
    kind = max((k for k in sorted(counts) if k != "O"), key=counts.get, default="O")
    return f"{kind}{bucket(counts, kind)}{min(4, int(math.log2(counts.total())))}"


class Corpus:
    """How often words, and words after a word, were of a type, as a model tags raw text."""

    def __init__(self, program, out, training, raw, kinds):
        self.kinds = kinds
        self.words = collections.defaultdict(collections.Counter)
        self.pairs = collections.defaultdict(collections.Counter)
        train, model = os.path.join(out, "first"), os.path.join(out, "first.model")
        search.write(train, [with_columns(u, lambda words: [[]] * len(words)) for u in training])
        subprocess.run([program, "train", train, "-t", "ner", "-m", model, "--threads", "1",
                        "--quiet", "--max-iterations", "40"], stderr=subprocess.DEVNULL)
        tagged = subprocess.run([program, "tag", model, raw, "--threads", "1", "--quiet"],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        for sentence in tagged.split("\n\n"):
            before = ""
            for line in sentence.split("\n"):
                cells = line.split()
                if len(cells) > 1:
                    kind = cells[-1].split("-", 1)[-1]
                    self.words[cells[0]][kind] += 1
                    self.pairs[before, cells[0]][kind] += 1
                    before = cells[0]

    def __call__(self, words):
        for i, word in enumerate(words):
            counts = self.words.get(word)
            pair = self.pairs.get((words[i - 1] if i else "", word))
            yield [likeliest(counts), likeliest(pair),
                   *(bucket(counts, k) if counts else UNSEEN for k in self.kinds)]


class Frequency:
    """Bands of the log-probabilities of a word and its lower case, and of their difference."""

    def __init__(self, path):
        with gzip.open(path) as file:
            self.found = json.load(file)

    def __call__(self, words):
        for word in words:
            own, lower = self.found.get(word), self.found.get(word.lower())
            both = own is not None and lower is not None
            yield [UNSEEN if own is None else str(int(-own)),
                   UNSEEN if lower is None else str(int(-lower)),
                   str(max(-6, min(6, round(own - lower)))) if both
                   else UNSEEN + str(int(own is None)) + str(int(lower is None))]


def measure(program, out, corpus, name, columns, lines, sample, folds, i, options=(), base=None):
    """Trains with the columns that `columns(unit's fold)` gives, and appends the result."""
    base = base or ("pos" if corpus == "EWT" else "ner")
    key = (base, name, corpus, sample, i)
    enriched = [[with_columns(u, columns(j, n)) for n, u in enumerate(fold)]
                for j, fold in enumerate(folds)]
    names = [f"c{n}" for n in range(len(next(iter(columns(i, 0)(["a"])))))]
    template = open(f"{search.ROOT}/features/{base}.tpl").read() + "\n" + "\n".join(lines) + "\n"
    found = search.train(program, out, enriched, i,
                         ["--columns", ",".join(["word", *names, "label"]), *options], template)
    with open(os.path.join(out, "results.jsonl"), "a") as file:
        file.write(json.dumps({"key": key, **found}) + "\n")
    print(key, round(found["score"], 2), found["kept"], flush=True)


WORDS = ["c0", "c0[-1]", "c0[+1]", "c0 & shape(dan2)"]
PARTS = 3


def corpus(program, data, out, sample="0"):
    sample = int(sample)
    for name in ("Spanish", "Dutch", "W-NUT", "W-NUT dev"):
        if name == "W-NUT dev":
            with open(f"{data}/wnut17/train.conll") as t, open(f"{data}/wnut17/dev.conll") as d:
                folds = [search.units(d.read(), 25), search.units(t.read(), 25)]
            raw = f"{data}/wnut17/unlabeled.txt"
        elif name == "W-NUT":
            folds, raw = search.dealt(data, name, sample), f"{data}/wnut17/unlabeled.txt"
        else:
            folds, raw = search.dealt(data, name, sample), os.path.join(out, "raw.conll")
            search.write(raw, ["\n\n".join("\n".join(c[0] for c in s) for s in tokens(u))
                               for n in range(search.CORPORA[name][2]) if n != sample
                               for fold in search.dealt(data, name, n) for u in fold])
        kinds = sorted({c[-1].split("-", 1)[-1] for f in folds for u in f for s in tokens(u)
                        for c in s} - {"O"})
        for i in range(1 if name == "W-NUT dev" else len(folds)):
            training = [(j, n) for j, f in enumerate(folds) if j != i for n in range(len(f))]
            whole = Corpus(program, out, [folds[j][n] for j, n in training], raw, kinds)
            parts = {}
            for k in range(PARTS):
                rest = [folds[j][n] for m, (j, n) in enumerate(training) if m % PARTS != k]
                found = Corpus(program, out, rest, raw, kinds)
                parts.update({place: found for place in training[k::PARTS]})
            types = [f"c{n + 2}" for n in range(len(kinds))]
            for title, lines in (("none", []), ("words", WORDS + types),
                                 ("words and pairs", WORDS + types + ["c1", "c1[+1]"]),
                                 ("clusters", []), ("clusters and words", WORDS + types)):
                options = ["--clusters", raw] if "clusters" in title else []
                measure(program, out, name, title, lambda j, n: parts.get((j, n), whole),
                        lines, sample, folds, i, options)


def frequency(program, data, out, lookups):
    for name, language in (("W-NUT", "en"), ("Spanish", "es"), ("EWT", "en")):
        found = Frequency(os.path.join(lookups, f"{language}_lexeme_prob.json.gz"))
        folds = search.dealt(data, name, 0)
        for title, lines in (("bands", ["c0", "c1", "c2", "c2[-1]", "c2[+1]"]),):
            for i in range(len(folds)):
                measure(program, out, name, title, lambda j, n: found, lines, 0, folds, i)


if __name__ == "__main__":
    {"corpus": corpus, "frequency": frequency}[sys.argv[1]](*sys.argv[2:])
