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
MASK = 2**64 - 1


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


def uniform(seed, n):
    """A number of SplitMix64 in (0, 1]."""
    z = (seed + 0x9E3779B97F4A7C15 * (n + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return (((z ^ (z >> 31)) >> 11) + 1) / 2**53


def folds(count, number, seed):
    """The documents of each fold, as `regress path` shuffles them."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = min(int((1 - uniform(seed, last)) * (last + 1)), last)
        order[last], order[other] = order[other], order[last]
    for fold in range(number):
        start, end = fold * count // number, (fold + 1) * count // number
        yield order[:start] + order[end:], order[start:end]


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


def path(x, y):
    n, d = x.shape
    for ratio in [1.0, 0.5]:
        printed = run("path", "data.csv", "--columns", "all", "--l1-ratio", ratio, "--count", 30,
                      "--folds", 5, "--seed", 3, "--json", "--weights", "--quiet",
                      "--tolerance", 1e-12)
        result = json.loads(printed)
        points = result["points"]
        alphas = np.array([point["strength"] / n for point in points])
        settings = {"l1_ratio": ratio, "tol": 1e-12, "max_iter": 10**6}
        peer = linear_model.ElasticNetCV(alphas=alphas, cv=list(folds(n, 5, 3)), **settings)
        peer.fit(x, y)
        largest = np.max(np.abs((x - x.mean(0)).T @ (y - y.mean()))) / (n * ratio)
        check(f"path {ratio}, first strength", [alphas[0]], np.array([largest]), 1e-12)
        errors = [point["error"] for point in points]
        check(f"path {ratio}, errors", errors, peer.mse_path_.mean(axis=1), 1e-6)
        chosen = [alphas[result["chosen"]]]
        check(f"path {ratio}, choice", chosen, np.array([peer.alpha_]), 1e-12)
        centered = x - x.mean(0), y - y.mean()
        _, coefs, _ = linear_model.enet_path(*centered, alphas=alphas, **settings)
        found = np.zeros((d, 30))
        for i, point in enumerate(points):
            for name, weight in point.get("weights", {}).items():
                found[int(name[1:]), i] = weight
        check(f"path {ratio}, weights", found, coefs, 1e-4)


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
path(x, y)
others(x, y)
