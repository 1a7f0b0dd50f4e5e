"""Training data in any form."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from dropchain import _datasets
from dropchain._dropchain import AttributeCorpus, Corpus, Sentence, Tagger, Template
from dropchain._features import Features


def paths(data: Any) -> list[str]:
    """Return the names of files, if `data` is one or several; otherwise none."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)]
    if isinstance(data, (list, tuple)) and data:
        if all(isinstance(item, (str, os.PathLike)) for item in data):
            return [os.fspath(item) for item in data]
    return []


def column_names(columns: Iterable[str] | None) -> list[str] | None:
    """Return the names of columns as a list."""
    if isinstance(columns, str):
        raise TypeError(f"found {columns!r} (str) as columns; expected a list of names")
    return None if columns is None else list(columns)


def labeled(
    data: Any,
    name: str,
    *,
    compact: bool = False,
    columns: Iterable[str] | None = None,
    label: str | int | None = None,
    weights: Iterable[float] | None = None,
    **reading: Any,
) -> Corpus | AttributeCorpus:
    """Read or convert labeled sentences; `name` is that of the argument.

    Features in memory become an `AttributeCorpus` if it is to be `compact`.
    """
    columns = column_names(columns)
    if weights is not None and not isinstance(data, tuple):
        raise ValueError("weights are those of sentences in memory; expected (X, y) as data")
    if isinstance(data, (Corpus, AttributeCorpus)):
        return data
    if files := paths(data):
        return Corpus.read(files, columns=columns, label=label, **reading)
    if _datasets.is_dataset(data):
        label = None if label is None else str(label)
        return Corpus.from_dataset(data, label=label, columns=columns)
    if isinstance(data, tuple) and len(data) == 2:
        sentences, labels = data
        return _from_memory(sentences, labels, compact, columns, weights)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Sentence):
        return Corpus(data)
    raise TypeError(
        f"found {_describe(data)} as {name}; expected a Corpus, files, sentences and labels "
        "(X, y), or a data set"
    )


def unlabeled(data: Any, features: bool, **reading: Any) -> Corpus:
    """Read or convert unlabeled sentences."""
    if isinstance(data, Corpus):
        return data
    if files := paths(data):
        corpus = None
        for file in files:
            options = dict(reading)
            if options.get("format") is None and file.lower().removesuffix(".gz").endswith(".txt"):
                options["format"] = "text"
            part = Corpus.read(file, unlabeled=True, **options)
            corpus = part if corpus is None else corpus + part
        assert corpus is not None
        return corpus
    if _datasets.is_dataset(data):
        return Corpus.from_dataset(data, unlabeled=True)
    columns = None if features else reading.get("columns")
    return Corpus(data, columns=columns)


def _from_memory(
    sentences: Any,
    labels: Any,
    compact: bool,
    columns: list[str] | None,
    weights: Iterable[float] | None,
) -> Corpus | AttributeCorpus:
    if _is_matrix(sentences):
        raise ValueError(
            "X is one matrix; expected a list of matrices, one for each sentence, or "
            "Features(X, lengths=…)"
        )
    if isinstance(sentences, (str, bytes, dict)):
        raise ValueError(f"found {_describe(sentences)} as X; expected a list of sentences")
    if isinstance(sentences, Features):
        labels = _divide(labels, sentences.lengths)
    if not isinstance(sentences, (list, tuple, Corpus)):
        sentences = list(sentences)
    if weights is not None:
        weights = [float(weight) for weight in weights]
    if isinstance(sentences, Corpus) or columns is not None or _has_words(sentences):
        return Corpus(sentences, labels, columns=columns, weights=weights)
    if compact:
        return AttributeCorpus(sentences, labels, weights)
    return Corpus(sentences, labels, weights=weights)


def _is_matrix(value: Any) -> bool:
    return hasattr(value, "tocsr") or (
        isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf"
    )


def _has_words(sentences: Any) -> bool:
    """Return whether the first token is a word, or all sentences are empty."""
    for sentence in sentences:
        if isinstance(sentence, Sentence):
            return sentence.features is None
        if isinstance(sentence, (str, bytes, dict, Features)) or _is_matrix(sentence):
            return isinstance(sentence, (str, bytes, dict))
        for token in sentence if hasattr(sentence, "__iter__") else ():
            return isinstance(token, str)
    return True


def _divide(labels: Any, lengths: list[int]) -> Any:
    """Divide the labels of all tokens into those of sentences, unless they are already."""
    if labels is None:
        return None
    labels = list(labels)
    if not labels or not isinstance(labels[0], str):
        return labels
    if len(labels) != sum(lengths):
        raise ValueError(f"y has {len(labels)} labels for {sum(lengths)} tokens")
    ends = np.cumsum(lengths).tolist()
    return [labels[end - length : end] for end, length in zip(ends, lengths)]


def template(value: Any) -> Template | None:
    """Return a template given as an object, a file or the name of one that comes along."""
    if value is None or isinstance(value, Template):
        return value
    if isinstance(value, os.PathLike):
        return Template.read(value)
    if not isinstance(value, str):
        raise TypeError(f"found {_describe(value)} as template; expected a name, file or Template")
    if os.path.isfile(value):
        return Template.read(value)
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
    raise TypeError(f"found {_describe(value)} as {name}; expected a Tagger or the file of a model")


def _describe(value: Any) -> str:
    text = repr(value)
    if len(text) > 60:
        text = text[:60] + "…"
    return f"{text} ({type(value).__name__})"
