"""What evaluation returns. The extension module makes these by position.

Attributes are fractions, as scores of scikit-learn are; what people read, here and in all results,
has percent: text, tables, plots and progress.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dropchain import _dropchain
from dropchain._html import Cell, Html, page, paragraph, percent, plural, table
from dropchain._records import Record, Svg, draw, frame, metric, plain

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

    from dropchain._dropchain import Corpus, Tagger

# The most labels of a matrix and types of a table that are shown, and types that are drawn.
_LABELS = 12
_TYPES = 60
_DRAWN = 20


class Score(dict[str, float]):
    """Precision, recall and F1 of spans of a type, or of tokens with a label: a dict by name, and
    attributes.
    """

    precision: float
    """correct / predicted."""
    recall: float
    """correct / gold."""
    f1: float
    """The harmonic mean of the two."""
    correct: int
    """How many are right."""
    gold: int
    """How many there are in the gold labels."""
    predicted: int
    """How many were predicted."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(zip(Score.__annotations__, numbers))

    def __getattr__(self, name: str) -> float:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"a score has no {name!r}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return dict(self)

    def __repr__(self) -> str:
        shown = (f"{metric(name)} {percent(self[name])}" for name in ("precision", "recall", "f1"))
        return f"<Score {', '.join(shown)}; {self.gold} in gold>"


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """The scores of predicted labels, as fractions; shown, they are percent. ``str(…)`` is the
    report of conlleval."""

    sentences: int
    """The number of sentences."""
    tokens: int
    """The number of tokens, document boundaries included."""
    has_spans: bool
    """Whether the gold labels encode spans. If not, only the accuracy is of interest."""
    accuracy: float
    """The fraction of tokens with the right label."""
    precision: float
    """The fraction of predicted spans that are right."""
    recall: float
    """The fraction of gold spans that were predicted."""
    f1: float
    """The harmonic mean of precision and recall, over all types."""
    types: dict[str, Score]
    """The scores of the spans of each type."""
    labels: dict[str, Score]
    """The scores of the tokens with each label."""
    columns: dict[str, float]
    """The accuracy of each of the columns that the labels join; empty if they are of one."""
    _confusions: list[tuple[str, str, int]]
    _reports: tuple[str, str]
    _tagged: tuple[Tagger, Corpus] | None = None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: how far the labels of tokens agree beyond chance; None if all are one."""
        scores = self.labels.values()
        chance, tokens = sum(one.gold * one.predicted for one in scores), self.tokens
        agreed = sum(one.correct for one in scores) * tokens
        return (agreed - chance) / (tokens**2 - chance) if chance < tokens**2 else None

    def confusions(self, limit: int | None = 30) -> list[tuple[str, str, int]]:
        """Return the most frequent confusions: gold label, predicted label, number of tokens."""
        return self._confusions[:limit]

    def confusion_matrix(self) -> ConfusionMatrix:
        """Return the number of tokens by gold label and predicted label."""
        counts = {(gold, predicted): count for gold, predicted, count in self._confusions}
        names = sorted(name for name, one in self.labels.items() if one.gold or one.predicted)
        counts.update({(name, name): self.labels[name].correct for name in names})
        return ConfusionMatrix(names, [[counts.get((g, p), 0) for p in names] for g in names])

    def conlleval(self) -> str:
        """Return the report of conlleval."""
        return self._reports[1]

    def to_dict(self) -> dict[str, Any]:
        """Return all scores by name."""
        names = ["tokens", "sentences", "accuracy", "kappa"]
        names += ["precision", "recall", "f1"] if self.has_spans else []
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.has_spans:
            found["types"] = plain(self.types)
        if self.columns:
            found["columns"] = dict(self.columns)
        found["labels"] = plain(self.labels)
        return found

    def to_frame(self) -> pandas.DataFrame:
        """Return the scores of each type, or of each label if labels encode no spans."""
        return frame(self.types, "type") if self.has_spans else frame(self.labels, "label")

    def plot(self, kind: str = "scores") -> Svg:
        """Plot precision, recall and F1 of each type, or of each label; or, as "calibration", how
        often labels are right by their probability, of what a :class:`Tagger` predicted."""
        if kind == "calibration":
            return self._calibration()
        if kind != "scores":
            raise ValueError(f"plot {kind!r}; expected 'scores' or 'calibration'")
        found = self.types if self.has_spans else self.labels
        names = sorted(found, key=lambda name: -found[name].gold)[:_DRAWN]
        series = []
        for score in ("precision", "recall", "f1"):
            points = [(i, 100 * found[name][score]) for i, name in enumerate(names)]
            series.append({"name": metric(score), "style": "bars", "points": points})
        x = {"label": "type" if self.has_spans else "label", "names": names}
        y = {"label": "percent", "range": (0, 100)}
        return draw(title="Scores", panels=[{"x": x, "y": y, "series": series}])

    def _calibration(self) -> Svg:
        if self._tagged is None:
            raise ValueError("calibration needs probabilities; expected the evaluation of a Tagger")
        found = _dropchain.calibration(*self._tagged)
        names = ("all tokens", "tokens in predicted spans")[: 1 + self.has_spans]
        series: list[dict[str, Any]] = [
            {"name": name, "points": [(100 * x, 100 * y) for x, y in points]}
            for name, (points, _) in zip(names, found)
        ]
        series.append({"name": "right", "style": "dashed", "points": [(0, 0), (100, 100)]})
        x = {"label": "mean probability, percent", "range": (0, 104)}
        y = {"label": "right labels, percent", "range": (0, 104)}
        errors = (f"{percent(error)} for {name}" for name, (_, error) in zip(names, found))
        note = (
            "Below the dashed line, probabilities are too high. Mean distance from it (ECE), in "
            f"points: {', '.join(errors)}."
        )
        return draw(title="Calibration", panels=[{"x": x, "y": y, "series": series}], note=note)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tagged": None}

    def _repr_html_(self) -> str:
        counts = f"{plural(self.sentences, 'sentence')}, {plural(self.tokens, 'token')}"
        own = ("precision", "recall", "f1") if self.has_spans else ()
        names = (*own, "accuracy")
        row = ("all", *(_cell(getattr(self, name)) for name in names))
        head = ("scores", *map(metric, names))
        parts = [table(f"Scores, in percent: {counts}", head, [row])]
        thing, found = ("type", self.types) if self.has_spans else ("label", self.labels)
        common = sorted(found.items(), key=lambda item: -item[1].gold)
        rows = []
        for name, one in common[:_TYPES]:
            scores = (percent(one.precision), percent(one.recall), _cell(one.f1))
            rows.append((name or "(no type)", *scores, f"{one.gold:,}", f"{one.predicted:,}"))
        head = (thing, "precision", "recall", "F1", "in gold", "predicted")
        parts.append(table(f"By {thing}, in percent", head, rows))
        if self.columns:
            columns = [(name, _cell(accuracy)) for name, accuracy in self.columns.items()]
            parts.append(table("Accuracy of columns, in percent", ("column", "accuracy"), columns))
        return page(*parts, self.confusion_matrix()._table())

    def __str__(self) -> str:
        return self._reports[0]

    def __repr__(self) -> str:
        f1 = f"F1 {percent(self.f1)}, " if self.has_spans else ""
        return f"<Evaluation {f1}accuracy {percent(self.accuracy)}>"


def _cell(fraction: float) -> Cell:
    return Cell(percent(fraction), fraction)


@dataclass(frozen=True, repr=False, eq=False)
class ConfusionMatrix(Record):
    """How many tokens of each gold label have each predicted label: ``numpy.asarray(…)`` is the
    counts."""

    labels: list[str]
    """The labels, of rows and columns alike."""
    counts: list[list[int]]
    """A row for each gold label, with a number for each predicted one."""

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each gold label, with a column for each predicted one."""
        rows = zip(self.labels, self.counts)
        return frame({name: dict(zip(self.labels, row)) for name, row in rows}, "gold")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.counts, dtype)

    def _repr_html_(self) -> str:
        return page(self._table())

    def _table(self) -> Html:
        """Return the rows and columns with the most errors: of right labels the share of the gold
        label is shaded, of errors that of the most frequent one."""
        names, errors = self.labels, Counter[str]()
        for i, row in enumerate(self.counts):
            for k, count in enumerate(row):
                errors.update({names[i]: count, names[k]: count} if i != k else {})
        chosen = sorted(names.index(name) for name, n in errors.most_common(_LABELS) if n)
        if not chosen:
            return paragraph("There are no errors.")
        most = max(self.counts[i][k] for i in chosen for k in chosen if i != k) or 1
        rows = []
        for i in chosen:
            gold = sum(self.counts[i]) or 1
            cells = (
                Cell(f"{n:,}" if n else "", n / (gold if i == k else most), tone, "shade")
                for k, tone in ((k, "good" if i == k else "bad") for k in chosen)
                for n in (self.counts[i][k],)
            )
            rows.append((names[i], *cells))
        caption = "Tokens by gold label (rows) and predicted label (columns)"
        if sum(map(bool, errors.values())) > _LABELS:
            caption += f": the {_LABELS} with the most errors"
        return table(caption, ("gold", *(names[k] for k in chosen)), rows)

    def __repr__(self) -> str:
        wrong = sum(map(sum, self.counts)) - sum(row[i] for i, row in enumerate(self.counts))
        return f"<ConfusionMatrix of {len(self.labels)} labels, {plural(wrong, 'error')}>"


