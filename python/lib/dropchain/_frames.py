"""Frames of pandas, which is not a dependency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


def frame(
    rows: Iterable[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]], name: str | None = None
) -> pandas.DataFrame:
    """Return rows as a frame of pandas; those of a mapping are named in a column."""
    try:
        import pandas
    except ImportError:
        message = "to_frame needs pandas, which is not installed; expected it, or to_dict"
        raise ImportError(message) from None
    if isinstance(rows, Mapping):
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis(name)
    return pandas.DataFrame(list(rows))
