#!/usr/bin/env python3
"""The figures of the lecture notes on regularization, by `dropchain regress`.

    python3 benches/reproduce/notes.py paths CORPORA OUT      ridge trace and lasso path
    python3 benches/reproduce/notes.py shrinkage CORPORA OUT  soft and hard threshold
    python3 benches/reproduce/notes.py error CORPORA OUT      bias and variance of ridge regression,
                                                              and the bound of Theobald
    python3 benches/reproduce/notes.py choice CORPORA OUT     λ by folds, leave-one-out, GCV and AIC
    python3 benches/reproduce/notes.py kernel CORPORA OUT     ridge regression with kernels

`paths` and `choice` are of diabetes of scikit-learn, and `paths` also of the six cities that the
notes print of their crime data; the others draw their data. CORPORA is not read. Writes
OUT/notes-FIGURE.json, .md and .svg.
"""

import argparse
import json
import math
import random
import statistics
import tempfile
from pathlib import Path

import labeled
from cached import Program
from picture import describe, draw

# City data as printed: police funding, no high school, college, four years of college, crime rate.
CITY_COLUMNS = ("funding", "no high school", "college", "four years of college")
CITIES = ((40, 74, 11, 20, 478), (32, 72, 11, 18, 494), (57, 70, 18, 16, 643),
          (31, 71, 11, 19, 341), (67, 72, 9, 24, 773), (66, 67, 26, 16, 940))
