"""Documents of spaCy as a corpus, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from dropchain import _dropchain
from dropchain._dropchain import Corpus

# The attributes of tokens that columns have, by the name of the column.
ATTRIBUTES = {"pos": "tag_", "tag": "tag_", "xpos": "tag_", "upos": "pos_", "lemma": "lemma_"}

# What labels may be.
_LABELS = ("ent", "tag", "pos")

# The tags of Universal Dependencies.
_UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)


def corpus(
    docs: Any,
    *,
    label: str | None = None,
    columns: Iterable[str] | None = None,
    unlabeled: bool = False,
    weights: Iterable[float] | None = None,
) -> Corpus:
    """Convert a `DocBin`, a `Doc` or several: see :class:`Corpus`."""
    documents = _documents(docs)
    if unlabeled:
        label = None
    elif label is None:
        if not any(doc.has_annotation("ENT_IOB") for doc in documents):
            raise ValueError(
                "the documents have no entities; expected documents with doc.ents, or label='tag' "
                "or 'pos'"
            )
        label = "ent"
    elif label not in _LABELS:
        raise ValueError(f"label {label!r}; expected one of {', '.join(_LABELS)}")
    if columns is None:
        annotated = (("upos", "POS", "pos"), ("xpos", "TAG", "tag"))
        columns = [
            annotation
            for annotation, attribute, name in annotated
            if name != label and all(doc.has_annotation(attribute) for doc in documents)
        ]
    names = [name for name in columns if name != "word"]
    for name in names:
        if name not in ATTRIBUTES:
            raise ValueError(f"column '{name}'; expected one of {', '.join(ATTRIBUTES)}")
    rows: list[Any] = []
    labels: list[list[str | None]] = []
    starts = []
    for doc in documents:
        starts.append(len(rows))
        for tokens in sentences(doc):
            words = [token.text for token in tokens]
            cells = [column(tokens, name) for name in names]
            rows.append(list(zip(words, *cells)) if names else words)
            labels.append([_label(token, label) for token in tokens])
    schema = ["word", *names] if names else None
    tags = None if label is None else labels
    has_sentences = len(rows) > len(starts)
    return Corpus._of(rows, tags, schema, weights, starts if has_sentences else None)


def is_docs(data: Any) -> bool:
    """Return whether an object is a document, several, or a `DocBin`."""
    first = data[0] if isinstance(data, (list, tuple)) and data else data
    kind = type(first)
    is_spacy = kind.__module__.split(".")[0] == "spacy"
    return is_spacy and kind.__name__ in ("Doc", "DocBin", "Example")


def sentences(doc: Any) -> list[list[Any]]:
    """Return the tokens of each sentence, of the document if it has none; no blanks."""
    parts = doc.sents if doc.has_annotation("SENT_START") else [doc]
    found = [[token for token in part if not token.is_space] for part in parts]
    return [tokens for tokens in found if tokens]


def column(tokens: list[Any], name: str) -> list[str]:
    """Return the values of a column, of :data:`ATTRIBUTES`."""
    return [getattr(token, ATTRIBUTES[name]) or "_" for token in tokens]


def read(
    paths: Iterable[str], label: str | None, columns: list[str] | None, unlabeled: bool
) -> Corpus:
    """Read files of `DocBin`."""
    tokens = _tokens("reading files of spaCy")
    documents: list[Any] = []
    for path in map(os.fspath, paths):
        with open(path, "rb") as file:
            data = file.read()
        try:
            documents += _documents(tokens.DocBin().from_bytes(data))
        except Exception as error:
            raise ValueError(f"{path}: found no DocBin of spaCy: {error}") from error
    return corpus(documents, label=label, columns=columns, unlabeled=unlabeled)


def write(corpus: Corpus, path: str | os.PathLike[str], label: str | None) -> None:
    """Write a file of `DocBin`, which is replaced as a whole."""
    docs = to_docs(corpus, None, label)
    data = _tokens("writing files of spaCy").DocBin(docs=docs).to_bytes()
    _dropchain.write_file(path, data)


def to_docs(corpus: Corpus, nlp: Any = None, label: str | None = None) -> list[Any]:
    """See :meth:`Corpus.to_docs`."""
    tokens = _tokens("making documents of spaCy")
    if corpus.has_features:
        raise ValueError("the sentences have features; expected words, which documents need")
    if label is not None and label not in _LABELS:
        raise ValueError(f"label {label!r}; expected one of {', '.join(_LABELS)}")
    documents = corpus.documents("marks")
    if len(documents) <= 1:
        documents = corpus.documents("sentence")
    kind = label or _kind(corpus)
    from spacy.vocab import Vocab

    vocab = Vocab() if nlp is None else nlp.vocab
    return [_doc(tokens, vocab, document, kind) for document in documents]


def _doc(tokens: Any, vocab: Any, sentences: Corpus, kind: str) -> Any:
    values: dict[str, Any] = {"words": [], "sent_starts": []}
    labels: list[Any] = []
    columns = {ATTRIBUTES[name]: name for name in sentences.columns if name in ATTRIBUTES}
    for sentence in sentences:
        values["words"] += sentence.words
        values["sent_starts"] += [t == 0 for t in range(len(sentence))]
        own = sentence.labels or [None] * len(sentence)
        tags = [label if isinstance(label, str) else "" for label in own]
        labels += _entities(own) if kind == "ent" else tags
        for attribute, name in columns.items():
            key = {"tag_": "tags", "pos_": "pos", "lemma_": "lemmas"}[attribute]
            cells = ["" if cell == "_" else cell for cell in sentence.column(name)]
            values.setdefault(key, []).extend(cells)
    values["spaces"] = [t + 1 < len(labels) for t in range(len(labels))]
    values[{"ent": "ents", "tag": "tags", "pos": "pos"}[kind]] = labels
    return tokens.Doc(vocab, **values)


def _entities(labels: Any) -> list[str]:
    """Return labels as spaCy takes them: IOB2, empty if unknown."""
    found = ["O" if isinstance(label, str) else "" for label in labels]
    for span in _dropchain.spans([label if isinstance(label, str) else "O" for label in labels]):
        for t in range(span.token_start, span.token_end):
            found[t] = ("B-" if t == span.token_start else "I-") + span.type
    return found


def _kind(corpus: Corpus) -> str:
    """Return what labels look like: entities, or tags."""
    labels = {label for row in corpus.labels for label in row or () if isinstance(label, str)}
    if labels and labels <= _UPOS:
        return "pos"
    are_entities = any(label == "O" or label[1:2] == "-" for label in labels)
    return "ent" if are_entities or not labels else "tag"


def _documents(docs: Any) -> list[Any]:
    if hasattr(docs, "get_docs"):
        from spacy.vocab import Vocab

        docs = docs.get_docs(Vocab())
    elif type(docs).__name__ in ("Doc", "Example"):
        docs = [docs]
    documents = [getattr(doc, "reference", doc) for doc in docs]
    for i, doc in enumerate(documents):
        if not is_docs(doc):
            raise ValueError(f"data[{i}]: found {type(doc).__name__}; expected a Doc of spaCy")
    return documents


def _label(token: Any, label: str | None) -> str | None:
    if label in ("tag", "pos"):
        return getattr(token, f"{label}_") or None
    if token.ent_iob_ in ("B", "I"):
        return f"{token.ent_iob_}-{token.ent_type_}"
    return token.ent_iob_ or None


def _tokens(purpose: str) -> Any:
    try:
        import spacy.tokens
    except ImportError as error:
        raise ImportError(f"{purpose} needs spaCy: pip install spacy") from error
    return spacy.tokens
