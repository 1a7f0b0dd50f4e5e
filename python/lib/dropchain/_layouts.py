"""How the rows of a table are sentences: one for each sentence, or one for each token."""

from __future__ import annotations

import re
import warnings
from typing import Any


class Rows:
    """A row for each sentence."""

    def __init__(self, words: list[Any], word: str) -> None:
        self.count = len(words)

    def divided(self, values: list[Any], name: str) -> list[list[Any]]:
        """Return the values of each sentence."""
        if len(values) != self.count:
            raise ValueError(f"{name}: found {len(values)} rows; expected {self.count}")
        rows = []
        for i, value in enumerate(values):
            if isinstance(value, str) or not hasattr(value, "__iter__"):
                raise ValueError(f"row {i}: found {value!r} in '{name}'; expected a list")
            rows.append(listed(value))
        return rows

    def place(self, i: int, t: int) -> str:
        """Return where a token is."""
        return f"row {i}, token {t}"

    def check(self, i: int, row: list[Any], name: str) -> None:
        """Check that there is a string at every token."""
        for t, value in enumerate(row):
            if not isinstance(value, str):
                fault = self.fault(value, name)
                raise ValueError(f"{self.place(i, t)}: {fault}; expected a string")

    def fault(self, value: Any, name: str) -> str:
        """Return what is wrong with a value that is no string."""
        return f"found {shown(value)} in '{name}'"

    def say_unknown(self, tags: list[list[Any]], name: str) -> None:
        """Say nothing: None in a list is an unknown label."""

    def in_table(self, message: str) -> str:
        """Name the place in the table in a message of :class:`Corpus`."""
        match = re.match(r"[Xy]\[(\d+)\]\[(\d+)\]: ", message)
        if match is None:
            return message
        return f"{self.place(int(match[1]), int(match[2]))}: {message[match.end():]}"


class Tokens(Rows):
    """A row for each token: adjacent rows with the same value in some columns are a sentence."""

    def __init__(self, words: list[Any], word: str, ids: list[str], table: Any) -> None:
        super().__init__(words, word)
        columns = [table.column(name) for name in ids]
        self.starts: list[int] = []
        named = ids[0] if len(ids) == 1 else f"({', '.join(ids)})"
        values = columns[0] if len(columns) == 1 else list(zip(*columns))
        is_empty = [is_missing(value) or value == "" for value in values]
        if is_empty and is_empty[0]:
            raise ValueError(f"row 0: '{named}' has no value; expected that of its sentence")
        gaps = sum(is_empty)
        before: Any = None
        seen: set[Any] = set()
        again = None
        for row, value in enumerate(values):
            if is_empty[row] or (self.starts and value == before):
                continue
            try:
                again = row if again is None and value in seen else again
                seen.add(value)
            except TypeError:
                raise ValueError(
                    f"row {row}: found {shown(value)} in '{named}'; expected a number or a string"
                ) from None
            self.starts.append(row)
            before = value
        self.ends = [*self.starts[1:], self.count][: len(self.starts)]
        if gaps:
            _warn(
                f"column '{named}' is empty in {gaps} of {self.count} rows: a sentence goes on "
                "until the next value"
            )
        if again is not None:
            _warn(
                f"column '{named}' has {shown(values[again])} again in row {again}, after other "
                "sentences: it is read as another sentence (expected the rows of a sentence one "
                "after another)"
            )

    def divided(self, values: list[Any], name: str) -> list[list[Any]]:
        if len(values) != self.count:
            raise ValueError(f"{name}: found {len(values)} rows; expected {self.count}")
        return [values[start:end] for start, end in zip(self.starts, self.ends)]

    def place(self, i: int, t: int) -> str:
        return f"row {self.starts[i] + t}"

    def fault(self, value: Any, name: str) -> str:
        if not is_missing(value):
            return super().fault(value, name)
        return (
            f"'{name}' has no value (pandas reads texts such as NA and null as missing: "
            "read_csv(…, keep_default_na=False))"
        )

    def say_unknown(self, tags: list[list[Any]], name: str) -> None:
        unknown = [
            (i, t) for i, row in enumerate(tags) for t, tag in enumerate(row) if tag is None
        ]
        if unknown:
            _warn(
                f"column '{name}' is empty in {len(unknown)} of {self.count} rows, first in "
                f"{self.place(*unknown[0])}: these labels are unknown"
            )


def listed(values: Any) -> list[Any]:
    """Return the items of an array, a column or any iterable as a list."""
    if isinstance(values, list):
        return values
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [value for value in values]  # not list(…), which trusts __len__


def is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)
