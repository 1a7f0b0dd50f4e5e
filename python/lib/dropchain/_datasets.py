"""Data sets in the form of HuggingFace's `datasets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dropchain._dropchain import Corpus, Sentence

#: The tag that HuggingFace's libraries ignore.
IGNORED = -100


def is_dataset(data: Any) -> bool:
    """Return whether an object is a data set: a table of columns, or rows as dicts."""
    if isinstance(data, (Corpus, str, bytes)):
        return False
    if hasattr(data, "features") and hasattr(data, "column_names"):
        return True
    if isinstance(data, Mapping):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and isinstance(data[0], Mapping)


def corpus(
    data: Any,
    tokens: str = "tokens",
    label: str | None = None,
    names: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    unlabeled: bool = False,
) -> Corpus:
    """Convert a data set: see :meth:`Corpus.from_dataset`."""
    _check_is_split(data)
    available = _column_names(data)
    known = [] if names is None else list(names)
    if label is None and not unlabeled:
        label = _only_label(data, available, tokens)
    for name in (tokens, *([] if label is None or unlabeled else [label]), *(columns or ())):
        if name not in available:
            raise ValueError(f"no column '{name}'; the columns are {', '.join(available)}")
    words = _column(data, tokens)
    others = {name: _column(data, name) for name in columns or ()}
    tags: list[Any] | None = None
    if label is not None and not unlabeled:
        known = known or _names(data, label)
        tags = _column(data, label)
    sentences = []
    for i, sentence in enumerate(words):
        labels = None
        if tags is not None and label is not None:
            row = enumerate(_list(tags[i]))
            labels = [_tag(tag, known, f"{label}[{i}][{t}]") for t, tag in row]
        more: dict[str, Any] = {name: _list(column[i]) for name, column in others.items()}
        try:
            sentences.append(Sentence(sentence, labels, **more))
        except ValueError as error:
            raise ValueError(f"row {i}: {error}") from None
    return Corpus(sentences)


def _check_is_split(data: Any) -> None:
    if isinstance(data, Mapping) and data:
        first = next(iter(data.values()))
        if hasattr(first, "column_names") or isinstance(first, Mapping):
            splits = ", ".join(map(str, data))
            raise ValueError(f"found several data sets ({splits}); expected one of them")


def _column_names(data: Any) -> list[str]:
    if hasattr(data, "column_names"):
        return list(data.column_names)
    if isinstance(data, Mapping):
        return list(data)
    return list(data[0])


def _column(data: Any, name: str) -> list[Any]:
    if isinstance(data, Mapping) or hasattr(data, "column_names"):
        return list(data[name])
    column = []
    for i, row in enumerate(data):
        if not isinstance(row, Mapping) or name not in row:
            raise ValueError(f"row {i} has no '{name}'")
        column.append(row[name])
    return column


def _list(value: Any) -> list[Any]:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _names(data: Any, label: str) -> list[str]:
    """Return the names of tags, as far as the data set has them."""
    features = getattr(data, "features", None)
    feature = features[label] if features is not None and label in features else None
    feature = getattr(feature, "feature", feature)
    names = getattr(feature, "names", None)
    return [] if names is None else list(names)


def _only_label(data: Any, available: list[str], tokens: str) -> str:
    """Return the only column that can have the tags."""
    named = [name for name in available if _names(data, name)]
    likely = [name for name in available if name != tokens and "tags" in name or name == "labels"]
    for candidates in (named, likely):
        if len(candidates) == 1:
            return candidates[0]
    raise ValueError(
        f"the column of the tags is not clear; expected label=… as one of {', '.join(available)}"
    )


def _tag(tag: Any, names: list[str], place: str) -> Any:
    if tag is None or isinstance(tag, (str, list, tuple)):
        return tag
    try:
        number = int(tag)
    except (TypeError, ValueError):
        raise ValueError(f"{place}: found {tag!r} as a tag; expected its number or name") from None
    if number == IGNORED:
        return None
    if not names:
        raise ValueError(
            f"{place}: found the number {number} as a tag; expected names=… for numbers"
        )
    if not 0 <= number < len(names):
        raise ValueError(f"{place}: found the tag {number}; there are {len(names)} names")
    return names[number]