class Difference(NamedTuple):
    """A score of two taggers, A and B, and whether its difference is significant."""

    a: float
    """The score of A."""
    b: float
    """The score of B."""
    difference: float
    """B − A."""
    interval: tuple[float, float]
    """The interval of the difference: the central 95 % of the samples."""
    p_value: float
    """The two-sided p-value."""

    def __repr__(self) -> str:
        points = f"{100 * self.difference:+.2f}"
        scores = f"from {percent(self.a)} to {percent(self.b)}, p-value {self.p_value:.4f}"
        return f"<Difference {points}, {scores}>"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Record):
    """The comparison of two taggers, A and B, by paired bootstrap: ``str(…)`` is a table."""

    tokens: int
    """The number of tokens."""
    sentences: int
    """The number of sentences."""
    samples: int
    """The number of samples."""
    seed: int
    """The seed of the samples."""
    f1: Difference | None
    """The F1 of spans; None if the gold labels encode no spans."""
    accuracy: Difference
    """The fraction of tokens with the right label."""
    _table: str

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each score."""
        scores = {"f1": self.f1, "accuracy": self.accuracy}
        return frame({n: one._asdict() for n, one in scores.items() if one is not None}, "score")

    def _repr_html_(self) -> str:
        rows = []
        for name, one in (("F1", self.f1), ("accuracy", self.accuracy)):
            if one is not None:
                interval = f"{100 * one.interval[0]:+.2f} to {100 * one.interval[1]:+.2f}"
                row = (percent(one.a), percent(one.b), f"{100 * one.difference:+.2f}", interval)
                rows.append((name, *row, f"{one.p_value:.4f}"))
        caption = f"Two taggers, in percent: {plural(self.sentences, 'sentence')}"
        head = ("score", "A", "B", "B − A", "95 % interval", "p-value")
        note = paragraph(f"Paired bootstrap, {self.samples:,} samples.")
        return page(table(caption, head, rows), note)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        name, score = ("F1", self.f1) if self.f1 is not None else ("accuracy", self.accuracy)
        points = f"{100 * score.difference:+.2f}"
        return f"<Comparison {name} difference {points}, p-value {score.p_value:.4f}>"
