"""What tagging, evaluation and clustering return. The extension module makes these by position."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dropchain import _dropchain, _files


class Span(NamedTuple):
    """A span of tokens, such as a name."""

    token_start: int
    """The first token."""
    token_end: int
    """One past the last token."""
    type: str
    """The type, such as ``PER``."""


class Path(NamedTuple):
    """A label sequence with its probability."""

    labels: list[str]
    """The label of each token."""
    score: float
    """The sum of the weights along the sequence."""
    probability: float
    """Its probability."""

    def __repr__(self) -> str:
        return f"Path({self.labels}, probability={self.probability})"


@dataclass(frozen=True, repr=False, eq=False)
class Tagging:
    """What :meth:`Tagger.analyze` returns."""

    labels: list[str]
    """The best label of each token."""
    spans: list[Span]
    """The spans that these labels encode."""
    probability: float | None
    """The probability of these labels, if it was asked for."""
    marginals: npt.NDArray[np.float64] | None
    """The probability of each label, ``[tokens, labels]``, if it was asked for: a numpy array."""
    nbest: list[Path]
    """The best label sequences, best first, if more than one was asked for."""

    def __repr__(self) -> str:
        return f"<Tagging {self.labels}>"


class TextToken(NamedTuple):
    """A token of a text, with its label."""

    start: int
    """Where it begins in the text, in characters unless ``offsets`` says otherwise."""
    end: int
    """Where it ends."""
    text: str
    """Its text."""
    label: str
    """Its label."""


class TextSpan(NamedTuple):
    """A span of a text, such as a name."""

    start: int
    """Where it begins in the text, in characters unless ``offsets`` says otherwise."""
    end: int
    """Where it ends."""
    type: str
    """The type, such as ``PER``."""
    text: str
    """Its text."""
    token_start: int
    """Its first token in the sentence."""
    token_end: int
    """One past its last token."""


@dataclass(frozen=True, repr=False, eq=False)
class TaggedSentence:
    """A tagged sentence of a text. Positions count from the beginning of the text."""

    start: int
    """Where the first token begins."""
    end: int
    """Where the last token ends."""
    tokens: list[TextToken]
    """The tokens."""
    spans: list[TextSpan]
    """The spans that the labels encode."""

    @property
    def words(self) -> list[str]:
        """The words of the tokens."""
        return [token.text for token in self.tokens]

    @property
    def labels(self) -> list[str]:
        """The labels of the tokens."""
        return [token.label for token in self.tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        counts = f"{len(self)} tokens, {len(self.spans)} spans"
        return f"<TaggedSentence {self.start}:{self.end}, {counts}>"


class Explanation(list[dict[str, Any]]):
    """What :meth:`Tagger.explain` returns: a dict for each token. ``str(…)`` is the text of
    `dropchain explain`."""

    words: list[str]
    """The words; of a sentence with features, `token 1`, `token 2` and so on."""

    def __init__(
        self, tokens: Iterable[dict[str, Any]] = (), words: Iterable[str] = (), text: str = ""
    ) -> None:
        super().__init__(tokens)
        self.words = list(words)
        self._text = text

    @property
    def labels(self) -> list[str]:
        """The label of each token."""
        return [token["label"] for token in self]

    def to_dict(self) -> dict[str, Any]:
        """Return words, labels and explanations, for JSON."""
        return {"tokens": self.words, "labels": self.labels, "explanations": list(self)}

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} tokens>"


@dataclass(frozen=True, repr=False, eq=False)
class CheckResult:
    """What :func:`dropchain.check` found. ``str(…)`` is the text of `dropchain check`."""

    sizes: list[dict[str, Any]]
    """Sizes of the data of each role."""
    overlaps: list[dict[str, Any]]
    """How the data of these roles overlap."""
    labels: dict[str, Any]
    """The labels, and how they are read."""
    findings: list[dict[str, Any]]
    """What was found, errors first: `kind`, `severity`, `count`, `examples` and more."""
    inconsistent: list[dict[str, Any]] | None
    """Phrases whose labels differ from place to place, if they were asked for."""
    suspicious: list[dict[str, Any]] | None
    """Sentences whose labels are improbable, if they were asked for and there are no errors."""
    _text: str

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The findings that training or evaluation would refuse."""
        return self._of("error")

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The findings that are most likely mistakes."""
        return self._of("warning")

    def _of(self, severity: str) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["severity"] == severity]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON: as `dropchain check --json`."""
        fields = {name: value for name, value in vars(self).items() if name != "_text"}
        asked_for = ("inconsistent", "suspicious")
        return {k: v for k, v in fields.items() if v is not None or k not in asked_for}

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        errors, warnings, notices = (len(self._of(s)) for s in ("error", "warning", "notice"))
        return (
            f"<CheckResult: {errors} kinds of errors, {warnings} of warnings, {notices} of notices>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """The page of :func:`dropchain.report`."""

    title: str
    """Its title."""
    html: str
    """Its text."""
    output: str | None
    """The file that it was written to."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return dict(vars(self))

    def __str__(self) -> str:
        return f"wrote {self.output}" if self.output else repr(self)

    def __repr__(self) -> str:
        return f"<Report {self.title!r}, {len(self.html)} characters>"


class Score(NamedTuple):
    """Precision, recall and F1 of spans of a type, or of tokens with a label."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return self._asdict()

    def __repr__(self) -> str:
        precision, recall, f1 = (f"{number:.4f}" for number in self[:3])
        return f"Score(precision={precision}, recall={recall}, f1={f1}, gold={self.gold})"


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

    def confusions(self, limit: int = 30) -> list[tuple[str, str, int]]:
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

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        name, score = ("F1", self.f1) if self.f1 is not None else ("accuracy", self.accuracy)
        return (
            f"<Comparison {name} difference {score.difference:.4f}, p-value {score.p_value:.4f}>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class Clusters:
    """Words with the clusters that :func:`dropchain.cluster` found for them.

    The path of a cluster is a string of bits; its prefixes are larger clusters.
    """

    count: int
    """The number of clusters."""
    mutual_information: float
    """The average mutual information of adjacent clusters, in bits."""
    words: list[tuple[str, str, int]]
    """All words: path, word, number of occurrences; those of a cluster together."""
    text: str
    """The lines of a cluster file, for ``Template(text, files={"paths.txt": clusters.text})``."""

    @cached_property
    def _paths(self) -> dict[str, str]:
        return {word: path for path, word, _ in self.words}

    def to_dict(self) -> dict[str, str]:
        """Return the path of each word."""
        return dict(self._paths)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a file that ``cluster("…")`` in a template reads.

        A file that has no clusters is replaced only with `force`.
        """
        _files.save(self, path, force)

    def _save(self, path: str | os.PathLike[str]) -> None:
        _dropchain.write_file(path, self.text.encode())

    def __getitem__(self, word: str) -> str:
        return self._paths[word]

    def __contains__(self, word: str) -> bool:
        return word in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<Clusters of {len(self)} words: {self.count}>"
