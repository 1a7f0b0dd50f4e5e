"""How notebooks show sentences, models and templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dropchain import _dropchain
from dropchain._html import (
    SURE,
    Cell,
    Html,
    Mark,
    details,
    escaped,
    page,
    paragraph,
    plural,
    sentence as marked,
    shortened,
    table,
)

if TYPE_CHECKING:
    from dropchain._dropchain import Corpus, Sentence, Tagger, Template

#: The most sentences, words of one, labels and types that are shown; and sentences counted.
SENTENCES = 10
WORDS = 200
LABELS = 12
_COUNTED = 20_000

#: The most labels, and attributes of a label, in the view of a model.
STATES = 20
ATTRIBUTES = 3

#: The label of tokens outside of all spans.
_OUTSIDE = "O"


# Sentences


def marks_of(
    labels: Sequence[Any], spans: Iterable[tuple[Any, ...]], probabilities: Sequence[float] | None
) -> tuple[list[Mark], list[Mark]]:
    """Return spans and labels outside of them as marks; and labels `O` that are in doubt."""
    marks = [Mark(*span) for span in spans]
    inside = {t for mark in marks for t in range(mark.start, mark.end)}
    doubts = []
    for t, label in enumerate(labels):
        p = None if probabilities is None else probabilities[t]
        if t in inside or label is None:
            continue
        if label != _OUTSIDE:
            name = label if isinstance(label, str) else " or ".join(label)
            marks.append(Mark(t, t + 1, name, p))
        elif p is not None and p < SURE:
            doubts.append(Mark(t, t + 1, label, p))
    return marks, doubts


def labeled(words: Sequence[str], labels: Sequence[Any] | None) -> Html:
    """Return a sentence with its labels."""
    labels = [None] * len(words) if labels is None else labels
    known = [label if isinstance(label, str) else _OUTSIDE for label in labels]
    marks, _ = marks_of(labels, _dropchain.spans(known), None)
    return beginning(words, marks)


def beginning(words: Sequence[str], marks: Iterable[Mark], doubts: Iterable[Mark] = ()) -> Html:
    """Return the beginning of a sentence."""
    if len(words) > WORDS:
        words = [*words[:WORDS], "…"]
    marks, doubts = ([m for m in some if m.end <= WORDS] for some in (marks, doubts))
    return marked(words, marks, doubts=doubts)


def text_line(shown: Html) -> Html:
    return paragraph(shown, "text")


def sentence(one: Sentence) -> str:
    """Show a sentence: its labels as marks, or the features of its tokens."""
    features = one.features
    if features is None:
        return page(text_line(labeled(one.words, one.labels)))
    return page(_features(one))


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
    counted, of = content[:_COUNTED], ""
    if len(content) > _COUNTED:
        of = f" in the first {_COUNTED:,} sentences"
    thing, counts = _counts(counted.labels)
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


# Models and templates


def tagger(model: Tagger) -> str:
    """Show what a model is and has learned, as ``dropchain inspect`` does."""
    found = model._summary(STATES, ATTRIBUTES)
    template, labels = model.template, found["labels"]
    part = ""
    if len(labels) < found["all_labels"]:
        part = f" ({len(labels)} of {found['all_labels']} labels)"
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
