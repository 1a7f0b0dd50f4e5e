#!/usr/bin/env python3
"""Paired bootstrap, implemented independently of dropchain. Writes the files of this folder.

    python3 bootstrap.py

Invents gold labels and the predictions of two taggers (gold.conll, a.conll, b.conll), and writes
the expected results of `dropchain compare gold.conll a.conll b.conll --seed 7` (expected.json):
with the same random numbers, and with Python's.
"""

import json
import random

SENTENCES, SAMPLES, SEED, MANY = 120, 2000, 7, 50_000
MASK = 2**64 - 1


def gold_labels(rng):
    labels = []
    while len(labels) < rng.randint(4, 15):
        if rng.random() < 0.3:
            kind = rng.choice(["PER", "LOC", "ORG"])
            labels += ["B-" + kind] + ["I-" + kind] * rng.choice([0, 0, 1, 2])
        else:
            labels.append("O")
    return labels


def spans(labels):
    found, start = [], None
    for i, label in enumerate(labels + ["O"]):
        if start is not None and not label.startswith("I-"):
            found.append((start, i, labels[start][2:]))
            start = None
        if label.startswith("B-"):
            start = i
    return found


def predict(rng, gold, errors):
    """Returns the gold labels with some spans dropped, retyped or shortened, and some added."""
    labels = ["O"] * len(gold)
    for start, end, kind in spans(gold):
        draw = rng.random()
        if draw < errors:
            continue
        if draw < 2 * errors:
            kind = rng.choice(["PER", "LOC", "ORG"])
        if draw > 1 - errors:
            end = max(start + 1, end - 1)
        labels[start:end] = ["B-" + kind] + ["I-" + kind] * (end - start - 1)
    for i, label in enumerate(gold):
        if label == "O" and rng.random() < errors / 3:
            labels[i] = "B-LOC"
    return labels


def counts(gold, predicted):
    """Returns the numbers of correct, gold and predicted spans, correct labels and tokens."""
    a, b = set(spans(gold)), set(spans(predicted))
    correct_labels = sum(x == y for x, y in zip(gold, predicted))
    return len(a & b), len(a), len(b), correct_labels, len(gold)


def scores(rows):
    """Returns F1 and accuracy."""
    correct, gold, predicted, correct_labels, tokens = map(sum, zip(*rows))
    return 2 * correct / (gold + predicted), correct_labels / tokens


def splitmix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def counter_based(seed, sample, n):
    """Yields the draws of a sample, from a counter-based generator."""
    golden = 0x9E3779B97F4A7C15
    key = splitmix((seed + (sample + 1) * golden) & MASK)
    for draw in range(n):
        yield splitmix((key + (draw + 1) * golden) & MASK) * n >> 64


def compare(a, b, samples, draws):
    """Returns the scores of both taggers, and interval and p-value of their difference."""
    n, differences = len(a), []
    for sample in range(samples):
        chosen = list(draws(sample, n))
        pairs = zip(scores([a[i] for i in chosen]), scores([b[i] for i in chosen]))
        differences.append([y - x for x, y in pairs])
    result = {}
    for metric, name in enumerate(["f1", "accuracy"]):
        values = sorted(d[metric] for d in differences)
        k = (samples + 1) // 40
        side = min(sum(d <= 0 for d in values), sum(d >= 0 for d in values))
        result[name] = {
            "a": scores(a)[metric],
            "b": scores(b)[metric],
            "interval": [values[k - 1], values[samples - k]],
            "p_value": min(1, 2 * (side + 1) / (samples + 1)),
        }
    return result


def write(name, sentences):
    with open(name, "w") as file:
        for labels in sentences:
            for i, label in enumerate(labels):
                file.write(f"w{i} {label}\n")
            file.write("\n")


def main():
    rng = random.Random(1)
    gold = [gold_labels(rng) for _ in range(SENTENCES)]
    predictions = [[predict(rng, labels, errors) for labels in gold] for errors in (0.17, 0.14)]
    write("gold.conll", gold)
    write("a.conll", predictions[0])
    write("b.conll", predictions[1])
    a, b = [[counts(g, p) for g, p in zip(gold, side)] for side in predictions]
    mersenne = random.Random(2)
    expected = {
        "seed": SEED,
        "samples": SAMPLES,
        "tokens": sum(map(len, gold)),
        "sentences": SENTENCES,
        "same_draws": compare(a, b, SAMPLES, lambda s, n: counter_based(SEED, s, n)),
        "other_draws": compare(a, b, MANY, lambda _, n: mersenne.choices(range(n), k=n)),
    }
    with open("expected.json", "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")


main()
