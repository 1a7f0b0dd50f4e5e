"""Files that are written: checked before any work, replaced as a whole, and never an input."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# How files of each kind begin; of reports also in capitals.
_KINDS = {"model": b"DROPCRF\n", "checkpoint": b"DROPCKP\n", "report": b"<!doctype html>"}


def check_output(
    name: str,
    path: str | os.PathLike[str],
    kind: str,
    inputs: Iterable[str | os.PathLike[str]] = (),
    *,
    force: bool = False,
) -> None:
    """Check that a file may be written.

    Raises ValueError if it is one of the inputs, or exists and is of another kind (unless
    forced), and OSError if it cannot be written.
    """
    path = os.fspath(path)
    for other in inputs:
        if is_same(path, other):
            raise ValueError(
                f"{name} {path!r}: this is the input file {os.fspath(other)!r}; expected another "
                "file to write to"
            )
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name} {path!r} is a directory; expected a file")
    directory = os.path.dirname(path) or "."
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"{name} {path!r}: there is no directory {directory!r}")
    writable = path if os.path.exists(path) else directory
    if not os.access(writable, os.W_OK):
        raise PermissionError(f"{name} {path!r} cannot be written")
    if os.path.isfile(path) and os.path.getsize(path) > 0 and not force:
        with open(path, "rb") as file:
            beginning = file.read(len(_KINDS[kind]))
        if _KINDS[kind] not in (beginning, beginning.lower()):
            raise ValueError(
                f"{name} {path!r}: the file exists and is not a {kind}; expected a new file or an "
                f"old {kind} (force=True replaces any file)"
            )


def is_same(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    """Return whether two paths are those of one file."""
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)


def save(tagger: Any, path: str | os.PathLike[str], force: bool) -> None:
    """Write a model."""
    check_output("path", path, "model", force=force)
    tagger._save(path)


def save_or_rescue(tagger: Any, path: str | os.PathLike[str]) -> None:
    """Write a model that took work; if that fails, write it elsewhere and say where."""
    try:
        tagger._save(path)
    except Exception as error:
        place = _rescue(tagger, Path(path).name)
        message = f"{os.fspath(path)}: {error}; the model is in `result` of this exception"
        if place is not None:
            message += f", and was saved to {place}"
        raise OSError(message) from error


def _rescue(tagger: Any, name: str) -> Path | None:
    for directory in (Path.cwd(), Path(tempfile.gettempdir())):
        for suffix in ("saved", *(f"saved-{i}" for i in range(2, 100))):
            place = directory / f"{name}.{suffix}"
            try:
                if not place.exists():
                    tagger._save(place)
                    return place
            except Exception:
                break
    return None
