"""Features as matrices."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


class Features:
    """Features as a matrix: a row for each token, a column for each feature.

    Where features of sentences are expected, this class adds names to a matrix, or divides one
    matrix into sentences.

    Parameters
    ----------
    values : array or sparse matrix
        Numbers, of shape (tokens, features). Zeros are features that a token does not have.
    names : iterable of str, optional
        The names of the columns; by default ``f0``, ``f1`` and so on.
    lengths : iterable of int, optional
        The number of tokens of each sentence; by default there is one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from dropchain import Features
    >>> X = Features(np.eye(3), names=["noun", "verb", "digit"], lengths=[2, 1])
    >>> len(X), X[0]
    (2, <Features of 2 tokens: 3 columns>)
    """

    def __init__(
        self,
        values: Any,
        names: Iterable[str] | None = None,
        lengths: Iterable[int] | None = None,
    ) -> None:
        values = values.tocsr() if hasattr(values, "tocsr") else np.asarray(values)
        if len(values.shape) != 2:
            raise ValueError(
                f"found an array of {len(values.shape)} dimensions; expected 2: tokens and features"
            )
        if values.dtype.kind not in "biuf":
            raise ValueError(f"found a matrix of {values.dtype} as features; expected numbers")
        tokens, width = values.shape
        self.values = values
        self.names = None if names is None else [_name(name) for name in names]
        if self.names is not None and len(self.names) != width:
            raise ValueError(f"found {len(self.names)} names for {width} columns")
        self.lengths = [tokens] if lengths is None else [operator.index(n) for n in lengths]
        if any(n < 0 for n in self.lengths) or sum(self.lengths) != tokens:
            raise ValueError(
                f"the lengths sum up to {sum(self.lengths)}; expected {tokens}, the number of rows"
            )
        self._ends = np.cumsum(self.lengths).tolist()

    def _rows(self) -> tuple[list[str], list[int], Any, Any]:
        """Return the names of columns, and of the values that are not 0 where the rows end, their
        columns and these values."""
        values = self.values
        if hasattr(values, "tocsr"):
            ends, columns, values = values.indptr[1:], values.indices, values.data
        else:
            rows, columns = np.nonzero(values)
            ends = np.cumsum(np.bincount(rows, minlength=len(values)))
            values = values[rows, columns]
        names = self.names or [f"f{i}" for i in range(self.values.shape[1])]
        return names, ends.tolist(), columns.astype("int64"), values.astype("float64")

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Features:
        end = self._ends[index]
        return Features(self.values[end - self.lengths[index] : end], self.names)

    def __iter__(self) -> Iterator[Features]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        tokens, width = self.values.shape
        sentences = f" in {len(self)} sentences" if len(self) != 1 else ""
        return f"<Features of {tokens} tokens{sentences}: {width} columns>"


def rows(value: Any) -> tuple[list[str], list[int], Any, Any] | None:
    """Return the rows of a matrix: see :meth:`Features._rows`; None of anything else, such as an
    array of words."""
    is_array = isinstance(value, np.ndarray) and (value.ndim != 1 or value.dtype.kind in "biuf")
    if is_array or hasattr(value, "tocsr"):
        value = Features(value)
    return value._rows() if isinstance(value, Features) else None


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"found {name!r} as the name of a feature; expected a string")
    return name
