"""The program ``dropchain``.

It is a package of its own, so that the program starts without numpy and the package ``dropchain``.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import signal
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Run the program with the arguments of this process, and return its exit code."""
    extension = sys.modules.get("dropchain._dropchain") or _extension()
    # Ctrl-C is the program's, as it is without Python.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return extension.run_program(["dropchain", *sys.argv[1:]])


def _extension() -> Any:
    folder = str(Path(__file__).parent.parent / "dropchain")
    spec = importlib.machinery.PathFinder.find_spec("_dropchain", [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no extension module in {folder}; install dropchain again")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
