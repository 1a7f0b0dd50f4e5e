"""What evaluation returns. The extension module makes these by position."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dropchain._frames import frame
from dropchain._html import Cell, Html, page, paragraph, percent, plural, table
from dropchain._plots import Svg, draw, metric
from dropchain._records import Record, plain

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

#: The most labels of a matrix and types of a table that are shown, and types that are drawn.
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
        shown = ", ".join(f"{name}={self[name]:.4f}" for name in ("precision", "recall", "f1"))
        return f"Score({shown}, gold={self.gold})"


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """The scores of predicted labels, as fractions. ``str(…)`` is the report of conlleval."""

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

    def plot(self) -> Svg:
        """Plot precision, recall and F1 of each type, or of each label."""
        found = self.types if self.has_spans else self.labels
        names = sorted(found, key=lambda name: -found[name].gold)[:_DRAWN]
        series = [
            {
                "name": metric(score),
                "style": "bars",
                "points": [(i, 100 * found[name][score]) for i, name in enumerate(names)],
            }
            for score in ("precision", "recall", "f1")
        ]
        panel = {
            "x": {"label": "type" if self.has_spans else "label", "names": names},
            "y": {"label": "percent", "range": (0, 100)},
            "series": series,
        }
        return draw(title="Scores", panels=[panel])

    def _repr_html_(self) -> str:
        """Show scores: of all, by type or label, and confusions."""
        counts = f"{plural(self.sentences, 'sentence')}, {plural(self.tokens, 'token')}"
        own = ("precision", "recall", "f1") if self.has_spans else ()
        names = (*own, "accuracy")
        row = [Cell(percent(getattr(self, n)), getattr(self, n)) for n in names]
        head = ("", *(name.replace("f1", "F1") for name in names))
        parts = [table(f"Scores, in percent: {counts}", head, [("all", *row)])]
        thing, found = ("type", self.types) if self.has_spans else ("label", self.labels)
        common = sorted(found.items(), key=lambda item: -item[1].gold)
        rows = [
            (
                name or "(no type)",
                percent(one.precision),
                percent(one.recall),
                Cell(percent(one.f1), one.f1),
                f"{one.gold:,}",
                f"{one.predicted:,}",
            )
            for name, one in common[:_TYPES]
        ]
        head = (thing, "precision", "recall", "F1", "in gold", "predicted")
        parts.append(table(f"By {thing}, in percent", head, rows))
        if self.columns:
            columns = [(name, Cell(percent(one), one)) for name, one in self.columns.items()]
            parts.append(table("Accuracy of columns, in percent", ("column", "accuracy"), columns))
        return page(*parts, self._matrix())

    def _matrix(self) -> Html:
        """Return which labels are taken for which: those with the most errors."""
        confusions = self.confusions(None)
        errors: Counter[str] = Counter()
        for gold, predicted, count in confusions:
            errors.update({gold: count, predicted: count})
        if not errors:
            return paragraph("There are no errors.")
        names = sorted(name for name, _ in errors.most_common(_LABELS))
        counts = {(gold, predicted): count for gold, predicted, count in confusions}
        counts.update({(name, name): self.labels[name].correct for name in names})
        rows = []
        for gold in names:
            row = [counts.get((gold, predicted), 0) for predicted in names]
            rest = max(self.labels[gold].gold, 1)
            cells = (
                Cell(f"{count:,}" if count else "", count / rest, tone, "shade")
                for count, tone in zip(row, ("good" if name == gold else "bad" for name in names))
            )
            rows.append((gold, *cells))
        caption = "Tokens by gold label (rows) and predicted label (columns)"
        if len(errors) > _LABELS:
            caption += f": the {_LABELS} with the most errors"
        return table(caption, ("gold", *names), rows)

    def __str__(self) -> str:
        return self._reports[0]

    def __repr__(self) -> str:
        f1 = f"F1 {self.f1:.4f}, " if self.has_spans else ""
        return f"<Evaluation {f1}accuracy {self.accuracy:.4f}>"


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
        a, b, difference, _, p_value = self
        shown = f"a={a:.4f}, b={b:.4f}, difference={difference:.4f}, p_value={p_value:.4f}"
        return f"Difference({shown})"


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
        """Show two taggers and their difference."""
        rows = []
        for name, one in (("F1", self.f1), ("accuracy", self.accuracy)):
            if one is not None:
                interval = f"{100 * one.interval[0]:+.2f} to {100 * one.interval[1]:+.2f}"
                row = (percent(one.a), percent(one.b), f"{100 * one.difference:+.2f}", interval)
                rows.append((name, *row, f"{one.p_value:.4f}"))
        caption = f"Two taggers, in percent: {plural(self.sentences, 'sentence')}"
        head = ("", "A", "B", "B − A", "95 % interval", "p-value")
        note = paragraph(f"Paired bootstrap, {self.samples:,} samples.")
        return page(table(caption, head, rows), note)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        name, score = ("F1", self.f1) if self.f1 is not None else ("accuracy", self.accuracy)
        return (
            f"<Comparison {name} difference {score.difference:.4f}, p-value {score.p_value:.4f}>"
        )
