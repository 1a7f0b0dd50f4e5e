"""Plots of results, which Rust draws."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from dropchain import _dropchain
from dropchain._html import Html


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
