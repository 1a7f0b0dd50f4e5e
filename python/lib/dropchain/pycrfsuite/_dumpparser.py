"""What is in a model, and the text format in which CRFsuite dumps it."""

from __future__ import annotations

import re
from typing import TextIO


class ParsedDump:
    """The weights of a model, as `Tagger.info` returns them.

    Attributes
    ----------
    header : dict
        Fields of the header of the file.
    labels, attributes : dict
        ``{name: id}``, the id as a string.
    transitions : dict
        ``{(from_label, to_label): weight}``.
    state_features : dict
        ``{(attribute, label): weight}``.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}

    def write(self, file: TextIO) -> None:
        """Writes the dump as CRFsuite does."""
        file.write("FILEHEADER = {\n")
        file.writelines(f"  {name}: {value}\n" for name, value in self.header.items())
        file.write("}\n\n")
        for title, ids in (("LABELS", self.labels), ("ATTRIBUTES", self.attributes)):
            file.write(f"{title} = {{\n")
            file.writelines(f"  {id:>5}: {name}\n" for name, id in ids.items())
            file.write("}\n\n")
        weights = (("TRANSITIONS", 1, self.transitions), ("STATE_FEATURES", 0, self.state_features))
        for title, kind, pairs in weights:
            file.write(f"{title} = {{\n")
            for (source, target), weight in pairs.items():
                file.write(f"  ({kind}) {source} --> {target}: {weight:f}\n")
            file.write("}\n\n")


_SECTION = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = {")
_FIELD = re.compile(r"(\w+): (.*)")
_WEIGHT = re.compile(r"\(\d+\) (.+) --> (.+): ([+-]?\d+\.\d+)")


class CRFsuiteDumpParser:
    """Parses the output of `crfsuite dump`, line by line, into `result`."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()

    def feed(self, line: str) -> None:
        """Parses a line."""
        line = line.lstrip().rstrip("\r\n")
        if not line:
            return
        if found := _SECTION.match(line):
            self.state = found[1]
        elif line == "}":
            self.state = None
        elif self.state in ("TRANSITIONS", "STATE_FEATURES"):
            found = _WEIGHT.match(line)
            if found is None:
                raise ValueError(f"found {line!r} among {self.state}; expected a weight")
            is_state = self.state == "STATE_FEATURES"
            weights = self.result.state_features if is_state else self.result.transitions
            weights[found[1], found[2]] = float(found[3])
        else:
            found = _FIELD.match(line)
            if found is None or self.state is None:
                raise ValueError(f"found {line!r} in {self.state}; expected a section or a field")
            if self.state == "FILEHEADER":
                self.result.header[found[1]] = found[2]
            else:
                names = self.result.labels if self.state == "LABELS" else self.result.attributes
                names[found[2]] = found[1]
