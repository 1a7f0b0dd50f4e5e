"""A made-up corpus: sentences about people and places, with their features."""

from __future__ import annotations

import random

PEOPLE = "Ada Grace Charles Mary Alan Emmy Sofia Carl Blaise Rosalind".split()
FAMILIES = "Lovelace Hopper Babbage Somerville Turing Noether Kovalevskaya Gauss".split()
PLACES = "London Paris Göttingen Marylebone Devon York Boston Cambridge".split()
VERBS = "left saw met taught loved visited found described".split()
REST = "the old bridge a letter of with in and then she he they again slowly".split()


def sentences(count: int, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Returns words and labels."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(count):
        words, labels = [], []
        for _ in range(rng.randrange(1, 6)):
            kind = rng.random()
            if kind < 0.25:
                words += [rng.choice(PEOPLE), rng.choice(FAMILIES)]
                labels += ["B-PER", "I-PER"]
            elif kind < 0.35:
                words.append(rng.choice(PEOPLE + FAMILIES))
                labels.append("B-PER")
            elif kind < 0.5:
                words += ["in", rng.choice(PLACES + FAMILIES[:2])]
                labels += ["O", "B-LOC"]
            else:
                words.append(rng.choice(VERBS + REST))
                labels.append("O")
        X.append(words)
        y.append(labels)
    return X, y


def features(words: list[str], t: int) -> dict[str, object]:
    """Returns the features of a word, of all kinds."""
    word = words[t]
    return {
        "word": word.lower(),
        "title": word.istitle(),
        "length": len(word) / 10,
        "ends": {"3": word[-3:], "letters": sorted(set(word[-2:]))},
        "before": words[t - 1].lower() if t else "",
        "balance": -0.5 if t % 3 == 0 else 0.25,
    }


def corpus(count: int, seed: int = 1) -> tuple[list[list[dict]], list[list[str]]]:
    """Returns features and labels."""
    X, y = sentences(count, seed)
    return [[features(words, t) for t in range(len(words))] for words in X], y
