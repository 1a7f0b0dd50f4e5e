#!/usr/bin/env python3
"""Measures how dropout and AdaGrad are related in online training (docs/learners.md).

    cargo build --release
    python3 benches/compare/online_noise.py CORPORA OUT

Writes OUT/scores.md and OUT/fisher.md.

scores.md: W-NUT 2017, template ner, SGD with one rate or with AdaGrad, without noise, with the
quadratic noise term, and with real dropout. Span F1 on the development data, which choose the
epoch, and on the test data; means over SEEDS seeds.

fisher.md: AdaGrad scales the gradient of a weight by the sum G of its squared gradients, a step
with the quadratic noise term in the place of the penalty by the sum H of second derivatives
(Wager et al. 2013, section 5). Both are computed for all weights of an order-0 model that reads the
words alone, after some epochs of SGD, from its predictions on the training data: for weights with
H ≥ 1, the correlation of log G and log H, and the median of G/H.
"""

import json, math, os, statistics, subprocess, sys, tempfile

import attributes

SEEDS = int(os.environ.get("SEEDS", "3"))
VARIANTS = {
    "one rate": "--dropout 0",
    "one rate, quadratic noise": "--dropout 0.3",
    "one rate, real dropout": "--dropout 0.3 --noise monte-carlo",
}
EPOCHS = [1, 5, 30]


def run(*arguments):
    command = [attributes.PROGRAM, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def scores(folder, scratch):
    """Yields the lines of the table of scores."""
    path = lambda part: os.path.join(folder, "wnut17", part + ".conll")
    model, log = os.path.join(scratch, "m"), os.path.join(scratch, "log")
    yield "| steps and noise | best epoch | dev F1 | test F1 |"
    yield f"|{'---|' * 4}"
    for name, options in VARIANTS.items():
        epochs, dev, test = [], [], []
        for seed in range(1, SEEDS + 1):
            line = f"--template ner --algorithm sgd --seed {seed} --quiet {options}"
            run("train", path("train"), "--dev", path("dev"), "--model", model, "--log", log,
                *line.split())
            epochs.append(json.loads(open(log).readlines()[-1])["best_iteration"])
            for part, found in (("dev", dev), ("test", test)):
                found.append(100 * json.loads(run("eval", model, path(part), "--json"))["f1"])
        cells = [f"{statistics.mean(x):.2f} ± {statistics.pstdev(x):.2f}" for x in (dev, test)]
        yield f"| {name} | {statistics.mean(epochs):.0f} | {' | '.join(cells)} |"
        print(name, cells, file=sys.stderr)


def correlation(xs, ys):
    """Returns Pearson's correlation coefficient."""
    mean = lambda numbers: sum(numbers) / len(numbers)
    mx, my = mean(xs), mean(ys)
    product = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    norms = [math.sqrt(sum((z - m) ** 2 for z in zs)) for zs, m in ((xs, mx), (ys, my))]
    return product / (norms[0] * norms[1])


def fisher(folder, scratch):
    """Yields the lines of the table of G and H."""
    sentences = list(attributes.read_conll(os.path.join(folder, "wnut17", "train.conll")))
    # The words around a token: all predictions come from attributes in one file.
    extract = lambda sentence, t: (
        f"{i}={sentence[t + i][0]}" for i in (-1, 0, 1) if 0 <= t + i < len(sentence)
    )
    source, model = os.path.join(scratch, "train.crfsuite"), os.path.join(scratch, "m")
    attributes.write_attributes(sentences, source, extract)
    yield "| epochs | weights | correlation of log G and log H | median of G/H |"
    yield f"|{'---|' * 4}"
    for epochs in EPOCHS:
        options = "--algorithm sgd --dropout 0 --order 0 --boundary off --quiet"
        run("train", source, "--format", "crfsuite", "--model", model, "--max-iterations", epochs,
            *options.split())
        tagged = run("tag", model, source, "--format", "crfsuite", "--output", "jsonl",
                     "--marginals")
        sums = {}
        for (labels, items), line in zip(attributes.read_attributes(source), tagged.splitlines()):
            for gold, names, marginals in zip(labels, items, json.loads(line)["marginals"]):
                for label, p in marginals.items():
                    g, h = (p - (label == gold)) ** 2, p * (1 - p)
                    for name in names:
                        pair = sums.setdefault((name, label), [0.0, 0.0])
                        pair[0] += g
                        pair[1] += h
        # Of rarer ones a single label decides whether G is near 0 or near 1.
        pairs = [pair for pair in sums.values() if pair[0] > 0 and pair[1] >= 1]
        logs = [[math.log(pair[i]) for pair in pairs] for i in (0, 1)]
        ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
        yield f"| {epochs} | {len(pairs)} | {correlation(*logs):.3f} | {ratio:.2f} |"
        print(epochs, file=sys.stderr)


def main():
    folder, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, lines in (("fisher", fisher), ("scores", scores)):
            with open(os.path.join(out, name + ".md"), "w") as file:
                file.writelines(line + "\n" for line in lines(folder, scratch))


if __name__ == "__main__":
    main()
