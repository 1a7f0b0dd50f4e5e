#!/usr/bin/env python3
"""Test scores of the shipped templates, for the README: L2 alone, the defaults, and what text without labels adds.

    python3 run.py PROGRAM CORPORA [CASE…] > table.md

With cases, such as "EWT, UPOS", only those.

Every line of a corpus is a way of training; the best on development data of each group (bold) is
scored on the test file, and L2 alone beside it, with the significance of the difference. Nothing else
sees the test files. CoNLL-2000 has no development data: the last 936 training sentences stand in,
and the model that is tested is trained on everything, for as many iterations as were best there.
"""

import dataclasses, json, os, subprocess, sys, tempfile

FEATURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "features")
HELD_OUT = 936
L2 = [["--dropout", "0", "--l2", strength] for strength in ("0.1", "0.3", "1")]


def run(program, *arguments):
    result = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return result.stdout


def train(program, scratch, number, arguments):
    """Development score of a training, its best iteration and recall bias, and its model."""
    model, log = os.path.join(scratch, f"{number}.model"), os.path.join(scratch, "log")
    run(program, "train", *arguments, "--model", model, "--log", log, "--quiet")
    records = [json.loads(line) for line in open(log)]
    scores = [100 * r.get("dev_f1", r.get("dev_accuracy", 0)) for r in records if r["event"] == "iteration"]
    end = records[-1]
    return max(scores), (end["best_iteration"], end["recall_bias"]), model


def write_template(name, paths, target):
    """A shipped template, and clusters of a token and its neighbors."""
    with open(os.path.join(FEATURES, name + ".tpl"), encoding="utf-8") as source, open(target, "w") as out:
        out.write(source.read())
        out.writelines(f'cluster("{paths}", 4, 6, 10, 20)[{position}]\n' for position in ("-1", "0", "+1"))


@dataclasses.dataclass
class Case:
    name: str
    train: str
    dev: str
    test: str
    common: list  # options of all ways that do not say the same themselves
    ways: list  # beside L2 alone: (name, options)


def cases(program, corpora, scratch):
    path = lambda *names: os.path.join(corpora, *names)
    own = lambda name: os.path.join(scratch, name)
    tweets = path("wnut17", "unlabeled.txt")
    even = ("dropout 0.3, edges 0.3", ["--edge-dropout", "0.3"])

    files = [path("wnut17", name) for name in ("train.conll", "dev.conll", "test.conll")]
    run(program, "cluster", tweets, files[0], "--clusters", "1000", "--output", own("wnut.txt"), "--quiet")
    write_template("ner", own("wnut.txt"), own("wnut.tpl"))
    clusters = ["--template", own("wnut.tpl"), "--scheme", "io"]
    ways = [
        ("defaults", []),
        ("defaults, unlabeled tweets", ["--unlabeled", tweets]),
        ("defaults, clusters", clusters),
        ("defaults, clusters, unlabeled tweets", [*clusters, "--unlabeled", tweets]),
    ]
    yield Case("W-NUT 2017, names", *files, ["--template", "ner", "--scheme", "io"], ways)

    files = [path("conll2002-esp", name) for name in ("esp.train", "esp.testa", "esp.testb")]
    schemes = [(f"defaults, {name.upper()} labels", ["--scheme", name]) for name in ("io", "bioes")]
    yield Case("Spanish, names", *files, ["--template", "ner"], [("defaults", []), even, *schemes])
    yield Case("the same, `ner-finkel`", *files, ["--template", "ner-finkel"], [("defaults", []), even])

    files = [path("ewt", name) for name in ("train.conllu", "dev.conllu", "test.conllu")]
    run(program, "cluster", files[0], tweets, "--clusters", "500", "--output", own("ewt.txt"), "--quiet")
    write_template("pos", own("ewt.txt"), own("ewt.tpl"))
    for label in ("upos", "xpos"):
        clusters = ("defaults, clusters", ["--template", own("ewt.tpl"), "--label", label])
        common = ["--template", "pos", "--label", label]
        yield Case(f"EWT, {label.upper()}", *files, common, [("defaults", []), clusters])

    blocks = open(path("conll2000", "train.txt"), encoding="utf-8").read().strip().split("\n\n")
    for name, part in (("train", blocks[:-HELD_OUT]), ("dev", blocks[-HELD_OUT:])):
        with open(own(f"chunk.{name}.conll"), "w", encoding="utf-8") as out:
            out.write("\n\n".join(part) + "\n")
    files = [own("chunk.train.conll"), own("chunk.dev.conll"), path("conll2000", "test.txt")]
    ways = [("defaults", []), even, ("defaults, BIOES labels", ["--scheme", "bioes"])]
    yield Case("CoNLL-2000, chunks", *files, ["--template", "chunk"], ways)


def tag(program, model, test):
    """Tags a file; the name of the file that comes of it."""
    form = "conllu" if test.endswith("u") else "conll"
    out = f"{model}.tagged.{form}"
    with open(out, "w", encoding="utf-8") as file:
        file.write(run(program, "tag", model, test, "--format", form, "--output", form))
    return out


def main():
    program, corpora = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    print("| corpus | training | development | test | by L2 alone |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases(program, corpora, scratch):
            if sys.argv[3:] and case.name not in sys.argv[3:]:
                continue
            found = []
            l2 = [("L2 " + options[-1], options) for options in L2]
            for number, (name, options) in enumerate(l2 + case.ways):
                replaced = {"--template", "--scheme"} & set(options) & set(case.common)
                options = [*([] if replaced else case.common), *options]
                score, best, model = train(program, scratch, number, [case.train, *options, "--dev", case.dev])
                print(case.name, name, f"{score:.2f}", best, file=sys.stderr, flush=True)
                found.append((score, name, best, model, options))
            chosen = [max(group, key=lambda way: way[0]) for group in (found[: len(L2)], found[len(L2) :])]
            if case.name.startswith("CoNLL-2000"):
                for _, _, (iterations, bias), model, options in chosen:
                    course = ["--max-iterations", str(iterations), "--warm-up", "20", "--recall-bias", str(bias)]
                    everything = os.path.join(corpora, "conll2000", "train.txt")
                    run(program, "train", everything, *options, *course, "--model", model, "--quiet")
            tagged = [tag(program, way[3], case.test) for way in chosen]
            label = case.common[2:] if "--label" in case.common else []
            compared = json.loads(run(program, "compare", case.test, *tagged, "--json", *label))
            metric = compared.get("f1") or compared["accuracy"]
            title = case.name
            for way in found:
                score, name = way[:2]
                cells = ["", ""]
                if way in chosen:
                    cells[0] = f"{100 * metric['ab'[chosen.index(way)]]:.2f}"
                    name = f"**{name}**"
                if way is chosen[1]:
                    cells[1] = f"{100 * metric['difference']:+.2f} (p = {metric['p_value']:.4f})"
                print(f"| {title} | {name} | {score:.2f} | {cells[0]} | {cells[1]} |", flush=True)
                title = ""


main()
