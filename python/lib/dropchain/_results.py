"""What training reports and returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dropchain._dropchain import Tagger
from dropchain._frames import frame
from dropchain._html import page, paragraph, percent, table
from dropchain._plots import Svg, draw, metric, picture
from dropchain._records import Record

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

#: Share of the scores of a run, the lowest ones, that may lie below the plot.
_LOW_SCORES = 0.25


@dataclass(frozen=True)
class Iteration(Record):
    """An iteration of training. Number 0 is the starting point."""

    number: int
    """Its number."""
    objective: float
    """The value of the objective, penalties and noise term included."""
    log_likelihood: float
    """The log-likelihood of the labels; NaN of ap, pa and arow."""
    noise: float
    """The noise term."""
    l2: float
    """The L2 penalty."""
    l1: float
    """The L1 penalty."""
    gradient_norm: float
    """The norm of the gradient; NaN of online algorithms."""
    evaluations: int
    """Evaluations of the objective so far."""
    nonzero: int
    """Weights that are not 0."""
    seconds: float
    """Time since training began, without that for scoring development data."""
    dev_score: float | None = None
    """The score on development data: F1 of spans, or accuracy if labels encode none."""
    dev_mean: float | None = None
    """The mean of this score and of those of up to four iterations before it with the same
    objective, by which an iteration is kept."""
    metric: str | None = None
    """Which score that is: "f1" or "accuracy"."""
    recall_bias: float | None = None
    """The recall bias with which it was reached."""
    learning_rate: float | None = None
    """The learning rate, of algorithms that have one."""


@dataclass(frozen=True, repr=False)
class TrainResult(Record):
    """The result of training."""

    _left_out = ("tagger", "log")

    tagger: Tagger
    """A tagger with the trained model."""
    history: list[Iteration]
    """All iterations; of two passes, those of the model's last."""
    end_reason: str
    """Why training ended: improvement, gradient, loss (converged), max_iterations, patience,
    observer, interrupted, line_search, non_finite."""
    iterations: int
    """The number of iterations."""
    best_iteration: int
    """The iteration whose weights the model has."""
    dev_score: float | None
    """Its score on development data."""
    dev_mean: float | None
    """The mean of five scores by which it was chosen: :attr:`Iteration.dev_mean`."""
    metric: str | None
    """Which score that is: "f1" or "accuracy"."""
    recall_bias: float
    """The recall bias of the model."""
    warm_up: int
    """How many iterations were without noise."""
    noise_iterations: int
    """How many iterations with noise the weights of the model have seen; 0 without noise, and if
    development data chose an iteration before it."""
    regularization: str
    """What regularized the weights of the model, such as "dropout 0.3, edges 0.6, L2 0.1"."""
    seconds: float
    """Time of training, without that for scoring development data."""
    options: Mapping[str, Any]
    """All options of training, with defaults."""
    data: Mapping[str, Any]
    """Sizes: sentences, tokens, labels, attributes, weights and more."""
    converged: bool
    """False if the optimizer failed."""
    model: str | None = None
    """The file of the model, if one was written."""
    pruned: tuple[int, int] | None = None
    """The number of attributes with weights before and after pruning."""
    messages: list[str] = field(default_factory=list)
    """What else happened, for example to checkpoints."""
    is_first_pass: bool = False
    """Whether the model is the first of two passes alone: training ended before the second had a
    result."""
    log: str = ""
    """The log of the run as `dropchain train --log` writes it, for :func:`dropchain.report`."""

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each iteration."""
        return frame(iteration.to_dict() for iteration in self.history)

    def plot(self) -> Svg:
        """Plot the score on development data, and the objective with its parts."""
        history = self.history
        panels: list[dict[str, Any]] = []
        last = history[-1].number if history else 0
        warm_up = [(history[0].number, self.warm_up)] if 0 < self.warm_up < last else []
        scored = [(i.number, 100 * i.dev_score) for i in history if i.dev_score is not None]
        if scored:
            scores = sorted(score for _, score in scored)
            low, high = scores[int(_LOW_SCORES * len(scores))], scores[-1]
            pad = max(0.15 * (high - low), 0.5)
            cut = max(low - pad, 0)
            best = next((point for point in scored if point[0] == self.best_iteration), None)
            means = [(i.number, 100 * i.dev_mean) for i in history if i.dev_mean is not None]
            panels.append({
                "title": f"{metric(self.metric)} on development data",
                "x": {"label": "iteration"},
                "y": {
                    "label": "percent" + (f", cut at {cut:.1f}" if scores[0] < cut else ""),
                    "range": (cut, min(high + pad, 100)),
                },
                "series": [
                    {"name": metric(self.metric), "points": scored, "best": best},
                    {"name": "mean of 5", "points": means, "style": "dashed"},
                ],
            })
        parts = {
            "objective": [i.objective for i in history],
            "noise term": [i.noise for i in history],
            "penalties": [i.l2 + i.l1 for i in history],
        }
        series = []
        for name, values in parts.items():
            points = [(i.number, y) for i, y in zip(history, values) if y > 0 and math.isfinite(y)]
            if points:
                series.append({"name": name, "points": points})
        panels.append({
            "title": "Objective",
            "x": {"label": "iteration"},
            "y": {"label": "objective", "scale": "log"},
            "series": series,
        })
        for panel in panels:
            panel["shaded"] = warm_up
        notes = []
        if scored:
            notes.append(f"The circle is iteration {self.best_iteration}, which is kept.")
        if warm_up:
            notes.append(f"Noise begins after iteration {self.warm_up}; before, plots are shaded.")
        return draw(title="Training", panels=panels, note=" ".join(notes))

    def _repr_html_(self) -> str:
        """Show how training went."""
        rows: list[tuple[str, str]] = []
        if self.dev_score is not None:
            score = f"{percent(self.dev_score)} %, kept iteration {self.best_iteration}"
            if self.dev_mean is not None:
                score += f", mean of 5: {percent(self.dev_mean)} %"
            rows.append((f"{metric(self.metric)} on development data", score))
        rows += [
            ("trained with", self.regularization),
            ("iterations", f"{self.iterations}, ended by {self.end_reason.replace('_', ' ')}"),
        ]
        if self.noise_iterations or self.warm_up:
            noise = f"{self.noise_iterations}, after {self.warm_up} without"
            rows.append(("iterations with noise", noise))
        data = ", ".join(
            f"{self.data[name]:,} {name}"
            for name in ("sentences", "tokens", "attributes")
            if isinstance(self.data.get(name), int)
        )
        rows += [("data", data), ("seconds", f"{self.seconds:.1f}")]
        if self.model is not None:
            rows.append(("model", str(self.model)))
        notes = (paragraph(message) for message in self.messages)
        facts = table("Training", (), rows, kind="words")
        return page(facts, picture(self.plot), *notes)

    def __repr__(self) -> str:
        text = f"<TrainResult: {self.iterations} iterations, {self.end_reason}"
        if self.dev_score is not None:
            score = f"dev {metric(self.metric)} {percent(self.dev_score)}"
            text += f"; kept iteration {self.best_iteration}, {score}"
        return text + ">"
