"""Tables: frames of pandas and polars, of pyarrow, data sets of HuggingFace, dicts of columns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dropchain import _dropchain
from dropchain._dropchain import Corpus
from dropchain._tuples import described

# The tag that HuggingFace's libraries ignore.
IGNORED = -100

# Names of columns in lower case, without anything but letters and digits.
_SENTENCES = ("sentence", "sentenceid", "sentid", "sentenceidx", "sentenceno", "sent", "sentidx")
_WORDS = ("word", "words", "token", "tokens", "form", "forms", "text")


class Table:
    """The columns of a table, whatever it is."""

    def __init__(self, data: Any) -> None:
        self.features = getattr(data, "features", None)
        self.height: int | None = None
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
        return self.rows(self._get(name), name)

    def rows(self, values: Any, name: str) -> list[Any]:
        """Return values as a list, of which there must be one for each row."""
        found = listed(values)
        self.height = len(found) if self.height is None else self.height
        if len(found) != self.height:
            raise ValueError(f"{name}: found {len(found)} rows; expected {self.height}")
        return found

    def named(self, what: str, argument: str, usual: tuple[str, ...]) -> str:
        """Return the column with the first of the usual names."""
        plain = {re.sub(r"[\W_]", "", name.lower()): name for name in reversed(self.names)}
        found = next((plain[name] for name in usual if name in plain), None)
        if found is None:
            raise ValueError(
                f"the column {what} is not clear; expected {argument}=… as one of "
                + ", ".join(self.names)
            )
        return found

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
        found = named[0] if len(named) == 1 else _dropchain.label_column(named or others)
        if found is not None:
            return found
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


class Rows:
    """How the rows of a table are sentences: a row with lists is a sentence, another a token."""

    def __init__(self, table: Table, word: str, sentence: str | Iterable[str] | None) -> None:
        self.ids = [sentence] if isinstance(sentence, str) else listed(sentence or [])
        # The rows with which sentences begin, if a row is a token.
        self.starts: list[int] | None = None
        words = table.column(word)
        self.height = len(words)
        if not _is_list(next((value for value in words if not is_missing(value)), None)):
            if not self.ids:
                self.ids = [table.named("that tells sentences apart", "sentence", _SENTENCES)]
            self.starts = _starts(table, self.ids)

    def divided(self, values: list[Any], name: str) -> list[list[Any]]:
        """Return the values of each sentence."""
        if self.starts is not None:
            ends = [*self.starts[1:], self.height][: len(self.starts)]
            return [values[start:end] for start, end in zip(self.starts, ends)]
        for i, value in enumerate(values):
            if not _is_list(value):
                raise ValueError(f"row {i}: found {described(value)} in '{name}'; expected a list")
        return [listed(value) for value in values]

    def strings(self, values: list[Any], name: str) -> list[list[str]]:
        """Return the values of each sentence, of which each must be a string."""
        found = self.divided(values, name)
        for i, row in enumerate(found):
            for t, value in enumerate(row):
                if isinstance(value, str):
                    continue
                fault = f"found {described(value)} in '{name}'; expected a string"
                if self.starts is not None and is_missing(value):
                    fault = (
                        f"'{name}' has no value (pandas reads texts such as NA and null as "
                        "missing: read_csv(…, keep_default_na=False)); expected a string"
                    )
                raise ValueError(f"{self.place(i, t)}: {fault}")
        return found

    def place(self, i: int, t: int) -> str:
        """Return where a token is."""
        return f"row {i}, token {t}" if self.starts is None else f"row {self.starts[i] + t}"

    def placed(self, message: str) -> str:
        """Name the place in the table in a message of :class:`Corpus`."""
        match = re.match(r"[Xy]\[(\d+)\]\[(\d+)\]: ", message)
        if match is None:
            return message
        return f"{self.place(int(match[1]), int(match[2]))}: {message[match.end():]}"


def _starts(table: Table, ids: list[str]) -> list[int]:
    """Return the rows with which sentences begin: those with another value in some columns than
    the row before."""
    starts: list[int] = []
    seen: set[Any] = set()
    before = again = None
    gaps, named = 0, ", ".join(ids)
    for row, values in enumerate(zip(*(table.column(name) for name in ids))):
        if all(is_missing(value) or value == "" for value in values):
            if not starts:
                raise ValueError(f"row 0: '{named}' has no value; expected that of its sentence")
            gaps += 1
            continue
        if starts and values == before:
            continue
        found = described(values[0] if len(ids) == 1 else values)
        try:
            if again is None and values in seen:
                again = f"column '{named}' has {found} again in row {row}"
            seen.add(values)
        except TypeError:
            message = f"row {row}: found {found} in '{named}'; expected a number or a string"
            raise ValueError(message) from None
        starts.append(row)
        before = values
    if gaps:
        _warn(
            f"column '{named}' is empty in {gaps} of {table.height} rows: a sentence goes on "
            "until the next value"
        )
    if again is not None:
        _warn(
            f"{again}, after other sentences: it is read as another sentence (expected the rows "
            "of a sentence one after another)"
        )
    return starts


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
    word = word or table.named("of the words", "word", _WORDS)
    rows = Rows(table, word, sentence)
    if unlabeled or labels is not None:
        label = None
    elif label is None:
        label = table.label(word, rows.ids)
    words = rows.strings(table.column(word), word)
    taken = {word, label, *rows.ids}
    others = {}
    is_chosen = columns is not None
    # By default the columns of strings, but of a data set none.
    for name in table.names if not is_chosen and table.features is None else columns or ():
        if name in taken or not is_chosen and name in ("word", "form", "label"):
            continue
        try:
            others[name] = _one_for_each(rows.strings(table.column(name), name), words, name)
        except ValueError:
            if is_chosen:
                raise
    sentences: Any = words
    if others:
        sentences = [list(zip(*cells)) for cells in zip(words, *others.values())]
    tags = None if unlabeled else labels if label is None else table.column(label)
    if tags is not None:
        own, given = [] if label is None else table.tag_names(label), listed(names or [])
        known = _dropchain.label_names(own, given)
        name = label or "y"
        if given and known != given:
            _warn(f"names are those of '{name}' in another order: its own order is kept")
        tags = _one_for_each(rows.divided(table.rows(tags, name), name), words, name)
        tags = _labels(tags, known, rows, name)
    # A row is a token, or a sentence.
    numbers = (list(range(rows.height)), False) if rows.starts is None else (rows.starts, True)
    names = ["word", *others] if others else None
    try:
        return Corpus._of(sentences, tags, names, weights, rows=numbers)
    except ValueError as error:
        raise ValueError(rows.placed(str(error))) from None


def _one_for_each(column: list[Any], words: list[Any], name: str) -> list[Any]:
    """Return the values of a column, of which there must be one for each token."""
    for i, (values, tokens) in enumerate(zip(column, words)):
        if len(values) != len(tokens):
            raise ValueError(
                f"row {i}: found {len(values)} values in '{name}' for {len(tokens)} tokens; "
                "expected one for each"
            )
    return column


def _labels(tags: list[Any], names: list[str], rows: Rows, column: str) -> list[Any]:
    """Return tags by their names; what has no value is unknown."""
    labels = [
        [
            tag if isinstance(tag, str) else _tag(tag, names, f"{column}: {rows.place(i, t)}")
            for t, tag in enumerate(row)
        ]
        for i, row in enumerate(tags)
    ]
    places = ((i, t) for i, row in enumerate(labels) for t, tag in enumerate(row) if tag is None)
    unknown = [rows.place(i, t) for i, t in places]
    if unknown and rows.starts is not None:
        _warn(
            f"column '{column}' is empty in {len(unknown)} of {rows.height} rows, first in "
            f"{unknown[0]}: these labels are unknown"
        )
    return labels


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


def listed(values: Any) -> list[Any]:
    """Return the items of an array, a column or any iterable as a list."""
    if isinstance(values, list):
        return values
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [value for value in values]  # not list(…), which trusts __len__


def is_missing(value: Any) -> bool:
    """Return whether a cell has no value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _is_list(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__iter__")


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)


def _tag(tag: Any, names: list[str], place: str) -> Any:
    if isinstance(tag, (list, tuple)):
        return tag
    if is_missing(tag):
        return None
    try:
        number = int(tag)
        if number != tag:  # a fraction
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{place}: found {described(tag)} as a tag; expected its number or name"
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
