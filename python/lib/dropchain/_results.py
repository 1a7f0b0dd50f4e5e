"""What training and searches report and return."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dropchain import _plots, _result_views
from dropchain._dropchain import Tagger
from dropchain._frames import frame

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


@dataclass(frozen=True)
class Iteration:
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
    metric: str | None = None
    """Which score that is: "f1" or "accuracy"."""
    recall_bias: float | None = None
    """The recall bias with which it was reached."""
    learning_rate: float | None = None
    """The learning rate, of algorithms that have one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, repr=False)
class TrainResult:
    """The result of training."""

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
    """The best score on development data."""
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
    """Sizes: sentences, tokens, labels, attributes, parameters and more."""
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

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save the model: see :meth:`Tagger.save`."""
        self.tagger.save(path, force=force)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the tagger and the log, for JSON."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del fields["tagger"], fields["log"]
        fields["history"] = [iteration.to_dict() for iteration in self.history]
        fields["options"] = dict(self.options)
        fields["data"] = dict(self.data)
        return fields

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each iteration."""
        return frame(iteration.to_dict() for iteration in self.history)

    def plot(self) -> _plots.Svg:
        """Plot the score on development data, and the objective with its parts."""
        return _plots.training(self)

    def _repr_html_(self) -> str:
        return _result_views.training(self)

    def __repr__(self) -> str:
        text = f"<TrainResult: {self.iterations} iterations, {self.end_reason}"
        if self.dev_score is not None:
            text += f"; dev {self.metric} {self.dev_score:.4f} at iteration {self.best_iteration}"
        return text + ">"


@dataclass(frozen=True)
class Trial:
    """A configuration that a search has tried."""

    number: int
    """Its number in the search, from 1."""
    template: str | None
    """The template."""
    dropout: float
    """The rate of feature noise."""
    edge_dropout: float
    """The rate for transitions and features of pairs of tokens."""
    l2: float
    """Strength of the L2 penalty."""
    l1: float
    """Strength of the L1 penalty."""
    unlabeled_weight: float
    """Weight of an unlabeled sentence."""
    warm_up: int | None
    """Iterations without noise, if that is searched and there is noise."""
    gradient: str | None
    """How the gradient of the noise term is computed, likewise."""
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

    @property
    def options(self) -> dict[str, Any]:
        """The searched options, as keyword arguments of :func:`dropchain.train`."""
        names = ("dropout", "edge_dropout", "l2", "l1", "unlabeled_weight")
        course = [name for name in ("warm_up", "gradient") if getattr(self, name) is not None]
        return {name: getattr(self, name) for name in (*names, *course)}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, repr=False)
class TuneResult:
    """The result of a search."""

    tagger: Tagger
    """A tagger with the model of the best configuration."""
    trials: list[Trial]
    """All configurations, the best first."""
    options: Mapping[str, Any]
    """All training options of the best configuration."""
    refit_iterations: int | None
    """With folds: iterations of training the best configuration on all data."""
    interrupted: bool
    """Whether the search ended early."""
    noise_gain: Mapping[str, Any] | None = None
    """With folds: the difference between the best configuration with noise and the best without.

    `with_noise` and `without_noise` are their numbers; `fold_differences` are those of their scores
    on each fold, with `mean` and `standard_deviation`; noise is `ahead` in so many folds; `p_value`
    is that of a paired t-test, corrected for training data that overlap.
    """
    model: str | None = None
    """The file of the model, if one was written."""
    pruned: tuple[int, int] | None = None
    """The number of attributes with weights before and after pruning."""

    @property
    def best(self) -> Trial:
        """The best configuration."""
        return self.trials[0]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save the model: see :meth:`Tagger.save`."""
        self.tagger.save(path, force=force)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the tagger, for JSON."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del fields["tagger"]
        fields["trials"] = [trial.to_dict() for trial in self.trials]
        fields["options"] = dict(self.options)
        return fields

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each configuration, the best first."""
        return frame(trial.to_dict() for trial in self.trials)

    def plot(self) -> _plots.Svg:
        """Plot the scores by each option that differs between configurations."""
        return _plots.search(self)

    def _repr_html_(self) -> str:
        return _result_views.search(self)

    def _rows(self) -> list[tuple[str, ...]]:
        """Return a table of the configurations, without empty columns; first, the heads."""
        rows = [("template", "dropout", "edge", "l2", "l1", "score", "±", "best at", "stop reason")]
        for trial in self.trials:
            deviation = trial.standard_deviation
            rows.append((
                trial.template or "–",
                f"{trial.dropout:g}",
                f"{trial.edge_dropout:g}",
                f"{trial.l2:g}",
                f"{trial.l1:g}",
                "–" if trial.score is None else f"{100 * trial.score:.2f}",
                "" if deviation is None else f"{100 * deviation:.2f}",
                "–" if trial.best_iteration is None else str(trial.best_iteration),
                trial.end_reason or "",
            ))
        columns = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
        return [tuple(row[i] for i in columns) for row in rows]

    def __str__(self) -> str:
        """Return a table of the configurations."""
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)

    def __repr__(self) -> str:
        best = self.best
        score = "" if best.score is None else f", best {best.metric} {best.score:.4f}"
        return f"<TuneResult: {len(self.trials)} configurations{score}>"
