"""Which ranking finds corrupted annotation? Corrupts labels of a corpus at random, trains a model
on four fifths and scores the rest, five times, and ranks the sentences by several criteria.

python3 suspicious.py DROPCHAIN CORPUS OUT [SEED…]
"""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

FOLDS = 5
BLOCK = 20


def read(path):
    sentences = []
    for block in Path(path).read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split() for line in block.splitlines() if line.strip()]
        rows = [row for row in rows if row[0] != "-DOCSTART-"]
        if rows:
            sentences.append(([row[0] for row in rows], [row[-1] for row in rows]))
    return sentences


def spans(labels):
    found, start = [], None
    for t, label in enumerate(labels + ["O"]):
        if start is not None and not label.startswith("I-"):
            found.append((start, t, labels[start][2:]))
            start = None
        if label.startswith("B-") or label.startswith("I-") and start is None:
            start = t
    return found


def encode(found, length):
    labels = ["O"] * length
    for start, end, kind in found:
        labels[start] = "B-" + kind
        labels[start + 1 : end] = ["I-" + kind] * (end - start - 1)
    return labels


def corrupt_tokens(sentences, rate, rng):
    """Gives a share of all tokens another label."""
    names = sorted({label for _, labels in sentences for label in labels})
    for _, labels in sentences:
        for t in range(len(labels)):
            if rng.random() < rate:
                labels[t] = rng.choice([name for name in names if name != labels[t]])


def corrupt_spans(sentences, rate, rng):
    """Gives a share of the spans another type or boundary, or removes them; and invents as many as
    it removes."""
    kinds = sorted({s[2] for _, labels in sentences for s in spans(labels)})
    for words, labels in sentences:
        found = spans(labels)
        for i, (start, end, kind) in enumerate(found):
            if rng.random() >= rate:
                continue
            how = rng.randrange(3)
            if how == 0 and len(kinds) > 1:
                found[i] = (start, end, rng.choice([k for k in kinds if k != kind]))
            elif how == 1:
                found[i] = None
            elif end - start > 1:
                found[i] = (start + 1, end, kind)
            elif end < len(labels) and labels[end] == "O":
                found[i] = (start, end + 1, kind)
            else:
                found[i] = None
        labels[:] = encode([s for s in found if s], len(labels))
    invented = int(rate * sum(len(spans(labels)) for _, labels in sentences) / 3)
    while invented:
        words, labels = rng.choice(sentences)
        t = rng.randrange(len(labels))
        after = labels[t + 1] if t + 1 < len(labels) else "O"
        if labels[t] == "O" and not after.startswith("I-"):
            labels[t] = "B-" + rng.choice(kinds)
            invented -= 1


def write(path, sentences):
    text = "".join(
        "".join(f"{w}\t{y}\n" for w, y in zip(*sentence)) + "\n" for sentence in sentences
    )
    Path(path).write_text(text, encoding="utf-8")


def tag(program, model, file, *options):
    command = [program, "tag", model, file, "--format", "conll", "--columns", "word,label"]
    command += ["--output", "jsonl", "--constrain", "off", "--threads", "1", *options]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def criteria(gold, free, forced):
    best = free["nbest"][0]
    log_z = best["score"] - math.log(max(best["probability"], 1e-300))
    log_gold = (forced["nbest"][0]["score"] if forced["nbest"] else forced["score"]) - log_z
    log_best = best["score"] - log_z
    of_gold = [m.get(y, 0.0) for m, y in zip(free["marginals"], gold)]
    of_best = [max(m.values()) for m in free["marginals"]]
    return {
        "-log p": -log_gold,
        "-log p / T": -log_gold / len(gold),
        "log p(best) - log p": log_best - log_gold,
        "(log p(best) - log p) / T": (log_best - log_gold) / len(gold),
        "lowest marginal": -min(of_gold),
        "largest difference of marginals": max(b - g for b, g in zip(of_best, of_gold)),
        "expected errors": sum(1 - g for g in of_gold),
    }


def run(program, corpus, out, corruption, rate, seed):
    clean = read(corpus)
    noisy = [(words, list(labels)) for words, labels in clean]
    corruption(noisy, rate, random.Random(seed))
    wrong = [a[1] != b[1] for a, b in zip(clean, noisy)]
    blocks = [range(i, min(i + BLOCK, len(noisy))) for i in range(0, len(noisy), BLOCK)]
    random.Random(1).shuffle(blocks)
    scores = [None] * len(noisy)
    for fold in range(FOLDS):
        held = [i for block in blocks[fold::FOLDS] for i in block]
        rest = sorted(set(range(len(noisy))) - set(held))
        write(out / "rest", [noisy[i] for i in rest])
        write(out / "held", [noisy[i] for i in held])
        command = [program, "train", out / "rest", "--template", "ner", "--model", out / "model"]
        command += ["--columns", "word,label", "--threads", "1", "--force", "--quiet"]
        subprocess.run(command, check=True)
        free = tag(program, out / "model", out / "held", "--marginals", "--nbest", "2")
        names = set(free[0]["marginals"][0])
        known = [i for i in held if set(noisy[i][1]) <= names]
        assert known == held, "a label is in one fold only"
        forced = tag(program, out / "model", out / "held", "--forced", "label", "--nbest", "2")
        for i, a, b in zip(held, free, forced):
            scores[i] = criteria(noisy[i][1], a, b)
    total = sum(wrong)
    print(f"\n{Path(corpus).name}, {corruption.__name__} {rate}, seed {seed}: ", end="")
    print(f"{total} of {len(wrong)} sentences corrupted\n", flush=True)
    print("| ranking | first N/2 | first N | first 2N | average precision |\n|---|---|---|---|---|")
    for name in scores[0]:
        order = sorted(range(len(wrong)), key=lambda i: (-scores[i][name], i))
        hits = [wrong[i] for i in order]
        recall = [sum(hits[:n]) / total for n in (total // 2, total, 2 * total)]
        found, precision = 0, 0.0
        for rank, hit in enumerate(hits, 1):
            found += hit
            precision += hit * found / rank / total
        print(f"| {name} | " + " | ".join(f"{100 * r:.1f}" for r in [*recall, precision]) + " |",
              flush=True)

if __name__ == "__main__":
    program, corpus, out, *seeds = sys.argv[1:]
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for seed in seeds or ["1"]:
        runs = [(corrupt_spans, 0.05), (corrupt_tokens, 0.02), (corrupt_spans, 0.02)]
        for corruption, rate in runs:
            run(program, corpus, out, corruption, rate, int(seed))
