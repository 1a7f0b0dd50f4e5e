"""HTML for notebooks: one style, tables, and sentences with marks.

It has no scripts and fetches nothing. Where style sheets are removed, as on GitHub, it stays
readable: what colors say is also said in words.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from dropchain import _dropchain

#: Labels and spans below this probability are shown with it.
SURE = 0.9

#: Themes of notebooks, where they are not that of the browser.
_LIGHT = '[data-jp-theme-light="true"], [data-theme="light"], [theme="light"], .vscode-light'
_DARK = '[data-jp-theme-light="false"], [data-theme="dark"], [theme="dark"], .vscode-dark'

_STYLE = """
:is(LIGHT) .dropchain { color-scheme: light; }
:is(DARK) .dropchain { color-scheme: dark; }
.dropchain { --good: var(--c2); --bad: var(--c1); line-height: 1.5; }
.dropchain .sheet { color-scheme: inherit !important; display: block; }
.dropchain .sheet { max-width: 100%; height: auto; }
.dropchain .sheet .page { fill: none; }
.dropchain .sheet text { fill: currentColor; }
.dropchain :is(caption, .note) { color: inherit; font-size: .9em; text-align: left; }
.dropchain :is(p, caption, summary) { margin: .4em 0; padding: 0; }
.dropchain p { overflow-wrap: anywhere; }
.dropchain .text { line-height: 2.1; max-width: 60em; }
.dropchain .scroll { overflow-x: auto; }
.dropchain table { border-collapse: collapse; margin: .4em 0; font-size: .95em; }
.dropchain table { font-variant-numeric: tabular-nums; }
.dropchain :is(th, td) { padding: .2em .7em; text-align: right; color: inherit; }
.dropchain :is(th, td) {
  border: 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent);
}
.dropchain :is(th:first-child, .words :is(th, td)) { text-align: left; }
.dropchain .words td { max-width: 40em; overflow-wrap: anywhere; white-space: normal; }
.dropchain td.bar {
  min-width: 5em;
  background: linear-gradient(to right, color-mix(in srgb, var(--tone) 30%, transparent)
    var(--share), transparent 0);
}
.dropchain tbody tr { background: none !important; }
.dropchain td.shade {
  background: color-mix(in srgb, var(--tone) calc(var(--share) * .5), transparent);
}
.dropchain mark {
  background: light-dark(hsl(var(--hue) 75% 90%), hsl(var(--hue) 75% 24%)) !important;
  color: var(--text) !important; border-radius: .35em; padding: .15em .35em;
  border: 1px solid light-dark(hsl(var(--hue) 45% 60%), hsl(var(--hue) 45% 50%));
  box-decoration-break: clone; -webkit-box-decoration-break: clone;
}
.dropchain mark.unsure { border-style: dashed; }
.dropchain mark b { font-size: .7em; letter-spacing: .03em; margin-left: .2em; }
.dropchain u { text-decoration: underline dotted; text-underline-offset: .25em; }
.dropchain summary { cursor: pointer; }
.dropchain pre {
  background: none; color: inherit; margin: .4em 0; white-space: pre-wrap; font-family: monospace;
}
"""

#: Control characters of the direction of text.
_DIRECTIONS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")


class Html(str):
    """Text that is HTML already."""


class Cell(NamedTuple):
    """A cell of a table with a bar, or a shade, of a share."""

    text: str
    share: float
    tone: str = "good"
    kind: str = "bar"


class Mark(NamedTuple):
    """A part of a sentence, from a token to before another, that is marked."""

    start: int
    end: int
    name: str
    probability: float | None = None


@cache
def _style() -> str:
    own = _STYLE.replace("LIGHT", _LIGHT).replace("DARK", _DARK)
    return _dropchain.plot_style().replace(":root", ".dropchain") + own


def escaped(value: Any) -> str:
    """Return a value as HTML, without control characters of the direction of text, which would
    change what is around them."""
    return value if isinstance(value, Html) else html.escape(str(value)).translate(_DIRECTIONS)


def page(*parts: str) -> str:
    """Return what a notebook shows of an object."""
    return f'<div class="dropchain"><style>{_style()}</style>{"".join(parts)}</div>'


def paragraph(text: str, kind: str = "note") -> Html:
    """Return a paragraph."""
    return Html(f'<p class="{kind}" dir="auto">{escaped(text)}</p>')


def plural(number: int, thing: str) -> str:
    """Return a number of things."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(fraction: float) -> str:
    """Return a fraction in percent, with two digits."""
    return f"{100 * fraction:.2f}"


def shortened(items: Any, limit: int, thing: str) -> tuple[Any, Html]:
    """Return the first items, and a note on the others."""
    rest = len(items) - limit
    note = paragraph(f"… and {plural(rest, thing)} more.") if rest > 0 else Html("")
    return items[:limit], note


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    kind: str = "",
) -> Html:
    """Return a table; the first cell of each row is its name."""
    heads = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    body = []
    for first, *cells in rows:
        row = f'<tr><th scope="row">{escaped(first)}</th>{"".join(map(_cell, cells))}</tr>'
        body.append(row)
    shown = f"<thead><tr>{heads}</tr></thead>" if head else ""
    label = html.escape(caption)
    return Html(
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
        f'<table class="{kind}"><caption>{label}</caption>{shown}'
        f'<tbody>{"".join(body)}</tbody></table></div>'
    )


def _cell(value: Any) -> str:
    if not isinstance(value, Cell):
        return f"<td>{escaped(value)}</td>"
    style = f"--share:{100 * value.share:.0f}%;--tone:var(--{value.tone})"
    return f'<td class="{value.kind}" style="{style}">{escaped(value.text)}</td>'


def details(summary: str, content: str, *, is_open: bool = False) -> Html:
    """Return what is folded."""
    attribute = " open" if is_open else ""
    return Html(f"<details{attribute}><summary>{escaped(summary)}</summary>{content}</details>")


def sentence(
    words: Sequence[str],
    marks: Iterable[Mark],
    *,
    doubts: Iterable[Mark] = (),
    gaps: Sequence[str] | None = None,
) -> Html:
    """Return a sentence with marks; `gaps` are what separates each word from the one before."""
    gaps = gaps or [""] + [" "] * (len(words) - 1)
    found = {mark.start: (mark, _mark) for mark in marks}
    for doubt in doubts:
        found.setdefault(doubt.start, (doubt, _doubt))
    parts, t = [], 0
    while t < len(words):
        parts.append(escaped(gaps[t]))
        if t not in found:
            parts.append(escaped(words[t]))
            t += 1
            continue
        mark, shown = found[t]
        text = words[t] + "".join(gaps[i] + words[i] for i in range(t + 1, mark.end))
        parts.append(shown(escaped(text), mark))
        t = max(mark.end, t + 1)
    return Html("".join(parts))


def _mark(text: str, mark: Mark) -> str:
    hue, name, p = _dropchain.hue(mark.name), escaped(mark.name), mark.probability
    title, unsure = name, ""
    if p is not None:
        title += f": probability {p:.3f}"
    if p is not None and p < SURE:
        name += f" {int(100 * p)} %"
        unsure = ' class="unsure"'
    # Without the style sheet, the colors of light pages.
    style = f"--hue:{hue};background:hsl({hue},75%,90%);color:#1c2024"
    mark = f'<mark{unsure} dir="auto" style="{style}" title="{title}">'
    return f"{mark}{text}&nbsp;<b>{name}</b></mark>"


def _doubt(text: str, mark: Mark) -> str:
    title = f"{escaped(mark.name)}: probability {mark.probability:.3f}"
    return f'<u dir="auto" title="{title}">{text}</u>'
