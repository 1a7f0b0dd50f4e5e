"""How scores grow with the training data."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dropchain import _data
from dropchain._html import page, percent, table
from dropchain._records import Record, Svg, draw, frame, metric, picture
from dropchain._training import train

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

# Gain of a step, in points, from which more data are said to help.
_GAIN = 0.5


@dataclass(frozen=True)
class LearningRun(Record):
    """A run of training on a part of the data."""

    fraction: float
    """The part of the tokens."""
    seed: int
    """The seed that chose it."""
    sentences: int
    """The number of its sentences."""
    score: float
    """The score on development data, of the iteration that is kept."""
    iterations: int
    """The number of iterations."""


@dataclass(frozen=True, repr=False)
class LearningCurve(Record):
    """What :func:`learning_curve` returns."""

    metric: str
    """Which scores these are: "f1" or "accuracy"."""
    runs: list[LearningRun]
    """The runs of training, on the smallest part first."""

    def _points(self) -> list[tuple[float, float, float, float]]:
        """Return the number of sentences of each part, and the mean, lowest and highest score."""
        points = []
        for fraction in dict.fromkeys(run.fraction for run in self.runs):
            runs = [run for run in self.runs if run.fraction == fraction]
            scores = [100 * run.score for run in runs]
            sentences = statistics.fmean(run.sentences for run in runs)
            points.append((sentences, statistics.fmean(scores), min(scores), max(scores)))
        return points

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each run."""
        return frame(run.to_dict() for run in self.runs)

    def plot(self) -> Svg:
        """Plot the score by the number of sentences; of several seeds the mean and the range."""
        series = {"name": metric(self.metric), "points": self._points()}
        axes = {"x": {"label": "training sentences"}, "y": {"label": "percent"}}
        return draw(title="Learning curve", panels=[{**axes, "series": [series]}], note=str(self))

    def __str__(self) -> str:
        """Say what the last step gave."""
        if len(points := self._points()) < 2:
            return ""
        (start, low, *_), (end, high, *_) = points[-2:]
        more = "more data would help" if high - low >= _GAIN else "more data would help little"
        step = f"The step from {start:,.0f} to {end:,.0f} sentences gave"
        return f"{step} {high - low:+.2f} points of {metric(self.metric)}: {more}."

    def _repr_html_(self) -> str:
        rows = [
            (f"{run.sentences:,}", f"{100 * run.fraction:.3g}%", run.seed, percent(run.score))
            for run in self.runs
        ]
        head = ("sentences", "part", "seed", metric(self.metric))
        scores = table("Scores on development data, in percent", head, rows)
        return page(picture(self.plot), scores)

    def __repr__(self) -> str:
        points = (f"{score:.2f} of {sentences:,.0f}" for sentences, score, *_ in self._points())
        return f"<LearningCurve {metric(self.metric)} {', '.join(points)} sentences>"


def learning_curve(
    data: Any,
    y: Any = None,
    dev: Any = None,
    *,
    fractions: Iterable[float] = (0.125, 0.25, 0.5, 1.0),
    seeds: Iterable[int] = (1,),
    **options: Any,
) -> LearningCurve:
    """Train on growing parts of the data: would more of them help?

    Parameters
    ----------
    data, y, dev
        As for :func:`dropchain.train`; the development data, which all runs share, are needed.
    fractions : iterable of float
        The parts of the tokens; whole documents if the data mark enough of them, else blocks of
        adjacent sentences. With the same seed a smaller part is within a larger one.
    seeds : iterable of int
        Seeds that choose the parts, and of training; several show how much chance there is.
    **options
        Other arguments of :func:`dropchain.train`.

    Examples
    --------
    >>> import dropchain
    >>> data, dev = dropchain.sample_corpus(), dropchain.sample_corpus("dev")
    >>> curve = dropchain.learning_curve(
    ...     data, dev, fractions=[0.1, 0.2], template="minimal", max_iterations=10
    ... )
    >>> [run.fraction for run in curve.runs]
    [0.1, 0.2]
    """
    data, y, dev = _data.told_apart(data, y, dev)
    if dev is None or isinstance(dev, float):
        raise TypeError(f"found {dev} as dev; expected sentences, the same for all parts")
    names = ("format", "comments", "partial_labels", "columns", "sentence", "word", "label")
    reading = {name: options.pop(name) for name in names if name in options}
    corpus = _data.labeled(data, "data", y, weights=options.pop("weights", None), **reading)
    held_out = _data.labeled(dev, "dev", **reading)
    runs = []
    seeds = list(seeds)
    for fraction in sorted(fractions):
        for seed in seeds:
            part = corpus._part(fraction, seed)
            result = train(part, held_out, seed=seed, **options)
            assert result.dev_score is not None
            sentences = result.data["sentences"]
            run = LearningRun(fraction, seed, sentences, result.dev_score, result.iterations)
            runs.append(run)
    if not runs:
        raise ValueError("found no fractions or no seeds; expected at least one")
    return LearningCurve(result.metric or "score", runs)
