"""The options of training."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict


class FixedOptions(TypedDict, total=False):
    """Options that :func:`dropchain.tune` does not search. Defaults are in brackets."""

    algorithm: Literal["lbfgs", "sgd", "ap", "pa", "arow"]
    """How the weights are trained: L-BFGS, stochastic gradient descent, averaged perceptron,
    passive-aggressive, AROW."""
    max_iterations: int | None
    """Most iterations, or epochs [until convergence]."""
    patience: int
    """With development data: iterations without a better score before training stops [40]."""
    min_count: int
    """Ignore features that fewer tokens have [1]."""
    min_frequency: float | None
    """Pairs of feature and label, or of labels, that are rarer have no weight: `feature.minfreq` of
    CRFsuite [none]."""
    dev_use: Literal["choose", "report"]
    """What development data are for: to choose the iteration and end training, or only to be scored
    [choose]."""
    noise: str
    """The noise whose effect is minimized: dropout, gaussian, additive, reweighted[=N],
    monte-carlo [dropout]."""
    samples: int
    """Samples of monte-carlo noise for each sentence and iteration [4]."""
    discover: bool
    """Keep features that only unlabeled text has [False]."""
    collapse: bool
    """Train features that always occur together as one: the same model, faster [True]."""
    scheme: Literal["raw", "io", "iob1", "iob2", "bioes", "plain"]
    """The scheme of labels to train with; predictions are in that of the corpus [raw: as they
    are]."""
    plain_labels: Literal["auto", "spans", "tags"]
    """What labels without B- or I- are: types of spans (PERSON, O), tags (parts of speech), or what
    they look like [auto]."""
    outside: str | None
    """The label of tokens outside of all spans [O; by evidence another, such as 0]."""
    order: Literal[0, 1]
    """1: pairs of adjacent labels have weights; 0: every token is on its own [1]."""
    boundary: bool
    """Weights for the first and the last label of a sentence [True]."""
    states: Literal["all", "observed"]
    """Which pairs of feature and label have weights [all]."""
    transitions: Literal["all", "observed"] | None
    """Which pairs of labels have weights [as states]."""
    caseless: float
    """Weight of a copy in lower case of each sentence, for text without case: all in lower case, in
    capitals, or with every word capitalized [0]."""
    precision: Literal["f32", "f64", "f16"]
    """Precision of weights in the model [f32]."""
    prune: float
    """Drop weights that are smaller [0]."""
    recall_bias: float | None
    """Subtracted from the score of the label O [the best on development data, else 0]."""
    epsilon: float
    """lbfgs: stop below this gradient [1e-5]; ap, pa, arow: below this mean loss [0]."""
    delta: float
    """lbfgs, sgd: stop if the objective fell by less than this fraction [1e-5, 1e-6]."""
    period: int
    """lbfgs, sgd: in this number of iterations [10]."""
    lbfgs_memory: int
    """lbfgs: pairs of vectors to keep [6]."""
    line_search: Literal["strong-wolfe", "backtracking", "strong-backtracking"]
    """lbfgs: the line search [strong-wolfe]."""
    max_line_search: int
    """lbfgs: most evaluations in a line search [20]."""
    plain: bool
    """lbfgs: take the steps of CRFsuite's optimizer, which needs more iterations [False]."""
    step: Literal["decreasing", "adagrad"]
    """sgd: how steps develop [decreasing]."""
    eta: float
    """sgd: learning rate with which calibration begins [0.1]."""
    calibration_rate: float
    """sgd: factor between the rates that calibration tries [2]."""
    calibration_samples: int
    """sgd: sentences to calibrate on [1000]."""
    calibration_candidates: int
    """sgd: rates in each direction that lower the loss [10]."""
    calibration_trials: int
    """sgd: most rates to try [20]."""
    pa_type: Literal[0, 1, 2]
    """pa: without slack, or type I or II [1]."""
    pa_c: float
    """pa: aggressiveness [1]."""
    error_sensitive: bool
    """pa: the margin grows with the number of wrong labels [True]."""
    averaging: bool
    """pa: average the weights [True]."""
    variance: float
    """arow: variance of a weight at the start [1]."""
    gamma: float
    """arow: tradeoff between loss and change [1]."""


class TrainOptions(FixedOptions, total=False):
    """Options of :func:`dropchain.train`: these and those of the base class. What is not given, or
    None, is the default, in brackets."""

    dropout: float
    """The rate of feature noise, 0 for none [0.3; 0 of ap, pa and arow]."""
    edge_dropout: float | None
    """The rate for transitions and features of pairs of tokens [twice dropout, at most 0.9]."""
    l2: float | None
    """Strength c2 of the L2 penalty [0.1 with noise, 0.3 without; 1 of sgd]."""
    l1: float
    """Strength c1 of the L1 penalty [0]."""
    seed: int
    """Seed of random numbers [1]."""
    unlabeled_weight: float
    """Weight of an unlabeled sentence [0.2]."""
    gradient: str
    """How the gradient of the noise term is computed: exact, message, window=R, local
    [exact]."""
    warm_up: int | None
    """Iterations without noise before those with it [20; 10 after a warm start]."""
    warm_start: Literal["online", "off"]
    """lbfgs: start after two fast passes of stochastic updates, which count as iterations, or at 0
    [off]."""


NAMES = tuple(TrainOptions.__annotations__)

_OTHER_NAMES = {"c1": "l1", "c2": "l2", "epochs": "max_iterations", "lr": "eta"}


def check_names(options: Mapping[str, Any], function: str) -> None:
    """Raise TypeError for unknown options, with the closest known one."""
    for name in options:
        if name in NAMES:
            continue
        close = difflib.get_close_matches(name, NAMES, 1)
        close = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else close
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise TypeError(f"{function}() got an unknown option '{name}'{hint}")


#: The names of options inside of those of an algorithm, as a model stores them.
_STORED = {
    "lbfgs": {
        "memory": "lbfgs_memory",
        "improvement_tolerance": "delta",
        "gradient_tolerance": "epsilon",
    },
    "sgd": {
        "rate": "calibration_rate",
        "samples": "calibration_samples",
        "candidates": "calibration_candidates",
        "max_trials": "calibration_trials",
    },
    "pa": {"variant": "pa_type", "c": "pa_c"},
}


def from_json(text: str) -> dict[str, Any]:
    """Return the options that a model stores, as keyword arguments."""
    stored = json.loads(text)
    options = {name: value for name, value in stored.items() if name in NAMES}
    options["order"] = int(options["order"])
    options["boundary"] = options["boundary"] == "on"
    algorithm = options["algorithm"]
    nested = dict(stored.get(algorithm, {}))
    if algorithm == "lbfgs":
        nested.pop("max_iterations", None)
    names = _STORED.get(algorithm, {})
    options.update({names.get(name, name): value for name, value in nested.items()})
    if "pa_type" in options:
        options["pa_type"] = int(options["pa_type"])
    return options
