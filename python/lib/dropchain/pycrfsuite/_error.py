"""The exception of python-crfsuite."""

from __future__ import annotations

_MESSAGES = {
    0x80000000: "unknown error",
    0x80000001: "insufficient memory",
    0x80000002: "unsupported operation",
    0x80000003: "incompatible data",
    0x80000004: "internal error",
    0x80000005: "overflow",
    0x80000006: "not implemented",
}


class CRFSuiteError(Exception):
    """An error of CRFsuite, by its code.

    It exists for code that catches it; this package raises `ValueError`, `OSError` and their
    like, which say what is wrong.
    """

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(_MESSAGES.get(code & 0xFFFFFFFF, "unexpected error"))
