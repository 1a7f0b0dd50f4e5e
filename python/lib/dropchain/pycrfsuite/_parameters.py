"""The parameters of CRFsuite: types, defaults, help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# The maximum of a C int, which is no limit.
UNLIMITED = 2**31 - 1

LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm. Its default has the type of its values."""

    name: str
    default: Any
    help: str

    def parse(self, value: object) -> Any:
        """Converts a value, which may be a string; a switch becomes a number, as in the log.
        Raises ValueError if it has another type."""
        if isinstance(self.default, str):
            text = str(value)
            if text not in LINE_SEARCHES:
                raise self._fault(value, "expected one of " + ", ".join(LINE_SEARCHES))
            return text
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise self._fault(value, "expected a number") from None
        if isinstance(self.default, float):
            if number != number or number in (float("inf"), float("-inf")):
                raise self._fault(value, "expected a finite number")
            return number
        if not number.is_integer():
            raise self._fault(value, "expected an integer")
        return min(int(number), UNLIMITED)

    def cast(self, value: Any) -> Any:
        """Returns a parsed value as `get` does; the number of samples as a float, as
        python-crfsuite does."""
        return float(value) if self.name == "calibration.samples" else type(self.default)(value)

    def _fault(self, value: object, expected: str) -> ValueError:
        return ValueError(f"{self.name}: found {value!r}; {expected}")


_PERIOD = "The number of iterations over which `delta` is measured."
_DELTA = (
    "The threshold of the stopping criterion: training stops when the log-likelihood has improved "
    "by less than this fraction in the last `period` iterations."
)
_ITERATIONS = "The maximum number of iterations."
_L2 = "The strength of the L2 regularization."
_LOSS = "Training stops when the mean loss falls below this."

# The defaults and the help of the parameters of each algorithm, those of all first.
_ALL: dict[str, tuple[Any, str]] = {
    "feature.minfreq": (
        0.0,
        "The minimum frequency of a feature: of an attribute with a label, or of a pair of labels. "
        "Less frequent ones are dropped.",
    ),
    "feature.possible_states": (
        False,
        "Whether every attribute has a weight for every label (1), or only for those that it "
        "occurs with (0).",
    ),
    "feature.possible_transitions": (
        False,
        "Whether every pair of labels has a weight (1), or only those that occur (0).",
    ),
}
_OWN: dict[str, dict[str, tuple[Any, str]]] = {
    "lbfgs": {
        "c1": (0.0, "The strength of the L1 regularization."),
        "c2": (1.0, _L2),
        "max_iterations": (UNLIMITED, _ITERATIONS),
        "num_memories": (
            6,
            "The number of past steps from which L-BFGS approximates the inverse Hessian matrix.",
        ),
        "epsilon": (
            1e-5,
            "Training stops when the norm of the gradient falls below this fraction of that of "
            "the weights.",
        ),
        "period": (10, _PERIOD),
        "delta": (1e-5, _DELTA),
        "linesearch": (
            "MoreThuente",
            "The line search of L-BFGS: 'MoreThuente' (the method of Moré and Thuente), "
            "'Backtracking' (regular Wolfe condition) or 'StrongBacktracking' (strong Wolfe "
            "condition).",
        ),
        "max_linesearch": (20, "The maximum number of trials of a line search."),
    },
    "l2sgd": {
        "c2": (1.0, _L2),
        "max_iterations": (1000, "The maximum number of epochs."),
        "period": (10, _PERIOD),
        "delta": (1e-6, _DELTA),
        "calibration.eta": (0.1, "The learning rate (eta) with which calibration begins."),
        "calibration.rate": (2.0, "The factor between the learning rates of calibration."),
        "calibration.samples": (1000, "The number of instances for calibration."),
        "calibration.candidates": (10, "The number of good learning rates to find."),
        "calibration.max_trials": (20, "The maximum number of learning rates to try."),
    },
    "averaged-perceptron": {
        "max_iterations": (100, _ITERATIONS),
        "epsilon": (0.0, "Training stops when the ratio of wrong labels falls below this."),
    },
    "passive-aggressive": {
        "type": (1, "How updates are limited: not at all (0), PA-I (1) or PA-II (2)."),
        "c": (1.0, "The aggressiveness: the limit of PA-I, and of the slack of PA-II."),
        "error_sensitive": (True, "Whether the cost grows with the number of wrong labels."),
        "averaging": (
            True,
            "Whether the result is the average of the weights after all updates.",
        ),
        "max_iterations": (100, _ITERATIONS),
        "epsilon": (0.0, _LOSS),
    },
    "arow": {
        "variance": (1.0, "The variance of every weight at the start."),
        "gamma": (1.0, "The tradeoff between the loss and changes of the weights."),
        "max_iterations": (100, _ITERATIONS),
        "epsilon": (0.0, _LOSS),
    },
}

