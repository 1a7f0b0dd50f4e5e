"""What searches report and return."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dropchain._dropchain import Tagger
from dropchain._frames import frame
from dropchain._html import page, paragraph, percent, shortened, table
from dropchain._plots import Svg, draw, metric, picture
from dropchain._records import Record
from dropchain._scores import Evaluation

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

#: The most configurations that are shown.
_TRIALS = 30


@dataclass(frozen=True)
class Trial:
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
        fields = dataclasses.asdict(self)
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
    notes: list[str] = dataclasses.field(default_factory=list)
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
        plotted: dict[tuple[Any, ...], str] = {}
        for name in dict.fromkeys(names):
            values = [trial.to_dict().get(name) for trial in trials]
            is_known = plotted.setdefault(tuple(values), name) != name
            if len(set(values)) < 2 or None in values or is_known:
                continue
            axis: dict[str, Any] = {"label": name}
            if isinstance(values[0], str):
                axis["names"] = sorted(set(values))
                values = [axis["names"].index(value) for value in values]
            elif name in ("l2", "l1"):
                axis["scale"] = "log"
            points = [[x, *trial._percentages()] for x, trial in zip(values, trials)]
            panels.append({
                "title": f"Score by {name}",
                "x": axis,
                "y": {"label": "percent"},
                "series": [{"style": "points", "points": points, "best": points[0][:2]}],
            })
        if not panels:
            raise ValueError("all configurations are alike; expected two that differ in an option")
        note = "The best configuration has a star."
        return draw(title=f"Search: {metric(self.best.metric)}", panels=panels, note=note)

    def _repr_html_(self) -> str:
        """Show the configurations of a search, the best first."""
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