DIABETES = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
ROWS, COLUMNS, SIGMA, DRAWS = 40, 8, 1.0, 200
STRENGTHS = [float(f"{10 ** (i / 4 - 2):.3g}") for i in range(17)]  # 0.01 to 100
MASK = 2**64 - 1
SHOWN = 100  # above, all criteria rise steeply
RIDGE = [float(f"{10 ** (i / 10 - 2):.3g}") for i in range(71)]  # 0.01 to 100,000


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = {"paths": paths, "shrinkage": shrinkage, "error": error, "choice": choice,
             "kernel": kernel}
    parser.add_argument("figure", choices=modes)
    labeled.add_arguments(parser)
    parser.add_argument("--no-draw", action="store_true", help="only the descriptions of pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / f"notes-{arguments.figure}"
    with tempfile.TemporaryDirectory() as folder:
        program = Regress(arguments.program, Path(folder))
        text, found = modes[arguments.figure](program, stem)
    stem.with_suffix(".md").write_text(text)
    print(text, end="")
    for path in [] if arguments.no_draw else found:
        draw(path)


class Regress:
    """The program and a folder for its files."""

    def __init__(self, path, folder):
        self.program, self.folder = Program(path, folder / "runs"), folder

    def store(self, rows, y):
        lines = [(f"{value:.9g}", labeled.features(row)) for row, value in zip(rows, y)]
        return self.program.store(lines, ".svm").path

    def weights(self, train, count, *options):
        """Bias and weights of a model."""
        model = self.folder / "model"
        self.program.call("regress", "train", train, "--model", model, "--quiet", "--threads", 1,
                          *options)
        text, _ = self.program.call("regress", "inspect", model, "--json", "--top", count)
        found = json.loads(text)
        weights = {int(f["feature"]): f["weight"] for f in found["weights"]}
        return found["bias"], [weights.get(j + 1, 0.0) for j in range(count)]

    def ridge(self, rows, y, strengths):
        """Bias and weights by strength."""
        train, count = self.store(rows, y), len(rows[0])
        found = {strength: self.weights(train, count, "--l2", f"{strength:.17g}")
                 for strength in strengths}
        train.unlink()
        return found

    def lasso(self, rows, y):
        """Weights by λ, from the least for which all are 0 to a thousandth of it. The means of all
        columns and of y are 0."""
        train, count = self.store(rows, y), len(rows[0])
        largest = 2 * max(abs(sum(x * value for x, value in zip(column, y)))
                          for column in zip(*rows))
        return {l1: self.weights(train, count, "--l2", 0, "--l1", f"{l1:.17g}")
                for l1 in (largest * 1e-3 ** (i / 99) for i in range(100))}


def standardized(rows, y):
    """Columns with the mean 0 and the mean square 1, and numbers with the mean 0."""
    columns = []
    for column in zip(*rows):
        mean, deviation = statistics.mean(column), statistics.pstdev(column)
        columns.append([(x - mean) / deviation for x in column])
    mean = statistics.mean(y)
    return [list(row) for row in zip(*columns)], [value - mean for value in y]


def diabetes():
    data = labeled.scikit("diabetes").load_diabetes()
    return standardized(data.data.tolist(), data.target.tolist())


def paths(program, stem):
    """Weights by λ: all shrink with ridge regression, and vanish one by one with the lasso."""
    cities = standardized([row[:4] for row in CITIES], [row[4] for row in CITIES])
    text, found = [], []
    for name, names, (rows, y) in (("diabetes", DIABETES, diabetes()),
                                   ("cities", CITY_COLUMNS, cities)):
        for kind, found_weights in (("ridge", program.ridge(rows, y, RIDGE)),
                                    ("lasso", program.lasso(rows, y))):
            lines = [(column, [(strength, weights[j])
                               for strength, (_, weights) in found_weights.items()])
                     for j, column in enumerate(names)]
            title = f"{'Ridge trace' if kind == 'ridge' else 'Lasso path'}, {name}"
            found.append(describe(f"{stem}-{kind}-{name}", title, ("λ", "log"), "weight", lines))
            if kind == "lasso":
                first = {column: max((x for x, w in points if w), default=0)
                         for column, points in lines}
                order = sorted(first, key=first.get, reverse=True)
                text.append(f"{name}: features enter the lasso path in the order "
                            f"{', '.join(f'{c} (λ = {first[c]:.4g})' for c in order)}.\n")
    return "\n".join(text), found


def shrinkage(program, stem):
    """The lasso of an identity: max(|y| − λ, 0)·sign(y) with the loss ½(y − θ)²."""
    strength, lines, largest = 1.0, [], 0.0
    values = [i / 4 for i in range(-12, 13)]
    # Two rows of each value, with y and −y, keep the bias at 0; the loss of dropchain is (y − θ)².
    size = len(values)
    rows = [[sign if i == j else 0.0 for j in range(size)] for i in range(size) for sign in (1, -1)]
    y = [sign * value for value in values for sign in (1, -1)]
    _, weights = program.weights(program.store(rows, y), size, "--l2", 0, "--l1", 4 * strength)
    for value, weight in zip(values, weights):
        soft = max(abs(value) - strength, 0) * (1 if value > 0 else -1)
        largest = max(largest, abs(weight - soft))
    lines = [("soft: dropchain regress --l1", list(zip(values, weights)), "points"),
             ("soft: formula", [(v, max(abs(v) - strength, 0) * math.copysign(1, v))
                                for v in values]),
             ("hard", [(-3, -3), (-strength, -strength), (-strength, 0), (strength, 0),
                       (strength, strength), (3, 3)], "dashed")]
    text = f"The largest difference of a weight to the shrinkage operator is {largest:.1e}.\n"
    return text, [describe(stem, "Shrinkage and hard threshold, λ = 1", "y", "θ", lines)]


def matrix(rows):
    """AᵀA."""
    count = len(rows[0])
    return [[sum(row[i] * row[j] for row in rows) for j in range(count)] for i in range(count)]


def inverse(square):
    """By Gauss and Jordan, with pivots."""
    size = len(square)
    work = [list(row) + [float(i == j) for j in range(size)] for i, row in enumerate(square)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(work[k][i]))
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [x / work[i][i] for x in work[i]]
        for k in range(size):
            if k != i:
                factor = work[k][i]
                work[k] = [x - factor * z for x, z in zip(work[k], work[i])]
    return [row[size:] for row in work]


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * z for x, z in zip(row, column)) for column in columns] for row in a]


def regularized(square, strength):
    return inverse([[x + strength * (i == j) for j, x in enumerate(row)]
                    for i, row in enumerate(square)])


def design(rng):
    """Correlated columns with the mean 0, and the weights that are to be found."""
    rows = []
    for _ in range(ROWS):
        shared = rng.gauss(0, 1)
        rows.append([0.9 * shared + 0.436 * rng.gauss(0, 1) for _ in range(COLUMNS)])
    means = [statistics.mean(column) for column in zip(*rows)]
    return [[x - m for x, m in zip(row, means)] for row in rows], [
        rng.gauss(0, 0.5) for _ in range(COLUMNS)]


