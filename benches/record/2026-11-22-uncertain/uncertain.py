"""Active learning, simulated: which sentences should be labeled next?

Starts from the first sentences of a shuffled corpus, and in each round adds those that the model of
the round before is most uncertain about, as many as have TOKENS tokens together: annotators are
paid by the token. Each model is scored on development data.

python3 uncertain.py DROPCHAIN TRAIN DEV OUT SEED…
"""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

TOKENS = 2000
ROUNDS = 5
POOL = 3000


def read(path):
    text = Path(path).read_text(encoding="utf-8")
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return [[line.split() for line in block.strip().splitlines()] for block in blocks]


def write(path, sentences):
    blocks = ["".join(f"{row[0]}\t{row[-1]}\n" for row in rows) for rows in sentences]
    Path(path).write_text("\n".join(blocks), encoding="utf-8")


def entropy(marginals):
    return -sum(p * math.log(p) for p in marginals.values() if p > 0)


MEASURES = {
    "random": None,
    "1 - p(best)": lambda s: 1 - s["nbest"][0]["probability"],
    "1 - p(best)^(1/T)": lambda s: 1 - s["nbest"][0]["probability"] ** (1 / len(s["tokens"])),
    "margin of probabilities": lambda s: -margin(s, lambda p: p),
    "margin of log p": lambda s: -margin(s, lambda p: math.log(max(p, 1e-300))),
    "entropy of labels": lambda s: sum(entropy(m) for m in s["marginals"]),
    "entropy of labels / T": lambda s: sum(entropy(m) for m in s["marginals"]) / len(s["tokens"]),
}


def margin(sentence, scale):
    first, second = (scale(path["probability"]) for path in (sentence["nbest"] + [
        {"probability": 0.0}])[:2])
    return first - second


def simulate(program, pool, dev, out, name):
    measure, chosen, rest, scores = MEASURES[name], [], list(range(len(pool))), []
    order = rest
    for _ in range(ROUNDS):
        tokens = 0
        for i in order:
            if tokens >= TOKENS:
                break
            tokens += len(pool[i])
            chosen.append(i)
        taken = set(chosen)
        rest = [i for i in rest if i not in taken]
        write(out / "train", [pool[i] for i in chosen])
        model = out / "model"
        command = [program, "train", out / "train", "--template", "ner", "--model", model]
        command += ["--columns", "word,label", "--threads", "1", "--force", "--quiet"]
        subprocess.run([*command, "--max-iterations", "60"], check=True)
        command = [program, "eval", model, out / "dev", "--columns", "word,label", "--json"]
        result = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        scores.append(100 * json.loads(result)["f1"])
        order = rest
        if measure:
            write(out / "rest", [pool[i] for i in rest])
            command = [program, "tag", model, out / "rest", "--format", "conll", "--columns"]
            command += ["word,label", "--output", "jsonl", "--marginals", "--nbest", "2"]
            command += ["--threads", "1"]
            tagged = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            tagged = [json.loads(line) for line in tagged.splitlines()]
            ranked = sorted(range(len(rest)), key=lambda k: (-measure(tagged[k]), k))
            order = [rest[k] for k in ranked]
    row = " | ".join(f"{score:.1f}" for score in scores)
    print(f"| {name} | {row} | {len(chosen)} |", flush=True)


if __name__ == "__main__":
    program, train, dev, out, *seeds = sys.argv[1:]
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    write(out / "dev", read(dev))
    for seed in seeds:
        sentences = read(train)
        random.Random(int(seed)).shuffle(sentences)
        print(f"\nseed {seed}\n")
        sizes = " | ".join(f"{TOKENS * (i + 1):,}" for i in range(ROUNDS))
        print(f"| measure | {sizes} | sentences |\n|---|" + "---|" * (ROUNDS + 1), flush=True)
        for name in MEASURES:
            simulate(program, sentences[:POOL], dev, out, name)
