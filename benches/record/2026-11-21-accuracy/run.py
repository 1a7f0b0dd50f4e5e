#!/usr/bin/env python3
"""Test scores of the shipped templates, for the README: L2 alone, the defaults, and what text without labels adds.

    python3 run.py PROGRAM CORPORA > table.md

Every line of a corpus is a way of training; the best on development data of each group (bold) is
scored on the test file, and L2 alone beside it, with the significance of the difference. Nothing else
sees the test files. CoNLL-2000 has no development data: the last 936 training sentences stand in,
and the model that is tested is trained on everything, for as many iterations as were best there.
"""

import json, os, subprocess, sys, tempfile

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


def cases(program, corpora, scratch):
    """(name, training file, development file, test file, ways): a way is (name, arguments), the first ones L2 alone."""
    path = lambda *names: os.path.join(corpora, *names)
    tweets = path("wnut17", "unlabeled.txt")
    own = lambda name: os.path.join(scratch, name)
    l2 = [("L2 " + way[-1], way) for way in L2]

    train_file = path("wnut17", "train.conll")
    run(program, "cluster", tweets, train_file, "--clusters", "1000", "--output", own("wnut.txt"), "--quiet")
    write_template("ner", own("wnut.txt"), own("wnut.tpl"))
    plain, clusters = ["--template", "ner", "--scheme", "io"], ["--template", own("wnut.tpl"), "--scheme", "io"]
    yield "W-NUT 2017, names", train_file, path("wnut17", "dev.conll"), path("wnut17", "test.conll"), plain, l2 + [
        ("defaults", []),
        ("defaults, unlabeled tweets", ["--unlabeled", tweets]),
        ("defaults, clusters", clusters),
        ("defaults, clusters, unlabeled tweets", [*clusters, "--unlabeled", tweets]),
    ]
    train_file = path("conll2002-esp", "esp.train")
    yield "Spanish, names", train_file, path("conll2002-esp", "esp.testa"), path("conll2002-esp", "esp.testb"), [
        "--template",
        "ner",
    ], l2 + [
        ("defaults", []),
        ("dropout 0.3, edges 0.3", ["--edge-dropout", "0.3"]),
        ("defaults, IO labels", ["--scheme", "io"]),
        ("defaults, BIOES labels", ["--scheme", "bioes"]),
    ]
    yield "the same, `ner-finkel`", train_file, path("conll2002-esp", "esp.testa"), path(
        "conll2002-esp", "esp.testb"
    ), ["--template", "ner-finkel"], l2 + [("defaults", []), ("dropout 0.3, edges 0.3", ["--edge-dropout", "0.3"])]
    train_file = path("ewt", "train.conllu")
    run(program, "cluster", train_file, tweets, "--clusters", "500", "--output", own("ewt.txt"), "--quiet")
    write_template("pos", own("ewt.txt"), own("ewt.tpl"))
    for label in ("upos", "xpos"):
        yield f"EWT, {label.upper()}", train_file, path("ewt", "dev.conllu"), path("ewt", "test.conllu"), [
            "--template",
            "pos",
            "--label",
            label,
        ], l2 + [
            ("defaults", []),
            ("defaults, clusters", ["--template", own("ewt.tpl"), "--label", label]),
        ]
    blocks = open(path("conll2000", "train.txt"), encoding="utf-8").read().strip().split("\n\n")
    for name, part in (("train", blocks[:-HELD_OUT]), ("dev", blocks[-HELD_OUT:])):
        with open(own(f"chunk.{name}.conll"), "w", encoding="utf-8") as out:
            out.write("\n\n".join(part) + "\n")
    yield "CoNLL-2000, chunks", own("chunk.train.conll"), own("chunk.dev.conll"), path("conll2000", "test.txt"), [
        "--template",
        "chunk",
    ], l2 + [
        ("defaults", []),
        ("dropout 0.3, edges 0.3", ["--edge-dropout", "0.3"]),
        ("defaults, BIOES labels", ["--scheme", "bioes"]),
    ]


def main():
    program, corpora = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    print("| corpus | training | development | test | by L2 alone |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for case, source, dev, test, common, ways in cases(program, corpora, scratch):
            found = []
            for number, (name, options) in enumerate(ways):
                # What a way says again, it says in place of what is common.
                base = [] if "--template" in options else common
                arguments = [source, *base, *options]
                score, best, model = train(program, scratch, number, [*arguments, "--dev", dev])
                print(case, name, f"{score:.2f}", best, file=sys.stderr, flush=True)
                found.append((score, name, best, model, base + options))
            plain, rest = found[: len(L2)], found[len(L2) :]
            chosen = [max(group, key=lambda way: way[0]) for group in (plain, rest)]
            tagged = []
            for score, name, best, model, options in chosen:
                if case.startswith("CoNLL-2000"):
                    everything = os.path.join(corpora, "conll2000", "train.txt")
                    course = ["--max-iterations", str(best[0]), "--warm-up", "20", "--recall-bias", str(best[1])]
                    run(program, "train", everything, *options, *course, "--model", model, "--quiet")
                form = "conllu" if test.endswith("u") else "conll"
                out = model + ".tagged." + form
                with open(out, "w", encoding="utf-8") as file:
                    file.write(run(program, "tag", model, test, "--format", form, "--output", form))
                tagged.append(out)
            label = ["--label", common[-1]] if "--label" in common else []
            compared = json.loads(run(program, "compare", test, *tagged, "--json", *label))
            print(json.dumps(compared), file=sys.stderr)
            metric = compared.get("f1") or compared["accuracy"]
            for score, name, *_ in found:
                cells = ["", ""]
                for i, way in enumerate(chosen):
                    if way[1] == name:
                        cells[0] = f"{100 * metric['ab'[i]]:.2f}"
                        name, cells[1] = f"**{name}**", (
                            f"{100 * metric['difference']:+.2f} (p = {metric['p_value']:.4f})" if i else ""
                        )
                print(f"| {case} | {name} | {score:.2f} | {cells[0]} | {cells[1]} |", flush=True)
                case = ""


main()
