"""What results have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np


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
