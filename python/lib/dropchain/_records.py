"""What results have in common: dicts, frames of pandas, and plots, which Rust draws."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dropchain import _dropchain
from dropchain._html import Html

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


class Record:
    """A dataclass with a result, whose fields are JSON but for those that are left out."""

    __slots__ = ()
    _left_out: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        shown = (name for name in names if name[0] != "_" and name not in self._left_out)
        return {name: plain(getattr(self, name)) for name in shown}


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


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


class Svg(str):
    """A picture that notebooks display: the text of an SVG file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        _dropchain.write_file(path, self.encode())

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<Svg of {len(self)} characters>"


def metric(name: str | None) -> str:
    """Return a metric as people call it."""
    return "F1" if name == "f1" else name or "score"


def draw(**description: Any) -> Svg:
    """Draw what is described. Raises ValueError if there is nothing."""
    svg = _dropchain.draw(json.dumps(description))
    if svg is None:
        raise ValueError("there is nothing to draw")
    return Svg(svg)


def picture(plot: Callable[[], Svg]) -> Html:
    """Return a plot for a notebook, if there is something to draw."""
    try:
        return Html(plot())
    except ValueError:
        return Html("")