def theory(square, theta, strength):
    """Variance σ²·tr(W (AᵀA)⁻¹ Wᵀ) and squared bias ‖(W − I)θ*‖², W = (AᵀA + λI)⁻¹AᵀA."""
    part = regularized(square, strength)
    spread = product(product(part, square), part)
    variance = SIGMA ** 2 * sum(spread[i][i] for i in range(COLUMNS))
    shrunken = product(product(part, square), [[x] for x in theta])
    bias = sum((s[0] - x) ** 2 for s, x in zip(shrunken, theta))
    return variance, bias


def error(program, stem):
    """Mean squared error of θ over draws of y, beside the formulas."""
    rng = random.Random(1)
    rows, theta = design(rng)
    square = matrix(rows)
    clean = [sum(x * w for x, w in zip(row, theta)) for row in rows]
    estimates = {strength: [] for strength in STRENGTHS}
    for _ in range(DRAWS):
        drawn = [value + rng.gauss(0, SIGMA) for value in clean]
        for strength, (_, weights) in program.ridge(rows, drawn, STRENGTHS).items():
            estimates[strength].append(weights)
    bound = 2 * SIGMA ** 2 / sum(x * x for x in theta)
    plain = sum(theory(square, theta, 0.0))
    lines = {name: [] for name in ("error", "variance", "bias", "measured")}
    table = ["| λ | variance | squared bias | error | measured | ± |", "|---:" * 6 + "|"]
    for strength in STRENGTHS:
        variance, bias = theory(square, theta, strength)
        errors = [sum((w - x) ** 2 for w, x in zip(weights, theta))
                  for weights in estimates[strength]]
        mean, deviation = statistics.mean(errors), statistics.stdev(errors) / DRAWS ** 0.5
        table.append(f"| {strength:.3g} | {variance:.4f} | {bias:.4f} | {variance + bias:.4f} | "
                     f"{mean:.4f} | {deviation:.4f} |")
        for name, value in zip(lines, (variance + bias, variance, bias)):
            lines[name].append((strength, value))
        lines["measured"].append((strength, mean, mean - 2 * deviation, mean + 2 * deviation))
    best = min(lines["error"], key=lambda point: point[1])
    table += ["", f"Least squares: {plain:.4f}. Theobald: below λ = {bound:.3f} ridge regression "
                  f"is better; at the bound it has {sum(theory(square, theta, bound)):.4f}, at "
                  f"best {best[1]:.4f} (λ = {best[0]:.3g})."]
    top = max(plain, max(y for _, y in lines["error"]))
    series = [("squared error", lines["error"]), ("variance", lines["variance"], "dashed"),
              ("squared bias", lines["bias"], "dashed"),
              ("measured", lines["measured"], "points"),
              ("least squares", [(STRENGTHS[0], plain), (STRENGTHS[-1], plain)], "dashed"),
              ("Theobald's bound", [(bound, 0.0), (bound, top)], "dashed")]
    path = describe(stem, "Bias and variance of ridge regression", ("λ", "log"),
                    "squared error of θ", series,
                    f"{DRAWS} draws; intervals are two standard errors")
    return "\n".join(table) + "\n", [path]


def choice(program, stem):
    """Ways to choose λ on diabetes: all are to estimate the error on other documents."""
    rows, y = diabetes()
    size = len(rows)
    by_folds = errors_over_folds(program, rows, y)
    square = matrix(rows)
    criteria = {"10 folds": [], "leave one out": [], "GCV": [], "AIC": []}
    for strength, (_, weights) in program.ridge(rows, y, RIDGE).items():
        residuals = [value - sum(x * w for x, w in zip(row, weights))
                     for row, value in zip(rows, y)]
        part = regularized(square, strength)
        # The diagonal of the hat matrix; 1/n is the bias.
        hats = [1 / size + sum(x * z for x, z in zip(row, product([row], part)[0]))
                for row in rows]
        freedom, loss = sum(hats), sum(r * r for r in residuals)
        values = (by_folds[strength], statistics.mean((r / (1 - h)) ** 2
                                                  for r, h in zip(residuals, hats)),
                  loss / size / (1 - freedom / size) ** 2,
                  size * math.log(loss / size) + 2 * freedom)
        for line, value in zip(criteria.values(), values):
            line.append((strength, value, freedom))
    table = ["| criterion | λ | degrees of freedom | its value |", "|---|---:|---:|---:|"]
    for name, line in criteria.items():
        strength, value, freedom = min(line, key=lambda point: point[1])
        table.append(f"| {name} | {strength:.3g} | {freedom:.2f} | {value:.1f} |")
    series = [(name, [(x, value) for x, value, _ in line])
              for name, line in criteria.items() if name != "AIC"]
    # AIC as an error: exp(AIC/n), which has its minimum at the same λ.
    series.append(("exp(AIC/n)", [(x, math.exp(value / size)) for x, value, _ in criteria["AIC"]]))
    shown = [(name, [(x, value) for x, value in line if x <= SHOWN]) for name, line in series]
    path = describe(stem, "Choice of λ, diabetes", ("λ", "log"), "squared error", shown)
    return "\n".join(table) + "\n", [path]


