"""Plots of results, which Rust draws."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from dropchain import _dropchain

if TYPE_CHECKING:
    from dropchain._results import TrainResult, TuneResult
    from dropchain._scores import Evaluation

#: Share of the scores of a run, the lowest ones, that may lie below the plot.
_LOW_SCORES = 0.25

#: The most types that are drawn.
_MAX_TYPES = 20


class Svg(str):
    """A picture that notebooks display: the text of an SVG file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        _dropchain.write_file(path, self.encode())

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<Svg of {len(self)} characters>"


def training(result: TrainResult) -> Svg:
    """Plot the score on development data, and the objective with its parts."""
    history = result.history
    panels: list[dict[str, Any]] = []
    last = history[-1].number if history else 0
    warm_up = [(history[0].number, result.warm_up)] if 0 < result.warm_up < last else []
    scored = [(i.number, 100 * i.dev_score) for i in history if i.dev_score is not None]
    if scored:
        scores = sorted(score for _, score in scored)
        low, high = scores[int(_LOW_SCORES * len(scores))], scores[-1]
        pad = max(0.15 * (high - low), 0.5)
        best = next((point for point in scored if point[0] == result.best_iteration), None)
        panels.append({
            "title": f"{metric(result.metric)} on development data",
            "x": {"label": "iteration"},
            "y": {"label": "percent", "range": (max(low - pad, 0), min(high + pad, 100))},
            "series": [{"name": metric(result.metric), "points": scored, "best": best}],
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
    note = f"Noise begins after iteration {result.warm_up}; before, plots are shaded."
    return _draw(title="Training", panels=panels, note=note if warm_up else "")


def search(result: TuneResult) -> Svg:
    """Plot the scores of configurations by each option that differs between them."""
    trials = [trial for trial in result.trials if trial.score is not None]
    panels, drawn = [], []
    for name in ("template", *trials[0].options) if trials else ():
        values = [getattr(trial, name) for trial in trials]
        if len(set(values)) < 2 or None in values or values in drawn:
            continue  # the rate of edges, for example, may be that of the others
        drawn.append(values)
        axis: dict[str, Any] = {"label": name}
        if isinstance(values[0], str):
            axis["names"] = sorted(set(values))
            values = [axis["names"].index(value) for value in values]
        elif name in ("l2", "l1"):
            axis["scale"] = "log"
        points = [_point(x, trial) for x, trial in zip(values, trials)]
        panels.append({
            "title": f"Score by {name}",
            "x": axis,
            "y": {"label": "percent"},
            "series": [{"style": "points", "points": points, "best": points[0][:2]}],
        })
    if not panels:
        raise ValueError("all configurations are alike; expected two that differ in an option")
    note = "The best configuration has a circle."
    return _draw(title=f"Search: {metric(result.best.metric)}", panels=panels, note=note)


def _point(x: float, trial: Any) -> list[float]:
    score, error = trial.score, trial.standard_error
    range_ = () if error is None else (score - error, score + error)
    return [x, *(100 * y for y in (score, *range_))]


def scores(evaluation: Evaluation) -> Svg:
    """Plot precision, recall and F1 of the types, or of the labels if these encode no spans."""
    found = evaluation.types if evaluation.has_spans else evaluation.labels
    names = sorted(found, key=lambda name: -found[name].gold)[:_MAX_TYPES]
    series = [
        {
            "name": metric(score),
            "style": "bars",
            "points": [(i, 100 * found[name][score]) for i, name in enumerate(names)],
        }
        for score in ("precision", "recall", "f1")
    ]
    panel = {
        "x": {"label": "type" if evaluation.has_spans else "label", "names": names},
        "y": {"label": "percent", "range": (0, 100)},
        "series": series,
    }
    return _draw(title="Scores", panels=[panel])


def metric(name: str | None) -> str:
    """Return a metric as people call it."""
    return "F1" if name == "f1" else name or "score"


def _draw(**description: Any) -> Svg:
    svg = _dropchain.draw(json.dumps(description))
    if svg is None:
        raise ValueError("there is nothing to draw")
    return Svg(svg)
