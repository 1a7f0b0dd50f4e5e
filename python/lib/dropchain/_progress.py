"""Who follows training and searches: an observer, and a bar, of tqdm, in a notebook or as lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from dropchain._html import escaped, percent
from dropchain._records import metric


class _Lines:
    """Prints lines to standard error, in place of a bar."""

    interval = 2.0  # least seconds between two lines

    def __init__(self, total: int | None = None, desc: str = "", **_: Any) -> None:
        self.total, self.desc, self.n = total, desc, 0
        self._postfix = ""
        self._printed = 0.0

    def update(self, n: int = 1) -> None:
        self.n += n
        if time.monotonic() - self._printed >= self.interval or self.n == self.total:
            self._printed = time.monotonic()
            self._show()

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self._postfix = text

    def close(self) -> None:
        if self.n != self.total:
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
        self._show()

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
        return f"<div>{shown}{escaped(self._line())}</div>"

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


class Follower:
    """Hands events to an observer, those of a kind and as `convert` makes them, and shows a bar:
    over the iterations of training, or the steps of each phase of other work."""

    def __init__(
        self,
        observer: Any,
        progress: Any,
        kind: str,
        convert: Callable[[dict[str, Any]], Any],
        total: int | None = None,
    ) -> None:
        if observer is not None and not callable(observer):
            raise TypeError(f"found {observer!r} as observer; expected a callable")
        self._observer, self._kind, self._convert = observer, kind, convert
        self._class = _bar_class(progress) if progress else None
        self._total = total
        self._bar: Any = None
        self._phase: str | None = None
        self._done = 0
        self._best = 0.0
        self._kept = ""
        self.has_stopped = False

    def or_none(self) -> Follower | None:
        """Return the follower, or None if nobody follows."""
        return None if self._observer is None and self._class is None else self

    def __call__(self, kind: str, content: Any) -> bool:
        if self._class is not None:
            self._show_event(kind, content)
        if kind == self._kind and self._observer is not None:
            reply = self._observer(self._convert(content))
            # numpy has a False of its own.
            self.has_stopped |= type(reply).__name__ in ("bool", "bool_") and not reply
        return not self.has_stopped

    def _show_event(self, kind: str, content: Any) -> None:
        if kind == "iteration":
            score, mean = content["dev_score"], content["dev_mean"]
            text = f"objective {content['objective']:.4g}"
            if score is not None:
                text += f", dev {metric(content['metric'])} {percent(score)}"
            if mean is not None:
                if mean > self._best or self._best == 0.0:
                    self._best = mean
                    self._kept = f", kept iteration {content['number']} with {percent(score)}"
                text += self._kept
            self._show("training", content["number"], self._total, text)
        elif kind == "trial":
            name = "f1" if "dev_f1" in content else "accuracy"
            self._best = max(content.get(f"dev_{name}", 0.0), self._best)
            self._kept = f"best {metric(name)} {percent(self._best)}"
        elif kind == "progress":
            self._show(*content, self._kept)

    def _show(self, phase: str, done: int, total: int | None, text: str) -> None:
        if phase != self._phase:
            self.close()
            self._phase, self._done = phase, 0
            self._bar = self._class(total=total, desc=phase, unit="it")
        if text:
            self._bar.set_postfix_str(text, refresh=False)
        if done > self._done:
            self._bar.update(done - self._done)
            self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
