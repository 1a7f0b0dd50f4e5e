"""Data in any form: the one place that tells what it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from dropchain import _docs, _tables, _tuples
from dropchain._dropchain import Corpus, Sentence, Tagger, Template, sample_text
from dropchain._features import Features
from dropchain._tables import listed
from dropchain._tuples import described

# What :func:`kind` tells apart, with an example of each.
FORMS = {
    "files": '"train.conll" or ["a.jsonl", "b.conllu", "c.spacy"]',
    "xy": 'X, y = [["Ada", "left"]], [["B-PER", "O"]]',
    "tagged": '[[("Ada", "B-PER"), ("left", "O")]]',
    "pairs": '[(["Ada", "left"], ["B-PER", "O"])]',
    "table": 'a frame, or {"tokens": [["Ada", "left"]], "ner_tags": [["B-PER", "O"]]}',
    "docs": "documents of spaCy, or a DocBin",
    "offsets": '[("Ada left", {"entities": [(0, 3, "PER")]})]',
    "sentences": 'a Corpus, or [Sentence(["Ada", "left"], ["B-PER", "O"])]',
}


def kind(data: Any) -> str | None:
    """Return what data are, of :data:`FORMS`; None if they are none of these, such as sentences
    without labels."""
    if isinstance(data, Corpus):
        return "sentences"
    if paths(data):
        return "files"
    if _tables.is_table(data):
        return "table"
    if _docs.is_docs(data):
        return "docs"
    if not isinstance(data, (list, tuple)) or not data:
        return None
    first = next((item for item in data if not isinstance(item, (list, tuple)) or item), data[0])
    if isinstance(first, Sentence):
        return "sentences"
    if _tuples.is_offsets(first):
        return "offsets"
    if isinstance(data, tuple) and len(data) == 2:
        return "xy"
    if all(_tuples.is_pair(item) for item in data):
        if all(_tuples.is_row(part) for item in data for part in item):
            raise ValueError(
                f"found {described(first)} as a sentence, which can be two tokens with their "
                "tags, or tokens and their labels; expected lists, such as "
                f"{FORMS['tagged']} or {FORMS['pairs']}"
            )
        return "pairs"
    if isinstance(first, (list, tuple)) and first and _tuples.is_row(first[0]):
        return "tagged"
    return None


def paths(data: Any) -> list[str]:
    """Return the names of files, if `data` is one or several; otherwise none."""
    items = data if isinstance(data, (list, tuple)) else [data]
    are_paths = all(isinstance(item, (str, os.PathLike)) for item in items)
    return [os.fspath(item) for item in items] if are_paths else []


def column_names(columns: str | Iterable[str] | None) -> list[str] | None:
    """Return the names of columns as a list; in a string they have commas in between."""
    if isinstance(columns, str):
        return [name.strip() for name in columns.split(",")]
    return None if columns is None else listed(columns)


def corpus(
    sentences: Any,
    labels: Any = None,
    *,
    sentence: str | Iterable[str] | None = None,
    word: str | None = None,
    label: str | int | None = None,
    columns: str | Iterable[str] | None = None,
    names: Iterable[str] | None = None,
    unlabeled: bool = False,
    weights: Iterable[float] | None = None,
    misaligned: str | None = None,
    overlaps: str | None = None,
) -> Corpus:
    """Convert what is in memory: see :class:`Corpus`."""
    columns = column_names(columns)
    given: dict[str, Any] = {"sentence": sentence, "word": word, "names": names}
    if isinstance(sentences, (str, bytes)):
        raise ValueError(
            f"found {described(sentences)} as X; expected an iterable of sentences (files: "
            "Corpus.read)"
        )
    if _is_matrix(sentences):
        raise ValueError(
            "X is one matrix; expected a list of matrices, one for each sentence, or "
            "Features(X, lengths=…)"
        )
    if hasattr(sentences, "__next__") or _tables.is_column(sentences):
        sentences = listed(sentences)
    form = kind(sentences)
    if form != "table":
        _check_not_given(given, sentences)
    spans = {"misaligned": misaligned, "overlaps": overlaps}
    for name, value in spans.items():
        if value is not None and form != "offsets":
            raise ValueError(f"{name} is for spans of characters")
    options: Any = {"columns": columns, "weights": weights, "unlabeled": unlabeled}
    options["label"] = None if label is None else str(label)
    if _is_column(labels):
        labels = listed(labels)
    if form == "table":
        return _tables.corpus(sentences, labels, **given, **options)
    if labels is None and form == "docs":
        return _docs.corpus(sentences, **options)
    if labels is None and form == "offsets":
        return _tuples.of_offsets(sentences, unlabeled, weights, spans)
    if labels is None and form == "pairs":
        labels = None if unlabeled else [pair[1] for pair in sentences]
        sentences = [pair[0] for pair in sentences]
    elif labels is None and form == "tagged":
        sentences, labels, columns = _tuples.of_rows(sentences, columns, label, unlabeled)
    return Corpus._of(sentences, labels, columns, weights)


def labeled(
    data: Any,
    name: str,
    y: Any = None,
    *,
    columns: str | Iterable[str] | None = None,
    weights: Iterable[float] | None = None,
    **options: Any,
) -> Corpus:
    """Read or convert labeled sentences; `name` is that of the argument."""
    if hasattr(data, "__next__") or _tables.is_column(data):
        data = listed(data)
    form = None if y is not None else kind(data)
    if form == "files" or isinstance(data, Corpus) and y is None:
        if weights is not None:
            raise ValueError("weights are those of sentences in memory; expected (X, y) as data")
        if isinstance(data, Corpus):
            return data
        _check_not_given({key: options.pop(key, None) for key in ("sentence", "word")}, data)
        return Corpus.read(paths(data), columns=columns, **options)
    if form == "xy":
        data, y = data
    if form is None and y is None:
        raise TypeError(_unknown(data, name))
    of_memory = ("sentence", "word", "label", "misaligned", "overlaps")
    known: dict[str, Any] = {key: options.get(key) for key in of_memory}
    if form == "tagged" and columns is not None and known["label"] is None:
        known["label"] = -1
    try:
        return corpus(data, y, columns=columns, weights=weights, **known)
    except ValueError as error:
        row = r"((\w+: )?row \d+(, token \d+)?): "
        raise ValueError(re.sub(f"^{row}", rf"\1 of {name}: ", str(error))) from None


def unlabeled(data: Any, features: bool, **reading: Any) -> Corpus:
    """Read or convert unlabeled sentences."""
    if isinstance(data, Corpus):
        return data
    if files := paths(data):
        corpora = []
        for file in files:
            options = dict(reading)
            if options.get("format") is None and file.lower().removesuffix(".gz").endswith(".txt"):
                options["format"] = "text"
            corpora.append(Corpus.read(file, unlabeled=True, **options))
        return sum(corpora[1:], corpora[0])
    columns = None if features else reading.get("columns")
    if features and kind(data) == "tagged":  # features are tuples
        return Corpus._of(data)
    return corpus(data, columns=columns, unlabeled=True)


def sentences(data: Any) -> Any:
    """Convert tables and documents for a tagger; what it takes itself stays as it is."""
    if isinstance(data, Corpus) or not (_tables.is_table(data) or _docs.is_docs(data)):
        return data
    return corpus(data, unlabeled=True)


def labels_or_corpus(data: Any, name: str, **reading: Any) -> Any:
    """Read or convert what has labels; the labels of sentences stay as they are."""
    if are_labels(data) or kind(data) is None:
        return data
    return labeled(data, name, **reading)


def told_apart(data: Any, second: Any, dev: Any) -> tuple[Any, Any, Any]:
    """Return data, labels and development data, of which `second` is either."""
    if second is None:
        return data, None, dev
    if not are_labels(second, data):
        if dev is not None:
            raise ValueError(
                f"found {described(second)} as y; expected the labels of each sentence, such as "
                "[['B-PER', 'O']]"
            )
        return data, None, second
    form = None if _is_matrix(data) else kind(data)
    has_own = form not in (None, "table", "sentences")
    if isinstance(data, Corpus):
        has_own = any(labels is not None for labels in data.labels)
    if has_own:
        raise ValueError(
            "data have labels of their own, and the second argument looks like labels, too; "
            f"expected (X, y), or development data, such as {FORMS['files']}, "
            f"{FORMS['tagged']} or (X_dev, y_dev)"
        )
    return data, second, dev


def are_labels(value: Any, data: Any = None) -> bool:
    """Return whether an object is the labels of each sentence or, of a table, of each token."""
    if isinstance(value, (str, bytes, Mapping, Corpus, Features)):
        return False
    if _is_column(value):
        return True
    if not isinstance(value, (list, tuple)) or not value:
        return False
    if all(isinstance(item, str) for item in value):
        return _tables.is_table(data)
    is_flat = isinstance(value, tuple) and len(value) == 2  # or else (X, y)
    return all(item is None or _is_label_list(item, is_flat) for item in value)


def _check_not_given(options: dict[str, Any], data: Any) -> None:
    """Check that options of tables are not given."""
    used = ", ".join(name for name, value in options.items() if value is not None)
    if used:
        raise ValueError(f"{used}: columns of tables; found {described(data)}")


def _unknown(data: Any, name: str) -> str:
    """Return the message for data that are none of the forms, with the nearest."""
    found = f"found {described(data)} as {name}"
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    if isinstance(first, (list, tuple)) and all(isinstance(item, str) for item in first):
        return (
            f"{found}, words without labels; expected X, y, such as {FORMS['xy']}, or labels with "
            f"the words, such as {FORMS['tagged']}"
        )
    return f"{found}; expected one of\n  " + "\n  ".join(FORMS.values())


def _is_label_list(item: Any, is_flat: bool = False) -> bool:
    """Return whether an item is the labels of a sentence; if it is flat, a label for each token."""
    if _is_column(item):
        return True
    is_flat = is_flat or isinstance(item, tuple)
    return isinstance(item, (list, tuple)) and all(
        label is None
        or isinstance(label, str)
        or not is_flat
        and isinstance(label, (list, set, frozenset))
        and all(isinstance(name, str) for name in label)
        for label in item
    )


def _is_column(value: Any) -> bool:
    """Return whether an object is an array or a column of a table."""
    is_array = isinstance(value, np.ndarray) and not _is_matrix(value)
    return is_array or _tables.is_column(value)


def _is_matrix(value: Any) -> bool:
    return hasattr(value, "tocsr") or (
        isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf"
    )


def template(value: Any) -> Template | None:
    """Return a template given as an object, a file or the name of one that comes along."""
    if value is None or isinstance(value, Template):
        return value
    if isinstance(value, os.PathLike) or isinstance(value, str) and os.path.isfile(value):
        return Template.read(value)
    if not isinstance(value, str):
        raise TypeError(f"found {described(value)} as template; expected a name, file or Template")
    if value in Template.shipped_names():
        return Template.shipped(value)
    if "\n" in value:
        raise ValueError("found the text of a template; expected Template(text)")
    names = ", ".join(Template.shipped_names())
    raise FileNotFoundError(
        f"template {value!r}: there is no such file or template; expected a file or one of {names}"
    )


def tagger(value: Any, name: str) -> Tagger | None:
    """Return a model given as a tagger or a file."""
    if value is None or isinstance(value, Tagger):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Tagger.open(value)
    raise TypeError(f"found {described(value)} as {name}; expected a Tagger or the file of a model")


def sample_corpus(
    part: Literal["train", "dev", "test"] = "train", *, label: Literal["ner", "upos"] = "ner"
) -> Corpus:
    """Return a part of a small English corpus that comes with dropchain, for first steps.

    Parameters
    ----------
    part : {"train", "dev", "test"}
        1,076, 311 or 311 sentences.
    label : {"ner", "upos"}
        Labels are named entities or parts of speech. The other is a column.

    Examples
    --------
    >>> import dropchain
    >>> dropchain.sample_corpus("dev")
    <Corpus of 311 sentences, 3844 tokens>
    """
    if label not in ("ner", "upos"):
        raise ValueError(f"label '{label}'; expected 'ner' or 'upos'")
    text, columns = sample_text(part), ["word", "upos", "ner"]
    name = f"sample-{part}.conll"
    return Corpus.parse(text, format="conll", columns=columns, label=label, name=name)
