"""Reads the log of CRFsuite."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple


class LabelScore(NamedTuple):
    """The scores of a label on held-out data."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
_FEATURES = re.compile(r"Number of features: (\d+)")
_TRAINING = re.compile(r"Total seconds required for training: (\d+\.\d+)")

#: Numbers of an iteration: what precedes them, the key, the type.
_NUMBERS = {
    "Loss": ("loss", float),
    "Feature norm": ("feature_norm", float),
    "Feature L2-norm": ("feature_norm", float),
    "Error norm": ("error_norm", float),
    "Active features": ("active_features", int),
    "Line search trials": ("linesearch_trials", int),
    "Line search step": ("linesearch_step", float),
    "Seconds required for this iteration": ("time", float),
}

_AVERAGES = re.compile(r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_SCORE = r"([\d.]+|\*+)"
_LABEL = re.compile(rf" {{4}}(.+): \((\d+), (\d+), (\d+)\) \({_SCORE}, {_SCORE}, {_SCORE}\)")

_PROGRESS = frozenset([".", *(str(i) for i in range(11))])


class TrainLogParser:
    """Parses the messages of training, one at a time, and recognizes the events in them.

    Attributes
    ----------
    featgen_percent : int
        The progress of feature generation.
    featgen_num_features, featgen_seconds, training_seconds, storing_seconds
        Numbers of the log, None before they were in it.
    iterations : list of dict
        The numbers of each iteration: ``num``, ``loss``, ``time``, ``feature_norm``; of L-BFGS also
        ``error_norm``, ``active_features``, ``linesearch_trials``, ``linesearch_step``; with
        held-out data also ``scores``, ``avg_precision``, ``avg_recall``, ``avg_f1``,
        ``item_accuracy``, ``instance_accuracy`` and the latter two as ``…_float``.
    last_iteration : dict
        The last of them.
    log : list of str
        All messages.
    events : list of tuple
        The events: name, and the first message and the one after the last that belong to it.
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """Parses a message. Returns the event that ends with it, if any.

        The events are ``start``, ``featgen_progress``, ``featgen_end``, ``prepared`` or
        ``prepare_error``, ``iteration``, ``optimization_end`` and ``end``. The message that shows
        ``prepared`` or ``optimization_end`` belongs to the next event.
        """
        self.log.append(line)
        if self.state is None:
            self.state = "STARTING"
            self._starting(line)
            self.events.append(("start", 0, 1))
            return "start"
        event = self._HANDLERS[self.state](self, line)
        if event is not None:
            end = len(self.log) - (event in ("prepared", "optimization_end"))
            self.events.append((event, self.events[-1][2], end))
        return event

    @property
    def last_log(self) -> str:
        """The messages of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def _starting(self, line: str) -> str | None:
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"
        return None

    def _generating(self, line: str) -> str | None:
        if line in _PROGRESS:
            self.featgen_percent += 2
            return "featgen_progress"
        if found := _FEATURES.match(line):
            self.featgen_num_features = int(found[1])
        elif found := _SECONDS.match(line):
            self.featgen_seconds = float(found[1])
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _before_iterations(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def _begins_iteration(self, line: str) -> bool:
        found = _HEAD.match(line)
        if found:
            self.state = "ITERATION"
            self.last_iteration = {"num": int(found[1]), "scores": {}}
            self.iterations.append(self.last_iteration)
        return found is not None

    def _in_iteration(self, line: str) -> str | None:
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        if line.startswith("    "):
            self._label_score(line)
            return None
        assert self.last_iteration is not None
        name, _, value = line.rstrip("\n").partition(": ")
        if name in _NUMBERS:
            key, convert = _NUMBERS[name]
            self.last_iteration[key] = convert(value)
        elif found := _AVERAGES.match(line):
            for key, number in zip(("precision", "recall", "f1"), found.groups(), strict=True):
                self.last_iteration["avg_" + key] = float(number)
        elif found := _ACCURACY.match(line):
            key = found[1].lower() + "_accuracy"
            total = int(found[3])
            self.last_iteration[key] = Fraction(int(found[2]), total) if total else Fraction(0)
            self.last_iteration[key + "_float"] = float(self.last_iteration[key])
        else:
            self._begins_iteration(line)
        return None

    def _label_score(self, line: str) -> None:
        if found := _LABEL.match(line):
            label, *numbers = found.groups()
            counts = [int(number) for number in numbers[:3]]
            scores = [None if "*" in number else float(number) for number in numbers[3:]]
            assert self.last_iteration is not None
            self.last_iteration["scores"][label] = LabelScore(*counts, *scores)

    def _after_iteration(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return None
        if found := _TRAINING.match(line):
            self.training_seconds = float(found[1])
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _storing(self, line: str) -> str | None:
        if line == "\n":
            return "end"
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found[1])
        return None

    _HANDLERS = {
        "STARTING": _starting,
        "FEATGEN": _generating,
        "AFTER_FEATGEN": _before_iterations,
        "ITERATION": _in_iteration,
        "AFTER_ITERATION": _after_iteration,
        "STORING": _storing,
    }
