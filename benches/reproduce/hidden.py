#!/usr/bin/env python3
"""What hidden units learn: figures 7 and 8 of Chen, Zhu, Chen and Zhang, "Dropout training for SVMs
with data augmentation".

    python3 benches/reproduce/hidden.py images CORPORA OUT   figure 7: digits of the strongest units
    python3 benches/reproduce/hidden.py weights CORPORA OUT  figure 8: units by their weight

Images are the 1,797 digits of scikit-learn, in place of MNIST and CIFAR-10: 0 against the others
with 60 units, and 8 against the others with 40. CORPORA is not read. Writes OUT/hidden-FIGURE.md,
.json, and SVG.
"""

import argparse
import json
import statistics
from pathlib import Path

import labeled
import logistic
from cached import Program
from picture import describe, draw
from wager import write

SIDE, CELL, IMAGES = 8, 4, 7
OPTIONS = ["--loss", "hinge", "--dropout", "0.1", "--l2", "0.1"]
MODES = {"images": ("0", 60, 2), "weights": ("8", 40, 4)}  # digit, units, units of each kind
KINDS = ("positive", "neutral", "negative")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figure", choices=MODES)
    labeled.add_arguments(parser)
    parser.add_argument("--no-draw", action="store_true",
                        help="only the descriptions of pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / f"hidden-{arguments.figure}"
    path = run(arguments, stem, *MODES[arguments.figure])
    if not arguments.no_draw:
        draw(path)


def run(arguments, stem, digit, count, each):
    lines = labeled.digits().train
    program = Program(arguments.program, stem.with_suffix(".runs"))
    rows = [labeled.parse(body) for _, body in lines]
    digits = [label for label, _ in lines]
    units = units_of(program, lines, digit, count)
    found = [(weight, [activation(unit, row) for row in rows]) for weight, unit in units]
    groups = by_kind([weight for weight, _ in found], each)
    table = ["| unit | weight | " + " | ".join(map(str, range(10))) + " |",
             "|---|---:" + "|---:" * 10 + "|"]
    strips, lines_of_units = [], []
    for kind, numbers in groups.items():
        for k in numbers:
            weight, values = found[k]
            means = by_digit(values, digits)
            table.append(f"| {kind} | {weight:.3f} | {' | '.join(f'{m:.3f}' for m in means)} |")
            best = sorted(range(len(rows)), key=lambda i: -values[i])[:IMAGES]
            strips.append((f"{kind}, w = {weight:.3f}", [rows[i] for i in best]))
            lines_of_units.append((f"{kind} {weight:.2f}", list(enumerate(means))))
    right = sum((sum(w * v[i] for w, v in found) + program.bias > 0) == (label == digit)
                for i, label in enumerate(digits))
    table += ["", f"{right} of {len(digits)} training images are on the right side."]
    write(stem, table)
    Path(f"{stem}-strips.svg").write_text(svg(strips))
    if stem.name == "hidden-weights":
        ordered = sorted((weight for weight, _ in found), reverse=True)
        return describe(stem, f"Weights of the units, {digit} against others", "unit", "w",
                        [("w", list(enumerate(ordered, 1)), "points")])
    return describe(stem, f"Mean activation, {digit} against others", "digit", "activation",
                    lines_of_units)


def units_of(program, lines, digit, count):
    """Weights towards the digit, and bias and weights by pixel, of hidden units."""
    train = program.store([(label if label == digit else "rest", body) for label, body in lines],
                          ".svm")
    model = program.folder / "model"
    program.call("classify", "train", train.path, "--model", model, "--quiet", "--threads", 1,
                 *OPTIONS, "--hidden", count)
    text, _ = program.call("classify", "inspect", model, "--json", "--top", SIDE * SIDE)
    report = json.loads(text)
    sign = lambda name: 1 if name == digit else -1
    # The two classes have half the score each.
    program.bias = 2 * report["classes"][digit]["bias"]
    return [(sign(unit["class"]) * unit["weight"],
             (unit["bias"], {int(f["feature"]): f["weight"] for f in unit["features"]}))
            for unit in report["hidden_units"]]


def activation(unit, row):
    bias, weights = unit
    return logistic.sigmoid(bias + sum(x * weights.get(j, 0.0) for j, x in row.items()))


def by_kind(weights, each):
    """The units of the largest weights, of those nearest to 0, and of the smallest."""
    order = sorted(range(len(weights)), key=lambda k: -weights[k])
    middle = sorted(order, key=lambda k: abs(weights[k]))[:each]
    return dict(zip(KINDS, (order[:each], middle, order[-each:])))


def by_digit(values, digits):
    return [statistics.mean(v for v, label in zip(values, digits) if label == str(k))
            for k in range(10)]


def svg(strips):
    """Strips of images, a unit a line, with what the unit is."""
    step, left = SIDE * CELL + 6, 150
    width, height = left + IMAGES * step, len(strips) * step + 6
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">'
           '<rect width="100%" height="100%" fill="white"/>']
    for line, (name, images) in enumerate(strips):
        top = 6 + line * step
        out.append(f'<text x="6" y="{top + SIDE * CELL / 2 + 4}">{name}</text>')
        for number, row in enumerate(images):
            x0 = left + number * step
            out.append(f'<rect x="{x0}" y="{top}" width="{SIDE * CELL}" height="{SIDE * CELL}"/>')
            for pixel, value in row.items():
                shade = round(255 * value)
                y, x = divmod(pixel - 1, SIDE)
                out.append(f'<rect x="{x0 + CELL * x}" y="{top + CELL * y}" width="{CELL}" '
                           f'height="{CELL}" fill="rgb({shade},{shade},{shade})"/>')
    return "\n".join(out) + "\n</svg>\n"


if __name__ == "__main__":
    main()
