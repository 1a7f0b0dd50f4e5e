"""What evaluation returns. The extension module makes these by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dropchain import _plots, _result_views
from dropchain._frames import frame

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


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
    _reports: tuple[str, str, str]

    def confusions(self, limit: int | None = 30) -> list[tuple[str, str, int]]:
        """Return the most frequent confusions: gold label, predicted label, number of tokens."""
        return self._confusions[:limit]

    def conlleval(self) -> str:
        """Return the report of conlleval."""
        return self._reports[1]

    def label_table(self) -> str:
        """Return a table of the scores of each label, in percent."""
        return self._reports[2]

    def to_dict(self) -> dict[str, Any]:
        """Return all scores by name."""
        names = ["tokens", "sentences", "accuracy"]
        names += ["precision", "recall", "f1"] if self.has_spans else []
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.has_spans:
            found["types"] = {name: score.to_dict() for name, score in self.types.items()}
        if self.columns:
            found["columns"] = dict(self.columns)
        found["labels"] = {name: score.to_dict() for name, score in self.labels.items()}
        return found

    def to_frame(self) -> pandas.DataFrame:
        """Return the scores of each type, or of each label if labels encode no spans."""
        return frame(self.types, "type") if self.has_spans else frame(self.labels, "label")

    def plot(self) -> _plots.Svg:
        """Plot precision, recall and F1 of each type, or of each label."""
        return _plots.scores(self)

    def _repr_html_(self) -> str:
        return _result_views.evaluation(self)

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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return self._asdict()

    def __repr__(self) -> str:
        a, b, difference, _, p_value = self
        shown = f"a={a:.4f}, b={b:.4f}, difference={difference:.4f}, p_value={p_value:.4f}"
        return f"Difference({shown})"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
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

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by name."""
        names = ("tokens", "sentences", "samples", "seed")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.f1 is not None:
            found["f1"] = self.f1.to_dict()
        found["accuracy"] = self.accuracy.to_dict()
        return found

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each score."""
        scores = {"f1": self.f1, "accuracy": self.accuracy}
        return frame({n: one.to_dict() for n, one in scores.items() if one is not None}, "score")

    def _repr_html_(self) -> str:
        return _result_views.comparison(self)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        name, score = ("F1", self.f1) if self.f1 is not None else ("accuracy", self.accuracy)
        return (
            f"<Comparison {name} difference {score.difference:.4f}, p-value {score.p_value:.4f}>"
        )
