"""Logistic regression with dropout by its formulas, apart from the program: what is compared with
it. Two classes, scores d = x·β + b with β = θ₁ − θ₀, and d̃ the score under noise."""

import json
import math
import random

from labeled import parse

STEPS = 400


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def softplus(x):
    """A(x) = log(1 + exp x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def gaussian(f, mean, variance):
    """E f(d) of d ~ N(mean, variance), by the trapezoidal rule over ±8 deviations."""
    deviation = math.sqrt(variance)
    if deviation == 0:
        return f(mean)
    total = weights = 0.0
    for i in range(STEPS + 1):
        z = -8 + 16 * i / STEPS
        weight = math.exp(-z * z / 2)
        total += weight * f(mean + deviation * z)
        weights += weight
    return total / weights


def penalty(score, variance):
    """R of a Gaussian score: E A(d̃) − A(d)."""
    return gaussian(softplus, score, variance) - softplus(score)


def quadratic_penalty(score, variance):
    """Its expansion to second order: ½ p(1 − p) V."""
    p = sigmoid(score)
    return p * (1 - p) * variance / 2


class Documents:
    """Documents of two classes as features: lines (class, SVMlight's features)."""

    def __init__(self, lines):
        self.classes = sorted({label for label, _ in lines})
        self.labels = [self.classes.index(label) for label, _ in lines]
        self.rows = [sorted(parse(body).items()) for _, body in lines]

    def scores(self, bias, weights):
        return [bias + sum(x * weights.get(j, 0.0) for j, x in row) for row in self.rows]

    def variances(self, weights, rate):
        """Variances of scores whose features are dropped, each for both classes at once."""
        rho = rate / (1 - rate)
        return [rho * sum((x * weights.get(j, 0.0)) ** 2 for j, x in row) for row in self.rows]

    def loss(self, scores):
        """−log p of the classes."""
        return sum(softplus(-d if y else d) for y, d in zip(self.labels, scores))

    def accuracy(self, scores):
        right = sum((d > 0) == (y == 1) for y, d in zip(self.labels, scores))
        return 100 * right / len(scores)

    def sampled_penalty(self, bias, weights, rate, samples, seed):
        """R over masks, of samples of each document, as the mean of A(d̃) − A(d) − p·(d̃ − d): its
        last term has the mean 0 and takes away most of the deviation."""
        rng, total = random.Random(seed), 0.0
        for row in self.rows:
            parts = [x * weights.get(j, 0.0) for j, x in row]
            score = bias + sum(parts)
            p = sigmoid(score)
            for _ in range(samples):
                kept = sum(part for part in parts if rng.random() >= rate)
                noisy = bias + kept / (1 - rate)
                total += softplus(noisy) - softplus(score) - p * (noisy - score)
        return total / samples


def weights_of(program, model):
    """Bias and weights β by number of a model of SVMlight's features."""
    text, _ = program.call("classify", "inspect", model, "--json", "--top", 10_000_000)
    classes = json.loads(text)["classes"]
    first, second = (classes[name] for name in sorted(classes))
    weights = {int(f["feature"]): f["weight"] for f in second["features"]}
    for f in first["features"]:
        number = int(f["feature"])
        weights[number] = weights.get(number, 0.0) - f["weight"]
    return second["bias"] - first["bias"], weights
