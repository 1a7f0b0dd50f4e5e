"""HTML for notebooks: one style, tables, sentences with marks; and how corpora, models and
templates are shown.

It has no scripts and fetches nothing. Where style sheets are removed, as on GitHub, it stays
readable: what colors say is also said in words.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dropchain import _dropchain

if TYPE_CHECKING:
    from dropchain._dropchain import Corpus, Sentence, Tagger, Template

# Labels and spans below this probability are shown with it.
SURE = 0.9

# The most sentences, words of one, labels and types that are shown; and sentences counted.
SENTENCES = 10
WORDS = 200
LABELS = 12
_COUNTED = 20_000

# The label of tokens outside of all spans.
_OUTSIDE = "O"

# Control characters of the direction of text.
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
    is_doubt: bool = False  # of a label `O`


def escaped(value: Any) -> str:
    """Return a value as HTML, without control characters of the direction of text, which would
    change what is around them."""
    return value if isinstance(value, Html) else html.escape(str(value)).translate(_DIRECTIONS)


def page(*parts: str) -> str:
    """Return what a notebook shows of an object."""
    return f'<div class="dropchain"><style>{_dropchain.style()}</style>{"".join(parts)}</div>'


def paragraph(text: str, kind: str = "note") -> Html:
    return Html(f'<p class="{kind}" dir="auto">{escaped(text)}</p>')


def plural(number: int, thing: str) -> str:
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
    attribute = " open" if is_open else ""
    return Html(f"<details{attribute}><summary>{escaped(summary)}</summary>{content}</details>")


def marked(words: Sequence[str], marks: Iterable[Mark], gaps: Sequence[str] | None = None) -> Html:
    """Return a sentence with marks; `gaps` are what separates each word from the one before."""
    gaps = gaps or [""] + [" "] * (len(words) - 1)
    found = {mark.start: mark for mark in marks}
    parts, t = [], 0
    while t < len(words):
        parts.append(escaped(gaps[t]))
        if t not in found:
            parts.append(escaped(words[t]))
            t += 1
            continue
        mark = found[t]
        text = words[t] + "".join(gaps[i] + words[i] for i in range(t + 1, mark.end))
        parts.append(_mark(escaped(text), mark))
        t = max(mark.end, t + 1)
    return Html("".join(parts))


def _mark(text: str, mark: Mark) -> str:
    hue, name, p = _dropchain.hue(mark.name), escaped(mark.name), mark.probability
    title, unsure = name, ""
    if p is not None:
        title += f": probability {p:.3f}"
    if mark.is_doubt:
        return f'<u dir="auto" title="{title}">{text}</u>'
    if p is not None and p < SURE:
        name += f" {int(100 * p)} %"
        unsure = ' class="unsure"'
    # Without the style sheet, the colors of light pages.
    style = f"--hue:{hue};background:hsl({hue},75%,90%);color:#1c2024"
    start = f'<mark{unsure} dir="auto" style="{style}" title="{title}">'
    return f"{start}{text}&nbsp;<b>{name}</b></mark>"


def marks_of(
    labels: Sequence[Any], spans: Iterable[tuple[Any, ...]], probabilities: Sequence[float] | None
) -> list[Mark]:
    """Return spans and labels outside of them as marks, labels `O` if they are in doubt."""
    marks = [Mark(*span) for span in spans]
    inside = {t for mark in marks for t in range(mark.start, mark.end)}
    for t, label in enumerate(labels):
        p = None if probabilities is None else probabilities[t]
        if t in inside or label is None:
            continue
        if label != _OUTSIDE:
            name = label if isinstance(label, str) else " or ".join(label)
            marks.append(Mark(t, t + 1, name, p))
        elif p is not None and p < SURE:
            marks.append(Mark(t, t + 1, label, p, is_doubt=True))
    return marks


def labeled(words: Sequence[str], labels: Sequence[Any] | None) -> Html:
    labels = [None] * len(words) if labels is None else labels
    known = [label if isinstance(label, str) else _OUTSIDE for label in labels]
    return beginning(words, marks_of(labels, _dropchain.spans(known), None))


def beginning(words: Sequence[str], marks: Iterable[Mark]) -> Html:
    if len(words) > WORDS:
        words = [*words[:WORDS], "…"]
    return marked(words, [mark for mark in marks if mark.end <= WORDS])


def text_line(shown: Html) -> Html:
    return paragraph(shown, "text")


def sentence(one: Sentence) -> str:
    """Show a sentence: its labels as marks, or the features of its tokens."""
    has_words = one.features is None
    return page(text_line(labeled(one.words, one.labels)) if has_words else _features(one))


def _features(one: Sentence) -> Html:
    labels = one.labels or [None] * len(one)
    rows = [
        (t, "" if label is None else label, ", ".join(f"{n}: {v:g}" for n, v in values.items()))
        for t, (label, values) in enumerate(zip(labels, one.features or []))
    ]
    return table("Features of tokens", ("token", "label", "features"), rows[:LABELS], kind="words")


def corpus(found: Corpus) -> str:
    """Show a corpus: counts, and its first sentences."""
    content = found.without_boundaries()
    parts = [f"{plural(len(content), 'sentence')}, {plural(found.tokens, 'token')}"]
    if found.columns:
        parts.append(f"columns {', '.join(found.columns)}")
    of = f" in the first {_COUNTED:,} sentences" if len(content) > _COUNTED else ""
    thing, counts = _counts(content[:_COUNTED].labels)
    shown = [paragraph("; ".join(parts) + ".")]
    if counts:
        common = counts.most_common(LABELS)
        most = common[0][1]
        rows = [(name, Cell(f"{count:,}", count / most)) for name, count in common]
        shown.append(table(f"{thing}{of}", (thing.split()[-1], "count"), rows))
    if found.has_features:
        return page(*shown, *(_features(one) for one in content[:1]))
    first = (text_line(labeled(one.words, one.labels)) for one in content[:SENTENCES])
    return page(*shown, *first, shortened(content, SENTENCES, "sentence")[1])


def _counts(labels: Iterable[Any]) -> tuple[str, Counter[str]]:
    spans: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for one in labels:
        known = [label if isinstance(label, str) else _OUTSIDE for label in one or ()]
        spans.update(kind for _, _, kind in _dropchain.spans(known))
        tokens.update(known if one else ())
    return ("Spans by type", spans) if spans else ("Tokens by label", tokens)


def tagger(model: Tagger) -> str:
    """Show what a model is and has learned, as ``dropchain inspect`` does."""
    found = model._summary(labels=20, attributes=3)
    template, labels = model.template, found["labels"]
    all_labels = found["all_labels"]
    part = f" ({len(labels)} of {all_labels} labels)" if len(labels) < all_labels else ""
    largest = _largest(weight for row in found["transitions"] for weight in row)
    rows = (
        (name, *(_weight(f"{weight:.2f}", weight / largest) for weight in row))
        for name, row in zip(["start", *labels], found["transitions"])
    )
    strongest = _largest(weight for top in found["attributes"] for weight, _ in top)
    tops = (
        (label, *(_weight(f"{name} {weight:.2f}", weight / strongest) for weight, name in top))
        for label, top in zip(labels, found["attributes"])
    )
    return page(
        table("Tagger", (), found["facts"], kind="words"),
        table(f"Transitions from row to column{part}", ("from", *labels, "end"), rows),
        table(f"Top attributes of a label{part}", (), tops, kind="words"),
        details("Template", _source(template)) if template is not None else "",
    )


def _largest(weights: Iterable[float]) -> float:
    return max(map(abs, weights), default=0.0) or 1.0


def _weight(text: str, share: float) -> Cell:
    return Cell(text, abs(share), "good" if share >= 0 else "bad", "shade")


def _source(found: Template) -> Html:
    return Html(f"<pre>{escaped(found.text)}</pre>")


def template(found: Template) -> str:
    """Show the lines of a template, and what it reads."""
    reads = f"reads {', '.join(found.columns)}"
    if found.file_names:
        reads += f"; files {', '.join(found.file_names)}"
    return page(paragraph(f"Template; {reads}."), _source(found))
