"""Tagging columns of Arrow tables, batches and pandas frames: the function for Ray Data and Dask.

>>> import pyarrow, dropchain
>>> from dropchain.arrow import tag
>>> sample = dropchain.sample_corpus()
>>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
>>> table = pyarrow.table({"id": [1, 2], "text": ["She lives in London.", None]})
>>> tag(table, tagger, column="text")["spans"].to_pylist()
[[{'start': 13, 'end': 19, 'type': 'LOC', 'text': 'London'}], None]

pyarrow is imported when it is used: the package does not depend on it.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from dropchain._dropchain import ArrowArray, Tagger, tag_arrow

__all__ = ["ArrowArray", "tag", "tag_array"]

#: Maximum number of models that a process keeps.
_KEPT = 4

_lock = threading.Lock()
_taggers: dict[str, tuple[Any, Tagger]] = {}


def tag_array(
    array: Any, model: Tagger | str | os.PathLike[str], *, output: str = "spans"
) -> ArrowArray:
    """Tag each row of an Arrow array.

    Any library with the PyCapsule interface of Arrow will do; no strings are made in Python, and
    the GIL is released.

    Parameters
    ----------
    array : Arrow array
        An object with ``__arrow_c_array__``. Its rows are texts (``string``), sentences
        (``list<string>``: the tokens), or sentences with columns
        (``list<struct<word: string, pos: string, …>>``). Rows that are null stay null.
    model : Tagger or path
        A model with a template. A file is read once by each process, and again when it changes.
    output : {"spans", "labels", "jsonl"}
        See :func:`tag`.

    Returns
    -------
    ArrowArray
        As long as `array`; ``pyarrow.array(…)`` takes it without a copy.
    """
    return tag_arrow(opened(model), array, output)


def tag(
    data: Any,
    model: Tagger | str | os.PathLike[str],
    *,
    column: str = "text",
    output: str = "spans",
    name: str | None = None,
) -> Any:
    """Tag a column of a table, and return the table with a new column at its end.

    Texts are split into sentences and tokens as :meth:`Tagger.tag_text` does. The sentences of a
    text are a document for models that look at documents; a sentence of tokens is alone.

    Parameters
    ----------
    data : pyarrow.Table, pyarrow.RecordBatch or pandas.DataFrame
        Its rows and other columns stay as they are.
    model : Tagger or path
        A model with a template. A file is read once by each process, and again when it changes;
        a tagger that is sent to other processes is pickled with all of its weights.
    column : str
        The column to tag. See :func:`tag_array` for its types.
    output : {"spans", "labels", "jsonl"}
        What each row gets. ``"spans"``: a list of structs, of a text `start`, `end`
        (characters), `type` and `text`, of a sentence `token_start`, `token_end` and `type`.
        ``"labels"``: a list with the label of each token, through all sentences of a text.
        ``"jsonl"``: the lines of ``dropchain tag --output jsonl``, without the last line feed;
        positions count from the beginning of the text.
    name : str, optional
        The name of the new column, by default `output`.

    Returns
    -------
    pyarrow.Table, pyarrow.RecordBatch or pandas.DataFrame
        What `data` is. In a frame the new column has a ``pandas.ArrowDtype``.
    """
    pa = _pyarrow()
    tagger = opened(model)
    is_frame = _is_frame(data)
    if not is_frame and not isinstance(data, (pa.Table, pa.RecordBatch)):
        kind = type(data).__name__
        raise ValueError(
            f"found data of the type {kind}; expected a pyarrow.Table, a pyarrow.RecordBatch or a "
            "pandas.DataFrame"
        )
    names = list(data.columns) if is_frame else data.schema.names
    name = check_names(names, column, output if name is None else name)
    if is_frame:
        return _tag_frame(pa, data, tagger, column, output, name)
    values = data.column(names.index(column))
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    first, tagged = 0, []
    for chunk in chunks or [pa.array([], values.type)]:
        tagged.append(pa.array(tag_values(tagger, chunk, column, output, first)))
        first += len(chunk)
    is_table = isinstance(data, pa.Table)
    added = pa.chunked_array(tagged) if is_table else tagged[0]
    schema = data.schema.append(pa.field(name, added.type))
    return type(data).from_arrays([*data.columns, added], schema=schema)


def _tag_frame(
    pa: Any, frame: Any, tagger: Tagger, column: str, output: str, name: str
) -> Any:
    import pandas

    values = pa.array(frame[column], from_pandas=True)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    tagged = pa.array(tag_values(tagger, values, column, output))
    series = pandas.Series(
        pandas.arrays.ArrowExtensionArray(tagged), index=frame.index, name=name
    )
    return frame.assign(**{name: series})


def tag_values(
    tagger: Tagger, values: Any, column: str, output: str, first: int = 0
) -> ArrowArray:
    """Tag the values of a column; messages name it, and count rows from `first`."""
    try:
        return tag_arrow(tagger, values, output, first)
    except ValueError as error:
        raise ValueError(f"column '{column}': {error}") from None


def check_names(names: list[Any], column: str, name: str) -> str:
    """Return the name of the new column, if there is a column to tag and none of this name."""
    if names.count(column) != 1:
        found = "no column" if column not in names else "several columns"
        listed = ", ".join(map(str, names[:30])) + (", …" if len(names) > 30 else "")
        raise ValueError(f"{found} '{column}'; the columns are {listed or '(none)'}")
    if name in names:
        raise ValueError(f"there is a column '{name}'; expected another name for the new one")
    return name


def opened(model: Tagger | str | os.PathLike[str]) -> Tagger:
    """Return a tagger; that of a file is read once, unless the file changes."""
    if isinstance(model, Tagger):
        return model
    path = os.path.realpath(model)
    state = os.stat(path)
    fingerprint = (state.st_ino, state.st_size, state.st_mtime_ns)
    with _lock:
        kept = _taggers.pop(path, None)
        if kept is None or kept[0] != fingerprint:
            kept = (fingerprint, Tagger.open(path))
        _taggers[path] = kept
        while len(_taggers) > _KEPT:
            del _taggers[next(iter(_taggers))]
    return kept[1]


def _is_frame(data: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "dropchain.arrow.tag needs pyarrow 14 or later: pip install pyarrow"
        ) from error
    return pyarrow