# The parameters of each algorithm, by name, in the order of CRFsuite.
PARAMETERS: dict[str, dict[str, Parameter]] = {
    algorithm: {name: Parameter(name, *row) for name, row in {**_ALL, **own}.items()}
    for algorithm, own in _OWN.items()
}

# Algorithms and parameters as options of `dropchain.train`, where these have other names.
_ALGORITHMS = {"l2sgd": "sgd", **{name: alias for alias, name in ALIASES.items()}}
_OPTIONS = {
    "feature.minfreq": "min_frequency",
    "feature.possible_states": "states",
    "feature.possible_transitions": "transitions",
    "c1": "l1",
    "c2": "l2",
}
# The parameter that the name of an algorithm has after it: ``pa=2``.
_IN_NAMES = {"l2sgd": "calibration.eta", "passive-aggressive": "c", "arow": "gamma"}

# Parameters that dropchain does not have: it works as with the defaults of CRFsuite.
_FIXED = frozenset(
    "num_memories period delta linesearch max_linesearch calibration.rate calibration.samples "
    "calibration.candidates calibration.max_trials type error_sensitive averaging".split()
)
_PRECISIONS = {"single": "f32", "double": "f64"}

# Options that CRFsuite does not have.
EXTENSIONS = (
    "dropout",
    "edge_dropout",
    "noise",
    "warm_up",
    "unlabeled_weight",
    "patience",
    "seed",
    "precision",
    "plain",
)


def train_options(
    algorithm: str, values: dict[str, Any], extensions: dict[str, Any]
) -> dict[str, Any]:
    """Converts parameters and extensions to options of `dropchain.train`. Raises ValueError if an
    extension is unknown, or a parameter that dropchain does not have is not the default."""
    values = dict(values)
    for name in _FIXED.intersection(values):
        value, default = values.pop(name), PARAMETERS[algorithm][name].default
        if value != default:
            raise ValueError(
                f"{name} {value}: dropchain has no such parameter; expected {default}, the "
                "default of CRFsuite"
            )
    if algorithm == "arow":
        # Updates depend on the ratio alone.
        variance = values.pop("variance")
        if not variance > 0:
            raise ValueError(f"variance {variance}; expected a finite number above 0")
        values["gamma"] /= variance
    name = _ALGORITHMS.get(algorithm, algorithm)
    if algorithm in _IN_NAMES:
        name += f"={values.pop(_IN_NAMES[algorithm])}"
    options: dict[str, Any] = {"dropout": 0.0, "edge_dropout": 0.0, "patience": 0}
    options.update(algorithm=name, boundary=False, recall_bias=0.0)
    options.update((_OPTIONS.get(name, name), value) for name, value in values.items())
    for name in ("states", "transitions"):
        options[name] = "all" if options[name] else "observed"
    if algorithm == "lbfgs":
        # As liblbfgs: 0 is no limit, nor is the default, and negative strengths are none.
        if options["max_iterations"] in (0, UNLIMITED):
            options["max_iterations"] = None
        options["l1"], options["l2"] = max(options["l1"], 0.0), max(options["l2"], 0.0)
        options["plain"] = True
    for name, value in extensions.items():
        if name not in EXTENSIONS:
            raise ValueError(f"found the option {name}; it is unknown")
        if name == "plain" and algorithm != "lbfgs":
            continue
        if name == "precision":
            if value not in _PRECISIONS:
                raise ValueError(f"precision {value!r}; expected single or double")
            value = _PRECISIONS[value]
        options[name] = value
    return options
