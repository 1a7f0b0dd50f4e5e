"""The options of training: those of the command line, as the extension module lists them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, Union

from dropchain import _dropchain

_TABLE = _dropchain.option_table()

# The types of values, by their kind. What is None is the default.
_TYPES = {"switch": bool, "number": float, "count": int, "text": Union[str, float]}


def _type(row: Mapping[str, Any]) -> Any:
    values = [int(value) if value.isdecimal() else value for value in row["values"]]
    return Literal[tuple(values)] if values else _TYPES[row["kind"]]


_HELP = (f"{row['name']}\n    {row['help'].replace('--', '')}" for row in _TABLE)

TrainOptions: Any = TypedDict(
    "TrainOptions", {row["name"]: Union[_type(row), None] for row in _TABLE}, total=False
)
TrainOptions.__doc__ = (
    "Options of :func:`dropchain.train`, and but for those that are searched of "
    ":func:`dropchain.tune`. What is not given, or None, is the default.\n\n" + "\n".join(_HELP)
)

NAMES = tuple(row["name"] for row in _TABLE)

_OTHER_NAMES = {"c1": "l1", "c2": "l2", "epochs": "max_iterations"}


def check_names(options: Mapping[str, Any], function: str) -> None:
    """Raise TypeError for unknown options, with the closest known one."""
    for name in options:
        if name in NAMES:
            continue
        close = difflib.get_close_matches(name, NAMES, 1)
        close = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else close
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise TypeError(f"{function}() got an unknown option '{name}'{hint}")


# The parameter of an algorithm, which is a part of its name: ``pa=2``.
_PARAMETERS = {"sgd": "eta", "pa": "c", "arow": "gamma"}


def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a model stores, as keyword arguments."""
    algorithm = stored["algorithm"]
    # An optimizer has a maximum number of iterations of its own.
    stored = {**stored.get(algorithm, {}), **stored}
    options = {name: value for name, value in stored.items() if name in NAMES}
    if "gradient_tolerance" in stored:
        options["epsilon"] = stored["gradient_tolerance"]
    if algorithm in _PARAMETERS:
        options["algorithm"] = f"{algorithm}={stored[_PARAMETERS[algorithm]]}"
    options["order"] = int(options["order"])
    options["boundary"] = options["boundary"] == "on"
    return options
