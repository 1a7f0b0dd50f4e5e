"""What tagging and clustering return. The extension module makes these by position."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dropchain import _dropchain, _files, _views
from dropchain._frames import frame

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


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
    """Where it begins in the text, in characters unless ``offsets`` says otherwise."""
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
    probability: float | None = None
    """The probability that the labels encode it, if it was asked for."""

    def __repr__(self) -> str:
        known = {name: value for name, value in self._asdict().items() if value is not None}
        if self.probability is not None:
            known["probability"] = round(self.probability, 4)
        return f"TextSpan({', '.join(f'{name}={value!r}' for name, value in known.items())})"


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

    A list with a dict for each token, which that method describes. ``str(…)`` is the text of
    `dropchain explain`.
    """

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

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each part of a margin."""
        rows = []
        for word, token in zip(self.words, self):
            own = {"token": token["token"], "text": word, "label": token["label"]}
            own["margin"] = token.get("margin")
            own["runner_up"] = token.get("runner_up", {}).get("label")
            for part in token.get("parts", ()):
                rows.append({**own, "at": part["token"], **part, "token": own["token"]})
        return frame(rows)

    def _repr_html_(self) -> str:
        return _views.explanation(self)

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
        _dropchain.write_file(path, self.text.encode())

    def __getitem__(self, word: str) -> str:
        return self._paths[word]

    def __contains__(self, word: str) -> bool:
        return word in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<Clusters of {len(self)} words: {self.count}>"
