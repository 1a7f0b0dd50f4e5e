#!/usr/bin/env python3
"""How the cost of an evaluation grows: seconds and memory against tokens, labels, attributes and threads.

    cargo build --release
    python3 benches/compare/growth.py FOLDER_WITH_EWT OUT          writes OUT/growth.md and OUT/*.svg

Every point is `dropchain bench gradients` at random weights: the likelihood alone, and with the noise term
(dropout 0.3, exact gradient). Seconds are the least of five evaluations, memory is what an evaluation takes
beside the data.
"""

import json, os, subprocess, sys, tempfile, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from svg import svg

from material import PROGRAM


def measure(files, *options):
    """{engine: (seconds, megabytes)} of one problem."""
    command = [PROGRAM, "bench", "gradients", *files, "--engines", "adjoint", "--dropout", "0.3", "--collapse", "on"]
    command += ["--repeat", "5", "--weights", "random", "--quiet", "--json", "-", *options]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return {row["engine"]: (row["seconds"], (row["peak_bytes"] or 0) / 1e6) for row in json.loads(out)["engines"]}


def relabel(source, target, labels):
    """Words of a CoNLL-U file with one of so many labels each, by a hash of the word and the one before."""
    with open(target, "w", encoding="utf-8") as out:
        before = ""
        for line in open(source, encoding="utf-8"):
            cells = line.rstrip("\n").split("\t")
            if len(cells) > 3 and cells[0].isdigit():
                out.write(f"{cells[1]}\tL{zlib.crc32((before + ' ' + cells[1]).encode()) % labels}\n")
                before = cells[1]
            elif not line.strip():
                out.write("\n")
                before = ""


def template(path, attributes):
    """A template of so many attributes per token: words near and far."""
    offsets = sorted(range(-attributes, attributes + 1), key=lambda o: (abs(o), o))[:attributes]
    with open(path, "w") as out:
        out.write("".join(f"word[{o:+d}]\n" if o else "word[0]\n" for o in offsets))
    return path


def main():
    corpus, out = os.path.join(sys.argv[1], "train.conllu"), sys.argv[2]
    os.makedirs(out, exist_ok=True)
    scratch = tempfile.mkdtemp()
    upos = ["--label", "upos", "--template", "pos-sancl"]
    small = os.path.join(scratch, "small.conllu")
    with open(corpus, encoding="utf-8") as source, open(small, "w", encoding="utf-8") as target:
        for sentence in source.read().split("\n\n")[:3000]:
            target.write(sentence + "\n\n")
    series = {}
    series["tokens, in corpora of EWT"] = [(n, measure([corpus] * n, *upos)) for n in (1, 2, 4, 8)]
    points = []
    for labels in (5, 9, 17, 33, 49, 65, 100):
        path = os.path.join(scratch, f"{labels}.conll")
        relabel(small, path, labels)
        points.append((labels, measure([path], "--columns", "word,label", "--template", "pos-sancl")))
    series["labels K"] = points
    series["attributes per token"] = [
        (n, measure([small], "--label", "upos", "--template", template(os.path.join(scratch, f"{n}.tpl"), n)))
        for n in (1, 5, 10, 20, 40)
    ]
    series["threads"] = [(n, measure([corpus], *upos, "--threads", str(n))) for n in (1, 2)]
    with open(os.path.join(out, "growth.md"), "w") as table:
        for name, points in series.items():
            table.write(
                f"| {name} | likelihood, s | with noise, s | ratio | likelihood, MB | with noise, MB |\n|---|---|---|---|---|---|\n"
            )
            for x, m in points:
                (plain, plain_mb), (noise, noise_mb) = m["likelihood"], m["adjoint"]
                table.write(f"| {x} | {plain:.4f} | {noise:.4f} | {noise / plain:.2f} | {plain_mb:.1f} | {noise_mb:.1f} |\n")
            table.write("\n")
    for unit, name in enumerate(("seconds", "megabytes")):
        panels = [
            (
                title,
                [
                    (label, [(x, m[engine][unit]) for x, m in points])
                    for engine, label in (("likelihood", "likelihood"), ("adjoint", "with noise"))
                ],
            )
            for title, points in series.items()
        ]
        svg(os.path.join(out, f"{name}.svg"), panels, "")


main()
