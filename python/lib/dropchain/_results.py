"""What training and searches report and return."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dropchain._dropchain import Tagger
from dropchain._html import page, paragraph, percent, shortened, table
from dropchain._records import Record, Svg, draw, frame, metric, picture
from dropchain._scores import Evaluation

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

# Share of the scores of a run, the lowest ones, that may lie below the plot.
_LOW_SCORES = 0.25

# The most configurations that are shown.
_TRIALS = 30


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
        y = {"label": "objective", "scale": "log"}
        panels.append({"title": "Objective", "y": y, "series": series})
        for panel in panels:
            panel.update(x={"label": "iteration"}, shaded=warm_up)
        notes = []
        if scored:
            notes.append(f"The circle is iteration {self.best_iteration}, which is kept.")
        if warm_up:
            notes.append(f"Noise begins after iteration {self.warm_up}; before, plots are shaded.")
        return draw(title="Training", panels=panels, note=" ".join(notes))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        if self.dev_score is not None:
            score = f"{percent(self.dev_score)} %, kept iteration {self.best_iteration}"
            if self.dev_mean is not None:
                score += f", mean of 5: {percent(self.dev_mean)} %"
            rows.append((f"{metric(self.metric)} on development data", score))
        iterations = f"{self.iterations}, ended by {self.end_reason.replace('_', ' ')}"
        rows += [("trained with", self.regularization), ("iterations", iterations)]
        if self.noise_iterations or self.warm_up:
            noise = f"{self.noise_iterations}, after {self.warm_up} without"
            rows.append(("iterations with noise", noise))
        sizes = ("sentences", "tokens", "attributes")
        data = (f"{self.data[n]:,} {n}" for n in sizes if isinstance(self.data.get(n), int))
        rows += [("data", ", ".join(data)), ("seconds", f"{self.seconds:.1f}")]
        if self.model is not None:
            rows.append(("model", str(self.model)))
        facts = table("Training", (), rows, kind="words")
        return page(facts, picture(self.plot), *map(paragraph, self.messages))

    def __repr__(self) -> str:
        text = f"<TrainResult: {self.iterations} iterations, {self.end_reason}"
        if self.dev_score is not None:
            score = f"dev {metric(self.metric)} {percent(self.dev_score)}"
            text += f"; kept iteration {self.best_iteration}, {score}"
        return text + ">"


@dataclass(frozen=True)
class Trial(Record):
    """A configuration that a search has tried."""

    number: int
    """Its number in the search, from 1."""
    template: str | None
    """The template."""
    options: Mapping[str, Any]
    """The options that are searched, as keyword arguments of :func:`dropchain.train`."""
    score: float | None
    """The score: on development data, or the mean over the folds."""
    metric: str | None
    """Which score that is: "f1" or "accuracy"."""
    standard_error: float | None
    """With folds: the standard error of the score."""
    standard_deviation: float | None
    """With folds: the standard deviation of their scores."""
    fold_scores: list[float]
    """With folds: the score on each."""
    best_iteration: int | None
    """The iteration of the score."""
    dev_mean: float | None
    """The mean of five scores by which it was chosen: :attr:`Iteration.dev_mean`."""
    iterations: int
    """The number of iterations."""
    recall_bias: float | None
    """The recall bias with which the score was reached."""
    nonzero_weights: int | None
    """With L1: weights that are not 0."""
    objective: float | None
    """The objective after the last iteration."""
    end_reason: str
    """Why its training ended."""

    def _percentages(self) -> list[float]:
        """Return the score in percent, and its range if there is a standard error."""
        score, error = self.score or 0.0, self.standard_error
        range_ = () if error is None else (score - error, score + error)
        return [100 * y for y in (score, *range_)]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the options by name."""
        fields = super().to_dict()
        return {**fields.pop("options"), **fields}


