"""Tables: frames of pandas and polars, of pyarrow, data sets of HuggingFace, dicts of columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dropchain._dropchain import Corpus
from dropchain._layouts import Rows, Tokens, is_missing, listed, shown

#: The tag that HuggingFace's libraries ignore.
IGNORED = -100

#: Names of columns in lower case, without anything but letters and digits.
_SENTENCES = ("sentence", "sentenceid", "sentid", "sentenceidx", "sentenceno", "sent", "sentidx")
_WORDS = ("word", "words", "token", "tokens", "form", "forms", "text")
_LABELS = ("label", "labels", "tag", "tags", "ner", "entity", "entities", "iob", "bio")


class Table:
    """The columns of a table, whatever it is."""

    def __init__(self, data: Any) -> None:
        _check_is_split(data)
        self.features = getattr(data, "features", None)
        self.takes_all = self.features is None  # columns of strings, unless some are chosen
        if hasattr(data, "validate"):  # of pyarrow, which trusts the offsets of others
            data.validate(full=True)
        if _is_frame(data) and any(getattr(getattr(data, "index", None), "names", ())):
            data = data.reset_index()
        self._get: Callable[[str], Any] = lambda name: data[name]
        if isinstance(data, (list, tuple)):
            self.names = list(data[0])
            self._get = lambda name: _column_of_rows(data, name)
        elif isinstance(data, Mapping):
            self.names = list(data)
        else:
            self.names = list(data.columns if _is_frame(data) else data.column_names)
        for name in self.names:
            if not isinstance(name, str):
                raise ValueError(f"found a column with the name {name!r}; expected a string")
            if self.names.count(name) > 1:
                raise ValueError(f"two columns have the name '{name}'; expected different names")

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        if name not in self.names:
            raise ValueError(f"no column '{name}'; the columns are {', '.join(self.names)}")
        return listed(self._get(name))

    def find(self, usual: tuple[str, ...]) -> str | None:
        """Return the column with the first of the usual names."""
        plain = {re.sub(r"[\W_]", "", name.lower()): name for name in reversed(self.names)}
        return next((plain[name] for name in usual if name in plain), None)

    def tag_names(self, label: str) -> list[str]:
        """Return the names of tags, as far as the data set has them."""
        features = self.features
        feature = features[label] if features is not None and label in features else None
        feature = getattr(feature, "feature", feature)
        names = getattr(feature, "names", None)
        return [] if names is None else list(names)

    def label(self, word: str, sentences: list[str]) -> str:
        """Return the only column that can have the labels."""
        others = [name for name in self.names if name != word and name not in sentences]
        named = [name for name in others if self.tag_names(name)]
        exact = [name for name in others if name.lower() in _LABELS[:4]]
        likely = [name for name in others if name.lower() in _LABELS or "tags" in name.lower()]
        for candidates in (named, exact, likely):
            if len(candidates) == 1:
                return str(candidates[0])
            if candidates:
                break
        raise ValueError(
            "the column of the tags is not clear; expected label=… as one of "
            + ", ".join(self.names)
        )


def is_table(data: Any) -> bool:
    """Return whether an object is a table: of columns, or rows as dicts."""
    if isinstance(data, (Corpus, str, bytes)):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and isinstance(data[0], Mapping)
    return (
        isinstance(data, Mapping)
        or _is_frame(data)
        or hasattr(data, "column_names") and (hasattr(data, "features") or hasattr(data, "schema"))
    )


def _is_frame(data: Any) -> bool:
    """Return whether an object is a frame of pandas or polars."""
    return hasattr(data, "columns") and hasattr(data, "dtypes")


def is_column(data: Any) -> bool:
    """Return whether an object is a column of a table."""
    is_whole = hasattr(data, "columns") or hasattr(data, "column_names")
    return not is_whole and (hasattr(data, "to_list") or hasattr(data, "to_pylist"))


def corpus(
    data: Any,
    labels: Any = None,
    *,
    sentence: str | Iterable[str] | None = None,
    word: str | None = None,
    label: str | None = None,
    columns: list[str] | None = None,
    names: Iterable[str] | None = None,
    unlabeled: bool = False,
    weights: Iterable[float] | None = None,
) -> Corpus:
    """Convert a table with a row for each sentence, which has lists, or for each token."""
    table = Table(data)
    word = word or table.find(_WORDS)
    if word is None:
        raise ValueError(
            "the column of the words is not clear; expected word=… as one of "
            + ", ".join(table.names)
        )
    words = table.column(word)
    first = next((value for value in words if not is_missing(value)), None)
    ids = [sentence] if isinstance(sentence, str) else listed(sentence or [])
    has_lists = first is not None and not isinstance(first, str) and hasattr(first, "__iter__")
    if not has_lists and not ids:
        found = table.find(_SENTENCES)
        if found is None:
            raise ValueError(
                "the column that tells sentences apart is not clear; expected sentence=… as one "
                f"of {', '.join(table.names)}"
            )
        ids = [found]
    if unlabeled or labels is not None:
        label = None
    elif label is None:
        label = table.label(word, ids)
    tags = None if unlabeled else labels if label is None else table.column(label)
    known = listed(names or []) or ([] if label is None else table.tag_names(label))
    others = {name: table.column(name) for name in columns or () if name not in (word, label, *ids)}
    if columns is None and table.takes_all:
        taken = {word, label, *ids, "word", "form", "label"}
        for name in table.names:
            if name not in taken:
                values = table.column(name)
                if _fits(values, words, has_lists):
                    others[name] = values
    layout = Rows(words, word) if has_lists else Tokens(words, word, ids, table)
    cells = [layout.divided(words, word)]
    cells += [layout.divided(values, name) for name, values in others.items()]
    for i, row in enumerate(cells[0]):
        layout.check(i, row, word)
    sentences: Any = cells[0]
    schema = None
    if others:
        schema = ["word", *others]
        sentences = []
        for i, parts in enumerate(zip(*cells)):
            for name, part in zip(others, parts[1:]):
                if len(part) != len(parts[0]):
                    raise ValueError(
                        f"row {i}: column '{name}' has {len(part)} values for {len(parts[0])} "
                        "tokens; expected one for each"
                    )
                layout.check(i, part, name)
            sentences.append(list(zip(*parts)))
    if tags is not None:
        name = label or "y"
        divided = layout.divided(listed(tags), name)
        for i, (row, tokens) in enumerate(zip(divided, cells[0])):
            if len(row) != len(tokens):
                raise ValueError(
                    f"row {i}: found {len(row)} labels for {len(tokens)} tokens; expected one for "
                    "each"
                )
        tags = [
            [
                tag if isinstance(tag, str) else _tag(tag, known, f"{name}: {layout.place(i, t)}")
                for t, tag in enumerate(row)
            ]
            for i, row in enumerate(divided)
        ]
        layout.say_unknown(tags, name)
    try:
        return Corpus._of(sentences, tags, schema, weights)
    except ValueError as error:
        raise ValueError(layout.in_table(str(error))) from None


def to_dict(corpus: Corpus) -> dict[str, list[Any]]:
    """See :meth:`Corpus.to_dict`."""
    sentences = [sentence for sentence in corpus if not sentence.is_document_start]
    if corpus.has_features:
        raise ValueError("the sentences have features; expected words, which become columns")
    names = sentences[0].columns if sentences else ["word"]
    table: dict[str, list[Any]] = {"sentence": []}
    for i, sentence in enumerate(sentences):
        table["sentence"] += [i] * len(sentence)
    for name in names:
        table[name] = [cell for sentence in sentences for cell in sentence.column(name)]
    if sentences and all(sentence.labels is not None for sentence in sentences):
        table["label"] = [label for sentence in sentences for label in sentence.labels or ()]
    return table


def to_frame(corpus: Corpus) -> Any:
    """See :meth:`Corpus.to_frame`."""
    columns = to_dict(corpus)
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


def _column_of_rows(rows: Any, name: str) -> list[Any]:
    column = []
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) or name not in row:
            raise ValueError(f"row {i} has no '{name}'")
        column.append(row[name])
    return column


def _check_is_split(data: Any) -> None:
    if isinstance(data, Mapping) and data:
        first = next(iter(data.values()))
        if hasattr(first, "column_names") or isinstance(first, Mapping):
            splits = ", ".join(map(str, data))
            raise ValueError(
                f"found several data sets ({splits}); expected one of them, such as "
                f"data[{next(iter(data))!r}]"
            )


def _fits(values: list[Any], words: list[Any], has_lists: bool) -> bool:
    """Return whether a column has a string for each token."""
    if not has_lists:
        return all(isinstance(value, str) for value in values)
    are_lists = all(not isinstance(row, str) and hasattr(row, "__iter__") for row in values)
    return are_lists and len(values) == len(words) and all(
        [isinstance(value, str) for value in listed(row)] == [True] * len(listed(tokens))
        for row, tokens in zip(values, words)
    )


def _tag(tag: Any, names: list[str], place: str) -> Any:
    if isinstance(tag, (list, tuple)):
        return tag
    if is_missing(tag):
        return None
    try:
        number = int(tag)
    except (TypeError, ValueError):
        raise ValueError(
            f"{place}: found {shown(tag)} as a tag; expected its number or name"
        ) from None
    if number == IGNORED:
        return None
    if not names:
        raise ValueError(
            f"{place}: found the number {number} as a tag; expected Corpus(…, names=[…])"
        )
    if not 0 <= number < len(names):
        raise ValueError(f"{place}: found the tag {number}; there are {len(names)} names")
    return names[number]
