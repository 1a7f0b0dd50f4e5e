"""A component for spaCy: entities or tags of a model.

>>> import spacy, dropchain
>>> sample = dropchain.sample_corpus()
>>> model = dropchain.train(sample, template="ner", max_iterations=30).tagger
>>> nlp = spacy.blank("en")
>>> component = nlp.add_pipe("dropchain")
>>> component.tagger = model  # or nlp.add_pipe("dropchain", config={"model": "ner.model"})
>>> [(entity.text, entity.label_) for entity in nlp("She lives in London.").ents]
[('London', 'LOC')]

The entry point ``spacy_factories`` registers it: nothing needs to be imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.util import minibatch

from dropchain import _docs, _dropchain
from dropchain._dropchain import Tagger

# What a component may set.
_TARGETS = ("ents", "spans", "tag", "pos")


class DropchainComponent:
    """Tags the sentences of a document, or the whole document if it has no sentences.

    Parameters
    ----------
    model : path, optional
        The file of a model with a template. A pipeline that is loaded from disk has its own.
    sets : {"ents", "spans", "tag", "pos"}
        Where the labels go: ``doc.ents``, a group of ``doc.spans``, ``token.tag_`` or
        ``token.pos_``.
    overwrite : bool
        Whether entities replace those that the document has; otherwise they are added where there
        are none. Likewise for tags.
    spans_key : str
        The group of ``doc.spans``.
    threads : int, optional
        Threads of :meth:`pipe`; by default one for each processor.
    """

    def __init__(
        self,
        name: str = "dropchain",
        *,
        model: str | os.PathLike[str] | None = None,
        sets: str = "ents",
        overwrite: bool = True,
        spans_key: str = "dropchain",
        threads: int | None = None,
    ) -> None:
        if sets not in _TARGETS:
            raise ValueError(f"sets {sets!r}; expected one of {', '.join(_TARGETS)}")
        self.name = name
        self.sets = sets
        self.overwrite = overwrite
        self.spans_key = spans_key
        self.threads = threads
        self._tagger: Tagger | None = None
        if model is not None:
            self.tagger = Tagger.open(model)

    @property
    def tagger(self) -> Tagger:
        """The tagger."""
        if self._tagger is None:
            raise ValueError(
                f"the component '{self.name}' has no model; expected config={{'model': …}}, a "
                "pipeline from disk, or a tagger set"
            )
        return self._tagger

    @tagger.setter
    def tagger(self, tagger: Tagger) -> None:
        if tagger.columns is None:
            raise ValueError(
                "the model was trained on features; expected one with a template, which makes "
                "features of words"
            )
        self._tagger = tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of entities, or the tags; none without a model."""
        if self._tagger is None:
            return ()
        labels = self._tagger.labels
        if self.sets in ("tag", "pos"):
            return tuple(labels)
        types = {span.type for label in labels for span in _dropchain.spans([label])}
        return tuple(sorted(types))

    def __call__(self, doc: Doc) -> Doc:
        """Tag a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Tag documents in batches, in parallel."""
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            parts = [_docs.sentences(doc) for doc in docs]
            sentences = (self._sentence(tokens) for part in parts for tokens in part)
            labels = iter(self.tagger.tag_batch(sentences, threads=self.threads))
            for doc, part in zip(docs, parts):
                self._annotate(doc, [(tokens, next(labels)) for tokens in part])
                yield doc

    def _sentence(self, tokens: list[Token]) -> Any:
        """Return the words, and the tags if the model reads them."""
        words = [token.text for token in tokens]
        columns = self.tagger.columns or []
        template = self.tagger.template if len(columns) > 1 else None
        if template is None or not any(name in template.columns for name in columns[1:]):
            return words
        known = (name for name in columns if name in _docs.ATTRIBUTES)
        more: dict[str, Any] = {name: _docs.column(tokens, name) for name in known}
        return _dropchain.Sentence(words, **more)

    def _annotate(self, doc: Doc, found: list[tuple[list[Token], list[str]]]) -> None:
        if self.sets in ("tag", "pos"):
            attribute = f"{self.sets}_"
            tagged = ((t, label) for tokens, labels in found for t, label in zip(tokens, labels))
            for token, label in tagged:
                if self.overwrite or not getattr(token, attribute):
                    setattr(token, attribute, label)
            return
        spans = [
            Span(doc, tokens[start].i, tokens[end - 1].i + 1, label=kind)
            for tokens, labels in found
            for start, end, kind in _dropchain.spans(labels)
        ]
        if self.sets == "spans":
            doc.spans[self.spans_key] = spans
            return
        if not self.overwrite:
            taken = {i for entity in doc.ents for i in range(entity.start, entity.end)}
            spans = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
            spans.extend(doc.ents)
        doc.ents = sorted(spans, key=lambda span: span.start)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the contents of the model file; empty if there is no model."""
        return b"" if self._tagger is None else self._tagger.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> DropchainComponent:
        """Set the model from the contents of its file."""
        if data:
            self.tagger = Tagger.from_bytes(data)
        return self

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the model into the folder of the component."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if self._tagger is not None:
            self._tagger.save(folder / "model")

    def from_disk(
        self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()
    ) -> DropchainComponent:
        """Read the model from the folder of the component."""
        file = Path(path) / "model"
        if file.exists():
            self.tagger = Tagger.open(file)
        return self


@Language.factory(
    "dropchain",
    default_config={
        "model": None,
        "sets": "ents",
        "overwrite": True,
        "spans_key": "dropchain",
        "threads": None,
    },
)
def create(
    nlp: Language,
    name: str,
    model: str | None,
    sets: str,
    overwrite: bool,
    spans_key: str,
    threads: int | None,
) -> DropchainComponent:
    """Create the component, as spaCy calls it."""
    return DropchainComponent(
        name, model=model, sets=sets, overwrite=overwrite, spans_key=spans_key, threads=threads
    )