def errors_over_folds(program, rows, y):
    """The mean squared error by strength, of ten folds; those of n of N documents have λ·n/N."""
    errors = {strength: [] for strength in RIDGE}
    for trained, held_out in folds(len(rows), 10, 1):
        share = len(trained) / len(rows)
        found = program.ridge([rows[n] for n in trained], [y[n] for n in trained],
                              [strength * share for strength in RIDGE])
        for own, (bias, weights) in zip(errors.values(), found.values()):
            own.append(statistics.mean(
                (y[n] - bias - sum(x * w for x, w in zip(rows[n], weights))) ** 2
                for n in held_out))
    return {strength: statistics.mean(own) for strength, own in errors.items()}


def folds(count, number, seed):
    """The documents of each fold: to train, and held out."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = min(int((1 - uniform(seed, last)) * (last + 1)), last)
        order[last], order[other] = order[other], order[last]
    for fold in range(number):
        start, end = fold * count // number, (fold + 1) * count // number
        yield order[:start] + order[end:], order[start:end]


def uniform(seed, n):
    """A number of SplitMix64 in (0, 1]."""
    z = (seed + 0x9E3779B97F4A7C15 * (n + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return (((z ^ (z >> 31)) >> 11) + 1) / 2**53


def kernel(program, stem):
    """Ridge regression on the columns of a Cholesky factor of K is that with the kernel."""
    rng = random.Random(2)
    times = [i / 2 for i in range(40)]
    heights = [math.sin(t / 2) + t / 10 + rng.gauss(0, 0.2) for t in times]
    mean = statistics.mean(heights)
    strength, lines, table = 0.1, [("data", list(zip(times, heights)), "points")], []
    centered = [h - mean for h in heights]
    for sigma in (0.3, 1.5, 8.0):
        gram = [[math.exp(-(a - b) ** 2 / 2 / sigma ** 2) for b in times] for a in times]
        factor = cholesky(gram)
        bias, weights = program.weights(program.store(factor, centered), len(times),
                                        "--l2", strength)
        fitted = [bias + sum(x * w for x, w in zip(row, weights)) for row in factor]
        # The dual form: α = (K + λI)⁻¹(y − b), fitted values Kα + b.
        dual = product(regularized(gram, strength), [[h - bias] for h in centered])
        other = [bias + sum(k * a[0] for k, a in zip(row, dual)) for row in gram]
        table.append(f"| {sigma} | {max(abs(a - b) for a, b in zip(fitted, other)):.1e} |")
        lines.append((f"σ = {sigma}", [(t, f + mean) for t, f in zip(times, fitted)]))
    table = ["| σ | largest difference of primal and dual form |", "|---:|---:|", *table]
    path = describe(stem, "Ridge regression with a Gaussian kernel, λ = 0.1", "t", "y", lines)
    return "\n".join(table) + "\n", [path]


def cholesky(square):
    """The lower factor, of a matrix that may be singular but for rounding."""
    size = len(square)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = square[i][j] - sum(a * b for a, b in zip(lower[i][:j], lower[j][:j]))
            if i == j:
                lower[i][j] = math.sqrt(max(rest, 0.0) + 1e-12)
            else:
                lower[i][j] = rest / lower[j][j]
    return lower


if __name__ == "__main__":
    main()
