"""What training logs, by number."""

from __future__ import annotations

from typing import Any, NamedTuple


class LabelScore(NamedTuple):
    """The scores of a label on held-out data; None if it does not occur there."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """The messages of a training run, and the events and numbers that they tell.

    python-crfsuite parses the messages, hence the name; here the numbers come from training itself.

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
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    @property
    def last_log(self) -> str:
        """The messages of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def record(self, event: str, value: Any = None) -> None:
        """Adds an event, to which the messages since the last one belong, with its numbers.

        The events are ``start``, ``featgen_progress``, ``featgen_end``, ``prepared`` or
        ``prepare_error``, ``iteration``, ``optimization_end`` and ``end``.
        """
        start = self.events[-1][2] if self.events else 0
        self.events.append((event, start, len(self.log)))
        if event == "featgen_progress":
            self.featgen_percent += 2
        elif event == "featgen_end":
            self.featgen_num_features, self.featgen_seconds = value
        elif event == "iteration":
            self.last_iteration = value
            self.iterations.append(value)
        elif event == "optimization_end":
            self.training_seconds = value
        elif event == "end":
            self.storing_seconds = value