@dataclass(frozen=True, repr=False)
class TuneResult(Record):
    """The result of a search."""

    _left_out = ("tagger", "table")

    tagger: Tagger
    """A tagger with the model of the best configuration."""
    trials: list[Trial]
    """All configurations, the best first."""
    table: list[list[str]]
    """The configurations as rows of a table, the best first, after one of headings."""
    options: Mapping[str, Any]
    """All training options of the best configuration."""
    refit_iterations: int | None
    """With folds: iterations of training the best configuration on all data."""
    interrupted: bool
    """Whether the search ended early."""
    notes: list[str] = field(default_factory=list)
    """How certain the best configuration is, and values at the end of their range, in sentences."""
    runner_up: Mapping[str, Any] | None = None
    """With folds: the difference between the best configuration and the second best.

    `first` and `second` are their numbers; `fold_differences` are those of their scores on each
    fold, with `mean` and `standard_deviation`; the first is `ahead` in so many folds; `p_value` is
    that of a paired t-test, corrected for training data that overlap.
    """
    noise_gain: Mapping[str, Any] | None = None
    """With folds: the same for the best configuration with noise and the best without."""
    predictions: list[list[str]] | None = None
    """With folds: the labels of each sentence by a model of the other folds, trained like `tagger`.

    None if the search was interrupted.
    """
    evaluation: Evaluation | None = None
    """The scores of `predictions`, where all labels of a sentence are known."""
    model: str | None = None
    """The file of the model, if one was written."""
    pruned: tuple[int, int] | None = None
    """The number of attributes with weights before and after pruning."""

    @property
    def best(self) -> Trial:
        """The best configuration."""
        return self.trials[0]

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each configuration, the best first."""
        return frame(trial.to_dict() for trial in self.trials)

    def plot(self) -> Svg:
        """Plot the scores of configurations by each option that differs between them."""
        trials = [trial for trial in self.trials if trial.score is not None]
        panels = []
        names = (name for trial in trials for name in ("template", *trial.options))
        plotted: set[tuple[Any, ...]] = set()
        for name in dict.fromkeys(names):
            values = [trial.to_dict().get(name) for trial in trials]
            if len(set(values)) < 2 or None in values or tuple(values) in plotted:
                continue
            plotted.add(tuple(values))
            axis: dict[str, Any] = {"label": name}
            if isinstance(values[0], str):
                axis["names"] = sorted(set(values))
                values = [axis["names"].index(value) for value in values]
            elif name in ("l2", "l1"):
                axis["scale"] = "log"
            points = [[x, *trial._percentages()] for x, trial in zip(values, trials)]
            series = [{"style": "points", "points": points, "best": points[0][:2]}]
            y = {"label": "percent"}
            panels.append({"title": f"Score by {name}", "x": axis, "y": y, "series": series})
        if not panels:
            raise ValueError("all configurations are alike; expected two that differ in an option")
        note = "The best configuration has a star."
        return draw(title=f"Search: {metric(self.best.metric)}", panels=panels, note=note)

    def _repr_html_(self) -> str:
        head, *rows = self.table
        numbered = [(i + 1, *row) for i, row in enumerate(rows)]
        shown, note = shortened(numbered, _TRIALS, "configuration")
        caption = "Configurations, the best first; scores in percent"
        heads = ("rank", *(name or "tie" for name in head))
        parts: list[str] = [table(caption, heads, shown), note]
        parts.extend(map(paragraph, self.notes))
        if self.evaluation is not None:
            parts.append(self.evaluation._repr_html_())
        return page(*parts, picture(self.plot))

    def __str__(self) -> str:
        """Return a table of the configurations, with notes and scores of the predictions."""
        rows = self.table
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(map(str.rjust, row, widths)) for row in rows] + self.notes
        scores = "" if self.evaluation is None else f"\n\n{self.evaluation}"
        return "\n".join(lines) + scores

    def __repr__(self) -> str:
        best = self.best
        score = "" if best.score is None else f", best {metric(best.metric)} {percent(best.score)}"
        return f"<TuneResult: {len(self.trials)} configurations{score}>"
