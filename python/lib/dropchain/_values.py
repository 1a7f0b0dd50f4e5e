"""What tagging, evaluation and clustering return. The extension module makes these by position."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dropchain import _dropchain, _files, _plots, _views

if TYPE_CHECKING:
    import pandas


def frame(
    rows: Iterable[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]], name: str | None = None
) -> pandas.DataFrame:
    """Return rows as a frame of pandas; those of a mapping are named in a column."""
    try:
        import pandas
    except ImportError:
        message = "to_frame makes a frame of pandas, which is not installed; expected it, or to_dict"
        raise ImportError(message) from None
    if isinstance(rows, Mapping):
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis(name)
    return pandas.DataFrame(list(rows))


class Span(NamedTuple):
    """A span of tokens, such as a name."""

    start: int
    """The first token."""
    end: int
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
    words: list[str]
    """The words; of a sentence with features, numbers from 1."""
    names: list[str]
    """The labels of the columns of `marginals`."""

    @property
    def label_probabilities(self) -> list[float] | None:
        """The probability of the label of each token, if `marginals` were asked for."""
        if self.marginals is None:
            return None
        columns = {name: k for k, name in enumerate(self.names)}
        return [float(row[columns[label]]) for row, label in zip(self.marginals, self.labels)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "words": self.words,
            "labels": self.labels,
            "spans": [span._asdict() for span in self.spans],
            "probability": self.probability,
            "marginals": None if self.marginals is None else self.marginals.tolist(),
            "nbest": [path._asdict() for path in self.nbest],
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token: its label, and the probabilities of all labels."""
        marginals = [()] * len(self.words) if self.marginals is None else self.marginals.tolist()
        rows = zip(self.words, self.labels, marginals)
        return frame({"word": w, "label": y, **dict(zip(self.names, p))} for w, y, p in rows)

    def _repr_html_(self) -> str:
        return _views.tagging(self)

    def __repr__(self) -> str:
        return f"<Tagging {self.labels}>"


class TextToken(NamedTuple):
    """A token of a text, with its label."""

    start: int
    """Where it begins, in characters of the text."""
    end: int
    """Where it ends."""
    text: str
    """Its text."""
    label: str
    """Its label."""
    probability: float | None = None
    """The probability of the label, if it was asked for."""


class TextSpan(NamedTuple):
    """A span of a text, such as a name."""

    start: int
    """Where it begins, in characters of the text."""
    end: int
    """Where it ends."""
    type: str
    """The type, such as ``PER``."""
    text: str
    """Its text."""
    tokens: tuple[int, int]
    """Its tokens in the sentence: the first, and one past the last."""
    probability: float | None = None
    """The probability that the labels encode it, if it was asked for."""

    def __repr__(self) -> str:
        start, end, type, text, _, probability = self
        shown = f"start={start}, end={end}, type={type!r}, text={text!r}"
        if probability is not None:
            shown += f", probability={probability:.4f}"
        return f"TextSpan({shown})"


@dataclass(frozen=True, repr=False, eq=False)
class TaggedSentence:
    """A tagged sentence of a text. Offsets count the characters of the text."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        tokens, spans = ([one._asdict() for one in many] for many in (self.tokens, self.spans))
        return {"start": self.start, "end": self.end, "tokens": tokens, "spans": spans}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token."""
        return frame(token._asdict() for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def _repr_html_(self) -> str:
        return _views.tagged_sentence(self)

    def __repr__(self) -> str:
        counts = f"{len(self)} tokens, {len(self.spans)} spans"
        return f"<TaggedSentence {self.start}:{self.end}, {counts}>"


class TaggedText(list[TaggedSentence]):
    """The tagged sentences of a text, a list: what :meth:`Tagger.tag_text` returns."""

    @property
    def spans(self) -> list[TextSpan]:
        """The spans of all sentences."""
        return [span for sentence in self for span in sentence.spans]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {"sentences": [sentence.to_dict() for sentence in self]}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token, with the number of its sentence."""
        numbered = enumerate(self)
        return frame({"sentence": i, **t._asdict()} for i, one in numbered for t in one.tokens)

    def _repr_html_(self) -> str:
        return _views.tagged_text(self)

    def __repr__(self) -> str:
        return f"<TaggedText of {len(self)} sentences, {len(self.spans)} spans>"

    def __str__(self) -> str:
        parts = ("".join(f"{t.text}/{t.label} " for t in one.tokens) for one in self)
        return "\n".join(part.rstrip() for part in parts)


class Explanation(list[dict[str, Any]]):
    """Why the tokens of a sentence have their labels: what :meth:`Tagger.explain` returns.

    A list with a dict for each token, which that method describes.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {"tokens": list(self)}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each part of a margin."""
        names = ("token", "text", "label", "margin")
        rows = []
        for token in self:
            own = {name: token[name] for name in names}
            own["runner_up"] = (token["runner_up"] or {}).get("label")
            rows += [{**own, "at": part["token"], **part, "token": own["token"]} for part in token["parts"]]
        return frame(rows)

    def _repr_html_(self) -> str:
        return _views.explanation(self)

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} tokens>"

    def __str__(self) -> str:
        lines = []
        for token in self:
            lines.append(f"{token['token'] + 1} {token['text']}: {token['label']}")
            if token["margin"] is not None:
                lines[-1] += f", by {token['margin']:.3f} over {token['runner_up']['label']}"
            for part in token["parts"]:
                reason = part["attribute"] or part["kind"]
                lines.append(f"  {part['contribution']:+8.3f}  {reason}")
        return "\n".join(lines)


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
        return _views.evaluation(self)

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
        return _views.comparison(self)

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

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each word."""
        return frame(dict(zip(("path", "word", "count"), word)) for word in self.words)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a file that ``cluster("…")`` in a template reads.

        A file that has no clusters is replaced only with `force`.
        """
        _files.save(self, path, force)

    def _save(self, path: str | os.PathLike[str]) -> None:
        _dropchain.write_file(path, self.text)

    def __getitem__(self, word: str) -> str:
        return self._paths[word]

    def __contains__(self, word: str) -> bool:
        return word in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<Clusters of {len(self)} words: {self.count}>"
