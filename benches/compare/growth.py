#!/usr/bin/env python3
"""Measures how an evaluation's time and memory grow with tokens, labels, attributes and threads.

    cargo build --release
    python3 benches/compare/growth.py FOLDER_WITH_EWT OUT

Writes OUT/growth.md and OUT/*.svg.

Each point is a run of `dropchain bench gradients` at random weights: the likelihood alone and with
the noise term (dropout 0.3, exact gradient). Seconds are the median of five evaluations; memory is
that of an evaluation, excluding the data. The exponent of a step from size a to b is
log(y(b) / y(a)) / log(b / a), of the seconds and megabytes y.
"""

import json, math, os, subprocess, sys, tempfile, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from figure import draw

from attributes import PROGRAM

ENGINES = {"likelihood": "likelihood", "exact": "with noise"}  # engine → column


def measure(files, *options):
    """Returns {engine: (seconds, megabytes)}."""
    command = [PROGRAM, "bench", "gradients", *files, "--engines", "exact", "--dropout", "0.3"]
    command += ["--collapse", "on", "--repeat", "5", "--weights", "random"]
    command += ["--quiet", "--json", "-", *options]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    engines = json.loads(out)["engines"]
    megabytes = {row["engine"]: (row["peak_bytes"] or 0) / 1e6 for row in engines}
    return {row["engine"]: (row["seconds"]["median"], megabytes[row["engine"]]) for row in engines}


def relabel(source, target, labels):
    """Replaces the labels of a CoNLL-U file by K synthetic ones, a hash of each word bigram."""
    with open(target, "w", encoding="utf-8") as out:
        previous = ""
        for line in open(source, encoding="utf-8"):
            cells = line.rstrip("\n").split("\t")
            if len(cells) > 3 and cells[0].isdigit():
                label = zlib.crc32(f"{previous} {cells[1]}".encode()) % labels
                out.write(f"{cells[1]}\tL{label}\n")
                previous = cells[1]
            elif not line.strip():
                out.write("\n")
                previous = ""


def write_template(path, attributes):
    """Writes a template with this many attributes per token: the nearest words."""
    offsets = range(-attributes, attributes + 1)
    nearest = sorted(offsets, key=lambda o: (abs(o), o))[:attributes]
    with open(path, "w") as out:
        out.write("".join(f"word[{o:+d}]\n" if o else "word[0]\n" for o in nearest))
    return path


def measure_all(corpus, scratch):
    """Returns {name of the size that varies: [(size, result of measure)]}."""
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
        result = measure([path], "--columns", "word,label", "--template", "pos-sancl")
        points.append((labels, result))
    series["labels K"] = points
    points = []
    for n in (1, 5, 10, 20, 40):
        template = write_template(os.path.join(scratch, f"{n}.tpl"), n)
        points.append((n, measure([small], "--label", "upos", "--template", template)))
    series["attributes per token"] = points
    series["threads"] = [(n, measure([corpus], *upos, "--threads", str(n))) for n in (1, 2)]
    return series


def exponents(points, engine, quantity):
    """Yields the exponent of each step, as text; nothing for the first size."""
    yield ""
    for (size, result), (next_size, next_result) in zip(points, points[1:]):
        ratio = next_result[engine][quantity] / result[engine][quantity]
        yield f"{math.log(ratio) / math.log(next_size / size):.2f}"


def write_tables(series, path):
    quantities = [(0, "s", ".4f"), (1, "MB", ".1f")]
    with open(path, "w") as out:
        for name, points in series.items():
            columns = [[name, *(size for size, _ in points)]]
            for quantity, unit, form in quantities:
                for engine, label in ENGINES.items():
                    numbers = (f"{result[engine][quantity]:{form}}" for _, result in points)
                    columns.append([f"{label}, {unit}", *numbers])
                    columns.append(["exponent", *exponents(points, engine, quantity)])
            ratios = (result["exact"][0] / result["likelihood"][0] for _, result in points)
            columns.append(["noise / likelihood", *(f"{ratio:.2f}" for ratio in ratios)])
            lines = [f"| {' | '.join(map(str, cells))} |" for cells in zip(*columns)]
            lines.insert(1, "|---" + "|--:" * (len(columns) - 1) + "|")
            out.write("\n".join(lines) + "\n\n")


def main():
    corpus, out = os.path.join(sys.argv[1], "train.conllu"), sys.argv[2]
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        series = measure_all(corpus, scratch)
    write_tables(series, os.path.join(out, "growth.md"))
    for quantity, name in enumerate(("seconds", "megabytes")):
        panels = [
            (
                title,
                [
                    (label, [(size, result[engine][quantity]) for size, result in points])
                    for engine, label in ENGINES.items()
                ],
            )
            for title, points in series.items()
        ]
        draw(os.path.join(out, f"{name}.svg"), panels, {}, {"label": name}, from_zero=True)


main()
