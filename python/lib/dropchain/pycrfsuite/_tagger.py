"""The tagger."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from types import TracebackType

from dropchain._dropchain import CrfModel, CrfTagger
from dropchain.pycrfsuite._dumpparser import ParsedDump

_MAGIC = b"lCRF"
_HEADER_SIZE = 48


class Tagger(CrfTagger):
    """Predicts label sequences with a model, of dropchain or of CRFsuite.

    Threads may share a tagger: `tag` with a sequence releases the GIL and depends on nothing else.
    `tag` without one, `probability` and `marginal` are about the sequence that was set or tagged
    last, by any thread.
    """

    _header: dict[str, str] | None = None

    def open(self, name: str | bytes | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Opens a model file.

        Parameters
        ----------
        name : str
            The path of the model file.

        Returns
        -------
        context manager
            Closes the tagger.

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            It is not a model, or damaged.
        """
        path = os.fsdecode(name)
        with open(path, "rb") as file:
            header = _crfsuite_header(file.read(_HEADER_SIZE))
        self._open(path)
        self._header = header
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Opens a model from the contents of a model file.

        Returns
        -------
        context manager
            Closes the tagger.

        Raises
        ------
        ValueError
            It is not a model, or damaged.
        """
        if not isinstance(value, bytes):
            raise TypeError(f"found {type(value).__name__} as a model; expected bytes")
        self._open_bytes(value)
        self._header = _crfsuite_header(value[:_HEADER_SIZE])
        return contextlib.closing(self)

    def _open_trained(self, model: CrfModel) -> Tagger:
        self._open_model(model)
        self._header = None
        return self

    def __enter__(self) -> Tagger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def info(self) -> ParsedDump:
        """Returns labels, attributes and weights of the model.

        Raises
        ------
        RuntimeError
            The tagger is closed.
        """
        result = ParsedDump()
        result.labels, result.attributes, result.transitions, result.state_features = self._dump()
        result.header = self._header or self._own_header(result)
        return result

    def _own_header(self, dump: ParsedDump) -> dict[str, str]:
        """The fields of CRFsuite for a model of dropchain."""
        size, weights = self._size()
        return {
            "magic": "lCRF",
            "size": str(size),
            "type": "FOMC",
            "version": "100",
            "num_features": str(weights),
            "num_labels": str(len(dump.labels)),
            "num_attrs": str(len(dump.attributes)),
        }

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Writes labels, attributes and weights as text, in the format of CRFsuite.

        Parameters
        ----------
        filename : str, optional
            The path of the file; by default the standard output.

        Raises
        ------
        RuntimeError
            The tagger is closed.
        """
        info = self.info()
        if filename is None:
            info.write(sys.stdout)
        else:
            with open(filename, "w", encoding="utf-8", newline="\n") as file:
                info.write(file)


def _crfsuite_header(start: bytes) -> dict[str, str] | None:
    """The fields of the header of a file of CRFsuite; None of another file."""
    if not start.startswith(_MAGIC) or len(start) < _HEADER_SIZE:
        return None
    size, kind, *numbers = struct.unpack("<I4s9I", start[4:_HEADER_SIZE])
    names = ("version", "num_features", "num_labels", "num_attrs")
    offsets = ("features", "labels", "attrs", "labelrefs", "attrrefs")
    header = {"magic": "lCRF", "size": str(size), "type": kind.decode("ascii", "replace")}
    header.update((name, str(number)) for name, number in zip(names, numbers[:4], strict=True))
    header.update(
        ("off_" + name, f"0x{number:X}") for name, number in zip(offsets, numbers[4:], strict=True)
    )
    return header
