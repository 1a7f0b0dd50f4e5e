"""Frames of pandas, which is not a dependency."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dropchain._dropchain import Sentence, Tagger
from dropchain._tables import is_missing, listed

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

# The items of spans.
_OF_TEXTS = ("start", "end", "type", "text", "probability")
_OF_TOKENS = ("token_start", "token_end", "type", "probability")


def tag_frame(
    frame: pandas.DataFrame,
    model: Tagger | str | os.PathLike[str],
    *,
    column: str = "text",
    output: str = "spans",
    name: str | None = None,
    probability: bool = False,
    threshold: float | str | dict[str, float] | None = None,
    threads: int | None = None,
) -> pandas.DataFrame:
    """Tag a column of a frame, and return the frame with a new column at its end.

    This is the function for Spark, Dask and Ray, whose workers get parts of a table as frames of
    pandas: see ``docs/spark.md``. Texts are split into sentences and tokens as
    :meth:`Tagger.tag_text` does. The sentences of a text are a document for models that look at
    documents; a sentence of tokens is alone.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its rows, index and other columns stay as they are.
    model : Tagger or path
        A model with a template. A file is read once by each process, and again when it changes; a
        tagger that is sent to other processes is pickled with all of its weights.
    column : str
        The column to tag, of texts or of sentences: lists of words, or of dicts with the columns
        of each token. Rows without a value get None.
    output : {"spans", "labels", "jsonl"}
        What each row gets. ``"spans"``: a list of dicts, of a text `start`, `end` (characters),
        `type` and `text`, of a sentence `token_start`, `token_end` and `type`. ``"labels"``: a list
        with the label of each token, through all sentences of a text. ``"jsonl"``: the lines of
        ``dropchain tag --output jsonl``, without the last line feed; positions count from the
        beginning of the text.
    name : str, optional
        The name of the new column, by default `output`.
    probability : bool
        Spans have their `probability`.
    threshold : float, str or dict, optional
        Leave out spans below this probability, as :meth:`Tagger.tag` does.
    threads : int, optional
        By default one for each processor: 1 where a cluster runs a task on each of them.
    """
    if output not in ("spans", "labels", "jsonl"):
        raise ValueError(f"output {output!r}; expected 'spans', 'labels' or 'jsonl'")
    name = output if name is None else name
    names = list(getattr(frame, "columns", ()))
    if names.count(column) != 1:
        found = "several columns" if column in names else "no column"
        raise ValueError(f"{found} '{column}'; the columns are {', '.join(map(str, names))}")
    if name in names:
        raise ValueError(f"there is a column '{name}'; expected another name for the new one")
    tagger = _opened(model)
    if output == "spans" and tagger.info["scheme"] == "raw":
        raise ValueError(
            "output 'spans': the labels of the model encode no spans (B-X, I-X, …); expected "
            "'labels' or 'jsonl'"
        )
    series = frame[column]
    try:
        values = list(map(_row, range(len(series)), series.tolist()))
        lines = tagger._tag_rows(values, threads, probability, threshold)
    except ValueError as error:
        raise ValueError(f"column '{column}': {error}") from None
    rows = [None if one is None else _parsed(one, output) for one in lines]
    return frame.assign(**{name: type(series)(rows, index=frame.index, dtype=object)})


def _row(i: int, value: Any) -> Any:
    """Return row `i` as the extension module takes it: None, a text, or a sentence."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return None if is_missing(value) else value
    tokens = listed(value)
    if not tokens or not all(isinstance(token, Mapping) for token in tokens):
        return tokens
    columns: dict[str, Any] = {n: [token.get(n) for token in tokens] for n in tokens[0]}
    try:
        return Sentence(columns.pop("word", None), **columns)
    except (TypeError, ValueError) as error:
        raise ValueError(f"rows[{i}]: {error}") from None


def _parsed(lines: str, output: str) -> Any:
    """Return what a row gets, of the lines of its sentences."""
    if output == "jsonl":
        return lines
    found = [item for line in lines.split("\n") if line for item in json.loads(line)[output]]
    if output == "labels":
        return found
    keys = (_OF_TEXTS if "start" in span else _OF_TOKENS for span in found)
    return [{key: span[key] for key in own if key in span} for own, span in zip(keys, found)]


def _opened(model: Tagger | str | os.PathLike[str]) -> Tagger:
    """Return a tagger; that of a file is read once, unless the file changes."""
    if isinstance(model, Tagger):
        return model
    path = os.path.realpath(model)
    state = os.stat(path)
    return _read(path, (state.st_ino, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=4)
def _read(path: str, state: tuple[int, ...]) -> Tagger:
    return Tagger.open(path)
