"""Who follows training and searches: an observer, and a bar, of tqdm, in a notebook or as lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from dropchain import _html

#: Least time between two lines, in seconds.
_INTERVAL = 2.0


class _Lines:
    """Prints lines to standard error, in place of a bar."""

    interval = _INTERVAL

    def __init__(self, total: int | None = None, desc: str = "", **_: Any) -> None:
        self.total, self.desc, self.n = total, desc, 0
        self._postfix = ""
        self._printed = 0.0

    def update(self, n: int = 1) -> None:
        self.n += n
        if time.monotonic() - self._printed >= self.interval or self.n == self.total:
            self._print()

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self._postfix = text

    def set_description(self, text: str, refresh: bool = True) -> None:
        self.desc = text

    def close(self) -> None:
        if self.n != self.total:
            self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        self._show()

    def _line(self) -> str:
        of = "" if self.total is None else f"/{self.total}"
        return f"{self.desc}: {self.n}{of}, {self._postfix}".rstrip(", ")

    def _show(self) -> None:
        print(self._line(), file=sys.stderr, flush=True)


class _Display(_Lines):
    """Shows a line that changes, in a notebook."""

    interval = 0.2

    def __init__(self, handles: list[Any], total: int | None = None, **names: Any) -> None:
        super().__init__(total, **names)
        self._handles = handles  # that of the notebook, once something is shown
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True
        self._print()

    def _show(self) -> None:
        if self._handles:
            self._handles[0].update(self)
            return
        from IPython.display import display

        handle = display(self, display_id=True)  # type: ignore[no-untyped-call,unused-ignore]
        self._handles.append(handle)

    def _repr_html_(self) -> str:
        bar = f'<progress max="{self.total}" value="{self.n}" aria-label="{self.desc}"></progress> '
        shown = "" if self._is_closed or self.total is None else bar
        return f"<div>{shown}{_html.escaped(self._line())}</div>"

    def __repr__(self) -> str:
        return self._line()


def _is_in_notebook() -> bool:
    """Return whether IPython runs as the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _bar_class(progress: Any) -> Any:
    if progress is not True:
        return progress
    if _is_in_notebook():
        return partial(_Display, [])
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return _Lines
    return tqdm


class TrainingProgress:
    """A bar over the iterations of training."""

    def __init__(self, progress: Any, max_iterations: int | None) -> None:
        self._bar = _bar_class(progress)(total=max_iterations, desc="training", unit="it")

    def __call__(self, kind: str, content: Any) -> None:
        if kind == "iteration":
            score = content["dev_score"]
            text = f"objective {content['objective']:.4g}"
            if score is not None:
                text += f", dev {content['metric']} {100 * score:.2f}"
            self._bar.set_postfix_str(text, refresh=False)
            if content["number"] > 0:
                self._bar.update(1)

    def close(self) -> None:
        """End the bar."""
        self._bar.close()


class SearchProgress:
    """A bar over the trainings of each phase of a search."""

    def __init__(self, progress: Any) -> None:
        self._class = _bar_class(progress)
        self._bar: Any = None
        self._phase: str | None = None
        self._best: float | None = None

    def __call__(self, kind: str, content: Any) -> None:
        if kind == "trial":
            score = content.get("dev_f1", content.get("dev_accuracy", 0.0))
            self._best = max(score, self._best or 0.0)
        if kind != "progress":
            return
        phase, done, total = content
        if phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = self._class(total=total, desc=phase, unit="run")
        if self._best is not None:
            self._bar.set_postfix_str(f"best {100 * self._best:.2f}", refresh=False)
        self._bar.update(max(done - self._bar.n, 0))

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Follower:
    """Hands events to a bar, and those of a kind to an observer, as `convert` makes them."""

    def __init__(
        self, observer: Any, bar: Any, kind: str, convert: Callable[[dict[str, Any]], Any]
    ) -> None:
        if observer is not None and not callable(observer):
            raise TypeError(f"found {observer!r} as observer; expected a callable")
        self._observer = observer
        self._bar = bar
        self._kind = kind
        self._convert = convert
        self.is_needed = observer is not None or bar is not None
        self.has_stopped = False

    def __call__(self, kind: str, content: Any) -> bool:
        if self._bar is not None:
            self._bar(kind, content)
        if kind == self._kind and self._observer is not None:
            reply = self._observer(self._convert(content))
            # numpy has a False of its own.
            self.has_stopped |= type(reply).__name__ in ("bool", "bool_") and not reply
        return not self.has_stopped

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()
