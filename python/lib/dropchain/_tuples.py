"""Sentences as tuples: words with their tags, tokens and labels, texts with spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dropchain._dropchain import Corpus


def of_offsets(
    examples: Any, unlabeled: bool, weights: Iterable[float] | None, spans: dict[str, str | None]
) -> Corpus:
    """Convert texts with spans of characters, as spaCy trains on them."""
    lines = []
    for i, example in enumerate(examples):
        if not is_offsets(example):
            raise ValueError(
                f"data[{i}]: found {described(example)}; expected a text and its entities, such "
                f"as [('Ada left', {{'entities': [(0, 3, 'PER')]}})]"
            )
        text, annotation = example
        found = []
        for n, span in enumerate(annotation.get("entities") or ()):
            try:
                start, end, label = span[:3]
                found.append({"start": int(start), "end": int(end), "label": str(label)})
            except (TypeError, ValueError):
                raise ValueError(
                    f"data[{i}]: found {described(span)} as entity {n}; expected (start, end, "
                    "label)"
                ) from None
        lines.append(json.dumps({"text": text, "spans": found}))
    if weights is not None:
        raise ValueError("weights are those of sentences, which texts are split into")
    try:
        return Corpus.parse(
            "\n".join(lines), format="spans", name="data", unlabeled=unlabeled, **spans
        )
    except ValueError as error:
        message = re.sub(
            r"^data:(\d+): ", lambda m: f"data[{int(m[1]) - 1}]: ", str(error), flags=re.M
        )
        raise ValueError(message) from None


def of_rows(
    sentences: Any, columns: list[str] | None, label: str | int | None, unlabeled: bool
) -> tuple[Any, Any, list[str] | None]:
    """Divide tokens as tuples into their columns and labels."""
    if columns is None:
        width = next(len(token) for sentence in sentences for token in sentence)
        if width != 2:
            raise ValueError(
                f"found tokens of {width} values; expected their names, such as "
                "columns='word,pos,label'"
            )
        columns, label = ["word", "label"], "label"
    if label is None:
        return sentences, None, columns
    if isinstance(label, int) or label not in columns:
        try:
            label = columns[int(label)]
        except (ValueError, IndexError):
            raise ValueError(
                f"no column '{label}' to take labels from; the columns are {', '.join(columns)}"
            ) from None
    at = columns.index(label)
    words: list[Any] = []
    labels: list[Any] = []
    for i, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            if not isinstance(token, (list, tuple)) or len(token) != len(columns):
                raise ValueError(
                    f"X[{i}][{t}]: found {described(token)} as a token; expected a value for each "
                    f"of the columns {' '.join(columns)}"
                )
        labels.append([token[at] for token in sentence])
        words.append([(*token[:at], *token[at + 1 :]) for token in sentence])
    rest = [name for name in columns if name != label]
    if rest == ["word"]:
        return [[token[0] for token in row] for row in words], None if unlabeled else labels, None
    return words, None if unlabeled else labels, rest


def is_offsets(item: Any) -> bool:
    is_two = isinstance(item, (list, tuple)) and len(item) == 2
    return is_two and isinstance(item[0], str) and isinstance(item[1], Mapping)


def is_pair(item: Any) -> bool:
    """Return whether an item is tokens and their labels."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    return not isinstance(item[0], (str, bytes)) and isinstance(item[1], (list, tuple, np.ndarray))


def is_row(token: Any) -> bool:
    """Return whether a token is a word with its tag, or with more."""
    return (
        isinstance(token, tuple)
        and len(token) >= 2
        and all(value is None or isinstance(value, str) for value in token)
        and isinstance(token[0], str)
    )


def described(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:  # a list in a list in a list …
        text = "?"
    if len(text) > 60:
        text = text[:60] + "…"
    return f"{text} ({type(value).__name__})"
