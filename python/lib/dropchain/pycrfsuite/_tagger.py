"""The tagger."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Iterable
from typing import Any

from dropchain import _dropchain
from dropchain.pycrfsuite._dumpparser import ParsedDump

_MAGIC = b"lCRF"
_HEADER_SIZE = 48


class Tagger:
    """Predicts label sequences with a model, of dropchain or of CRFsuite.

    Threads may share a tagger: `tag` with a sequence releases the GIL and depends on nothing else.
    `tag` without one, `probability` and `marginal` are about the sequence that was set or tagged
    last, by any thread.
    """

    # Here, since classes that extend this one need not call its __init__.
    _model: _dropchain.Tagger | None = None
    _header: dict[str, str] | None = None
    _current: _dropchain.Sentence | None = None
    _marginals: tuple[_dropchain.Sentence, list[dict[str, float]]] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def _opened(self) -> _dropchain.Tagger:
        if self._model is None:
            raise ValueError("The tagger is not opened")
        return self._model

    def _open_trained(
        self, model: _dropchain.Tagger | None, header: dict[str, str] | None = None
    ) -> Tagger:
        self._model, self._header = model, header
        self._current = self._marginals = None
        return self

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
        self._open_trained(_dropchain.Tagger.open(path), header)
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Opens a model from the contents of a model file: see `open`."""
        if not isinstance(value, bytes):
            raise TypeError(f"found {type(value).__name__} as a model; expected bytes")
        model = _dropchain.Tagger.from_bytes(value)
        self._open_trained(model, _crfsuite_header(value[:_HEADER_SIZE]))
        return contextlib.closing(self)

    def close(self) -> None:
        """Closes the model."""
        self._open_trained(None)

    def labels(self) -> list[str]:
        """Returns the labels of the model."""
        return self._opened().labels

    def set(self, xseq: Any) -> None:
        """Sets the sequence for `tag`, `probability` and `marginal`."""
        self._current = self._opened()._prepare(xseq, "xseq")

    def tag(self, xseq: Any = None) -> list[str]:
        """Predicts the labels of a sequence.

        Parameters
        ----------
        xseq : list of item features or ItemSequence, optional
            By default the sequence that was set or tagged last.

        Returns
        -------
        list of str
            The most likely labels. Any sequence of labels is possible.
        """
        model = self._opened()
        if xseq is None:
            sequence = self._current
        else:
            self._current = sequence = model._prepare(xseq, "xseq")
        return [] if sequence is None else model._tag_all([sequence])[0]

    def probability(self, yseq: Iterable[str]) -> float:
        """Returns the probability of a label sequence for the current sequence of items: the one
        that was set or tagged last.

        Parameters
        ----------
        yseq : list of str
            The label of each item.
        """
        model, sequence = self._opened(), self._current
        labels = [_text(label, f"yseq[{t}]") for t, label in enumerate(yseq)]
        if not sequence:
            return 0.0
        if len(labels) != len(sequence):
            raise ValueError(
                "The numbers of items and labels differ: "
                f"|xseq| = {len(sequence)}, |yseq| = {len(labels)}"
            )
        known = model.labels
        for t, label in enumerate(labels):
            _check_label(label, known, f"yseq[{t}]")
        return model.probability(sequence, labels)

    def marginal(self, y: str, pos: int) -> float:
        """Returns the probability that an item of the current sequence has a label.

        Parameters
        ----------
        y : str
            The label.
        pos : int
            The position of the item.
        """
        model, sequence, cached = self._opened(), self._current, self._marginals
        label = _text(y, "y")
        if not sequence:
            return 0.0
        if not 0 <= pos < len(sequence):
            raise ValueError(f"The position, {pos}, is out of range of {len(sequence)} items")
        _check_label(label, model.labels, "y")
        if cached is None or cached[0] is not sequence:
            self._marginals = cached = (sequence, model._tag_all([sequence], marginals=True)[0])
        return cached[1][pos][label]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle a tagger; pickle the contents of its model file")

    def __enter__(self) -> Tagger:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def info(self) -> ParsedDump:
        """Returns labels, attributes and weights of the model.

        Raises
        ------
        RuntimeError
            The tagger is closed.
        """
        model = self._model
        if model is None:
            raise RuntimeError("Tagger is closed")
        result = ParsedDump()
        result.labels = {label: str(i) for i, label in enumerate(model.labels)}
        result.transitions, result.state_features = model.transitions(), model.weights()
        names = dict.fromkeys(name for name, _ in result.state_features)
        result.attributes = {name: str(i) for i, name in enumerate(names)}
        result.header = self._header or {
            "magic": "lCRF",
            "size": str(model.info["bytes"]),
            "type": "FOMC",
            "version": "100",
            "num_features": str(len(result.transitions) + len(result.state_features)),
            "num_labels": str(len(result.labels)),
            "num_attrs": str(len(result.attributes)),
        }
        return result

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Writes what `info` returns as text, in the format of CRFsuite.

        Parameters
        ----------
        filename : str, optional
            The path of the file; by default the standard output.
        """
        info = self.info()
        if filename is None:
            info.write(sys.stdout)
        else:
            with open(filename, "w", encoding="utf-8", newline="\n") as file:
                info.write(file)


def _text(label: Any, place: str) -> str:
    """Return the text of a label; raises TypeError if it is not a string."""
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    if not isinstance(label, str):
        kind = type(label).__name__
        raise TypeError(f"{place}: found {label!r} ({kind}) as a label; expected a string")
    return label


def _check_label(label: str, known: list[str], place: str) -> None:
    if label not in known:
        raise RuntimeError(f"{place}: the label '{label}' is unknown to the model")


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
