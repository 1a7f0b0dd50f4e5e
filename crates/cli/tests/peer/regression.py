"""Compares regressions with those of scikit-learn, on the diabetes data that its package has.

Usage: regression.py PROGRAM FOLDER

Exits with status 3 if scikit-learn is not installed.
"""

import json
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
    from sklearn import datasets, linear_model, svm
except ImportError:
    sys.exit(3)

PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])


def run(*arguments):
    command = [PROGRAM, "regress", *map(str, arguments)]
    ended = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command}: {ended.stderr}")
    return ended.stdout


def write(name, x, y):
    with open(FOLDER / name, "w", encoding="utf-8") as file:
        names = [f"x{j}" for j in range(x.shape[1])]
        file.write(",".join([*names, "label"]) + "\n")
        for row, number in zip(x, y):
            file.write(",".join(map(repr, [*row.tolist(), float(number)])) + "\n")


def weights(name, count):
    shown = json.loads(run("inspect", name, "--json", "--top", count))
    found = np.zeros(count)
    for weight in shown["weights"]:
        found[int(weight["feature"][1:])] = weight["weight"]
    return found, shown["bias"], shown["result"]["objective"]


def train(data, count, *options):
    run("train", data, "--columns", "all", "--model", "m", "--quiet",
        "--tolerance", 1e-12, *options)
    return weights("m", count)


def check(what, found, expected, tolerance):
    error = np.max(np.abs(np.asarray(found) - expected)) / np.max(np.abs(expected))
    print(f"{what}: {error:.1e}")
    if not error <= tolerance:
        sys.exit(f"{what}: {found} instead of {expected}")


def check_model(what, found, peer, tolerance=1e-5):
    check(f"{what}, weights", found[0], peer.coef_, tolerance)
    check(f"{what}, bias", [found[1]], np.array([peer.intercept_]).ravel(), tolerance)


def linear(x, y):
    n, d = x.shape
    write("wide.csv", x[:7], y[:7])
    found = train("data.csv", d, "--l2", 0.5)
    check_model("ridge", found, linear_model.Ridge(alpha=0.5).fit(x, y))
    found = train("wide.csv", d, "--l2", 0.01)
    peer = linear_model.Ridge(alpha=0.01).fit(x[:7], y[:7])
    check_model("ridge of few documents", found, peer)
    found = train("data.csv", d, "--l2", 0)
    check_model("least squares", found, linear_model.LinearRegression().fit(x, y))
    for ratio, alpha in [(1.0, 0.1), (0.5, 0.01)]:
        strengths = ["--l1", 2 * n * alpha * ratio, "--l2", n * alpha * (1 - ratio)]
        peer = linear_model.ElasticNet(
            alpha=alpha, l1_ratio=ratio, tol=1e-12, max_iter=10**6
        ).fit(x, y)
        found = train("data.csv", d, *strengths)
        check_model(f"elastic net {ratio}", found, peer, 1e-4)


def others(x, y):
    n, d = x.shape
    counts = np.floor(y / 25)
    write("counts.csv", x, counts)
    found = train("counts.csv", d, "--loss", "poisson", "--l2", 0.01 * n / 2)
    peer = linear_model.PoissonRegressor(alpha=0.01, tol=1e-10, max_iter=10**4).fit(x, counts)
    check_model("poisson", found, peer, 1e-4)
    found = train("data.csv", d, "--loss", "insensitive", "--epsilon", 5, "--l2", 0.05)
    # Of the peer's two, the one whose bias is free.
    peer = svm.SVR(kernel="linear", C=1 / (2 * 0.05), epsilon=5, tol=1e-6).fit(x, y)

    def objective(w, bias):
        losses = np.maximum(0, np.abs(y - x @ w - bias) - 5)
        return losses.sum() + 0.05 * (w @ w)

    ours = objective(*found[:2])
    check("svr, objective", [ours], np.array([objective(peer.coef_[0], peer.intercept_[0])]), 1e-4)
    check("svr, objective of training", [found[2]], np.array([ours]), 1e-5)


x, y = datasets.load_diabetes(return_X_y=True, scaled=False)
x = (x - 0.5 * x.mean(0)) / x.std(0)  # features with means and like spread
write("data.csv", x, y)
linear(x, y)
others(x, y)
