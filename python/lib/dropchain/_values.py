"""What tagging and explaining return. The extension module makes these by position."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dropchain import _dropchain
from dropchain._html import (
    LABELS, SENTENCES, WORDS, Cell, Html, beginning, details, labeled, marked, marks_of, page,
    paragraph, shortened, table, text_line,
)
from dropchain._records import Record, frame, plain

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


class _Item(Record):
    """A value of few fields, of which there are many: hashable, and as quick as a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        known = {name: value for name, value in self.to_dict().items() if value is not None}
        shown = (f"{k}={round(v, 4) if isinstance(v, float) else v!r}" for k, v in known.items())
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(repr=False, slots=True, unsafe_hash=True)
class Span(_Item):
    """A span of tokens, such as a name. It unpacks as ``start, end, type``, which make it equal to
    another."""

    token_start: int
    """The first token."""
    token_end: int
    """One past the last token."""
    type: str
    """The type, such as ``PER``."""
    text: str | None = field(default=None, compare=False)
    """Its words, if they are known."""
    probability: float | None = field(default=None, compare=False)
    """The probability that the labels encode it, if it is known."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.token_start, self.token_end, self.type))


@dataclass(repr=False, slots=True)
class Path(_Item):
    """A label sequence with its probability."""

    labels: list[str]
    """The label of each token."""
    score: float
    """The sum of the weights along the sequence."""
    probability: float
    """Its probability."""


@dataclass(frozen=True, repr=False, eq=False)
class Tagging(Record):
    """What :meth:`Tagger.analyze` returns."""

    _left_out = ("names",)

    labels: list[str]
    """The best label of each token."""
    spans: list[Span]
    """The spans that these labels encode, with their probabilities."""
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

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token: its label, and the probabilities of all labels."""
        marginals = [()] * len(self.words) if self.marginals is None else self.marginals.tolist()
        rows = zip(self.words, self.labels, marginals)
        return frame({"word": w, "label": y, **dict(zip(self.names, p))} for w, y, p in rows)

    def _repr_html_(self) -> str:
        words, own = self.words, self.label_probabilities
        spans = ((*span, span.probability) for span in self.spans)
        parts = [text_line(beginning(words, marks_of(self.labels, spans, own)))]
        if self.probability is not None:
            parts.append(paragraph(f"The labels have the probability {self.probability:.3f}."))
        if len(self.nbest) > 1:
            rows = [
                (i, Cell(f"{path.probability:.3f}", path.probability), labeled(words, path.labels))
                for i, path in enumerate(self.nbest, 1)
            ]
            head = ("rank", "probability", "labels")
            parts.append(table("The best label sequences", head, rows, kind="words"))
        if self.marginals is not None and words:
            largest, title = self.marginals.max(axis=0), "Probabilities of labels"
            columns = sorted(sorted(range(len(largest)), key=lambda k: -largest[k])[:LABELS])
            shaded = (
                (word, *(Cell(f"{row[k]:.2f}", row[k], kind="shade") for k in columns))
                for word, row in zip(words[:WORDS], self.marginals.tolist())
            )
            head = ("token", *(self.names[k] for k in columns))
            parts.append(details(title, table(title, head, shaded)))
        return page(*parts)

    def __repr__(self) -> str:
        return f"<Tagging {self.labels}>"


@dataclass(repr=False, slots=True, unsafe_hash=True)
class TextToken(_Item):
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


@dataclass(repr=False, slots=True, unsafe_hash=True)
class TextSpan(_Item):
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


@dataclass(frozen=True, repr=False, eq=False)
class TaggedSentence(Record):
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

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token."""
        return frame(token.to_dict() for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def _repr_html_(self) -> str:
        return page(text_line(self._marked()))

    def _marked(self) -> Html:
        """Return the sentence with its marks and the space between its tokens."""
        tokens = self.tokens
        spans = ((s.token_start, s.token_end, s.type, s.probability) for s in self.spans)
        probabilities: Any = [token.probability for token in tokens]
        known = probabilities if None not in probabilities else None
        ends = [tokens[0].start if tokens else 0, *(token.end for token in tokens)]
        gaps = [" " if token.start > end else "" for token, end in zip(tokens, ends)]
        return marked(self.words, marks_of(self.labels, spans, known), gaps)

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
        return {"sentences": plain(list(self))}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each token, with the number of its sentence."""
        numbered = enumerate(self)
        return frame({"sentence": i, **t.to_dict()} for i, one in numbered for t in one.tokens)

    def _repr_html_(self) -> str:
        shown, note = shortened(self, 5 * SENTENCES, "sentence")
        return page(*(text_line(one._marked()) for one in shown), note)

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

    blocks: list[dict[str, Any]]
    """The spans and the tokens outside of them: `start`, `end`, `text`, `label` and `probability`,
    whether they are `outside` of spans and `notable`, and the `token` whose dict explains them."""

    def __init__(
        self,
        tokens: Iterable[dict[str, Any]] = (),
        words: Iterable[str] = (),
        text: str = "",
        blocks: Iterable[dict[str, Any]] = (),
    ) -> None:
        super().__init__(tokens)
        self.words = list(words)
        self.blocks = list(blocks)
        self._text = text

    @property
    def labels(self) -> list[str]:
        """The label of each token."""
        return [token["label"] for token in self]

    def to_dict(self) -> dict[str, Any]:
        """Return words, labels and explanations, for JSON."""
        return {
            "tokens": self.words,
            "labels": self.labels,
            "explanations": list(self),
            "blocks": self.blocks,
        }

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
        words, labels = self.words, self.labels
        own = [token["probability"] for token in self]
        spans = ((a, b, kind, min(own[a:b])) for a, b, kind in _dropchain.spans(labels))
        blocks, note = shortened(self.blocks, WORDS, "token")
        last = blocks[-1]["end"] if blocks else 0
        shown = {"tokens": words[:last], "blocks": blocks, "explanations": self[:last]}
        text = text_line(beginning(words, marks_of(labels, spans, own)))
        return page(text, _dropchain.explanation_html(json.dumps(shown)), note)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} tokens>"
