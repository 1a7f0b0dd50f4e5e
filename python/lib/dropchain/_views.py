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
    from dropchain._values import Explanation, TaggedSentence, TaggedText, Tagging

#: The most sentences, words of one, labels and types that are shown; and sentences counted.
_SENTENCES = 10
_WORDS = 200
_LABELS = 12
_COUNTED = 20_000

#: The label of tokens outside of all spans.
_OUTSIDE = "O"


# Sentences


def _marks(
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


def _labeled(words: Sequence[str], labels: Sequence[Any] | None) -> Html:
    """Return a sentence with its labels."""
    labels = [None] * len(words) if labels is None else labels
    known = [label if isinstance(label, str) else _OUTSIDE for label in labels]
    marks, _ = _marks(labels, _dropchain.spans(known), None)
    return _cut(words, marks)


def _cut(words: Sequence[str], marks: Iterable[Mark], doubts: Iterable[Mark] = ()) -> Html:
    """Return the beginning of a sentence."""
    if len(words) > _WORDS:
        words = [*words[:_WORDS], "…"]
    marks, doubts = ([m for m in some if m.end <= _WORDS] for some in (marks, doubts))
    return marked(words, marks, doubts=doubts)


def _text(shown: Html) -> Html:
    return paragraph(shown, "text")


def sentence(one: Sentence) -> str:
    """Show a sentence: its labels as marks, or the features of its tokens."""
    features = one.features
    if features is None:
        return page(_text(_labeled(one.words, one.labels)))
    return page(_features(one))


def _features(one: Sentence) -> Html:
    labels = one.labels or [None] * len(one)
    rows = [
        (t, "" if label is None else label, ", ".join(f"{n}: {v:g}" for n, v in values.items()))
        for t, (label, values) in enumerate(zip(labels, one.features or []))
    ]
    return table("Features of tokens", ("token", "label", "features"), rows[:_LABELS], kind="words")


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
        common = counts.most_common(_LABELS)
        most = common[0][1]
        rows = [(name, Cell(f"{count:,}", count / most)) for name, count in common]
        shown.append(table(f"{thing}{of}", (thing.split()[-1], "count"), rows))
    if found.has_features:
        return page(*shown, *(_features(one) for one in content[:1]))
    first = (_text(_labeled(one.words, one.labels)) for one in content[:_SENTENCES])
    return page(*shown, *first, shortened(content, _SENTENCES, "sentence")[1])


def _counts(labels: Iterable[Any]) -> tuple[str, Counter[str]]:
    spans: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for one in labels:
        known = [label if isinstance(label, str) else _OUTSIDE for label in one or ()]
        spans.update(kind for _, _, kind in _dropchain.spans(known))
        tokens.update(known if one else ())
    return ("Spans by type", spans) if spans else ("Tokens by label", tokens)


def _of_text(one: TaggedSentence) -> Html:
    """Return a tagged sentence with the space between its tokens."""
    tokens = one.tokens
    spans = [(s.token_start, s.token_end, s.type, s.probability) for s in one.spans]
    probabilities: Any = [token.probability for token in tokens]
    known = probabilities if None not in probabilities else None
    marks, doubts = _marks(one.labels, spans, known)
    ends = [tokens[0].start if tokens else 0, *(token.end for token in tokens)]
    gaps = [" " if token.start > end else "" for token, end in zip(tokens, ends)]
    return marked(one.words, marks, doubts=doubts, gaps=gaps)


def tagged_text(text: TaggedText) -> str:
    """Show tagged sentences."""
    shown, note = shortened(text, 5 * _SENTENCES, "sentence")
    return page(*(_text(_of_text(one)) for one in shown), note)


def tagged_sentence(one: TaggedSentence) -> str:
    """Show a tagged sentence."""
    return page(_text(_of_text(one)))


def tagging(found: Tagging) -> str:
    """Show what a tagger says of a sentence."""
    words, own = found.words, found.label_probabilities
    spans = []
    for start, end, kind in found.spans:
        spans.append((start, end, kind, min(own[start:end]) if own else None))
    parts = [_text(_cut(words, *_marks(found.labels, spans, own)))]
    if found.probability is not None:
        parts.append(paragraph(f"The labels have the probability {found.probability:.3f}."))
    if len(found.nbest) > 1:
        rows = [
            (i + 1, Cell(f"{path.probability:.3f}", path.probability), _labeled(words, path.labels))
            for i, path in enumerate(found.nbest)
        ]
        head = ("", "probability", "labels")
        parts.append(table("The best label sequences", head, rows, kind="words"))
    if found.marginals is not None and len(words):
        parts.append(_marginals(found))
    return page(*parts)


def _marginals(found: Tagging) -> Html:
    assert found.marginals is not None
    largest = found.marginals.max(axis=0)
    columns = sorted(sorted(range(len(largest)), key=lambda k: -largest[k])[:_LABELS])
    rows = [
        (word, *(Cell(f"{row[k]:.2f}", row[k], kind="shade") for k in columns))
        for word, row in zip(found.words[:_WORDS], found.marginals.tolist())
    ]
    head = ("token", *(found.names[k] for k in columns))
    return details("Probabilities of labels", table("Probabilities of labels", head, rows))


def explanation(tokens: Explanation) -> str:
    """Show why tokens have their labels, the least clear one unfolded."""
    words, labels = tokens.words, tokens.labels
    own = [token["probability"] for token in tokens]
    spans = [(*span, min(own[span[0] : span[1]])) for span in _dropchain.spans(labels)]
    least = min((t["margin"] for t in tokens if "margin" in t), default=None)
    shown, note = shortened([_reasons(token, words, least) for token in tokens], _WORDS, "token")
    intro = (
        "The margin of a label is the score of the best label sequence minus that of the best one "
        "with another label there; what weights add to it sums to the margin."
    )
    text = _text(_cut(words, *_marks(labels, spans, own)))
    return page(text, paragraph(intro), *shown, note)


def _reasons(token: dict[str, Any], words: Sequence[str], least: float | None) -> Html:
    word = words[token["token"]]
    summary = f"<b>{escaped(word)}</b> {escaped(token['label'])}"
    if "margin" not in token:
        return details(Html(summary), paragraph("No other label is possible."))
    other = token["runner_up"]
    instead = other["label"]
    if len(other["labels"]) > 1:
        instead = " ".join(
            f"{word}/{label}"
            for word, label in zip(words[other["start"] : other["end"]], other["labels"])
        )
    summary += f", by {token['margin']:.3f} over {escaped(instead)}"
    largest = max((abs(part["contribution"]) for part in token["parts"]), default=1.0) or 1.0
    rows: list[Sequence[Any]] = []
    for part in token["parts"]:
        added = part["contribution"]
        tone = "good" if added >= 0 else "bad"
        reason = part.get("attribute") or part["kind"].replace("_", " ")
        if part["token"] != token["token"]:
            reason = f"{words[part['token']]}: {reason}"
        rows.append((
            reason,
            Cell(f"{added:+.3f}", abs(added) / largest, tone),
            *(f"{_path(part, i)} {part['weights'][i]:.3f}" for i in (0, 1)),
        ))
    rows.append(("others", f"{token['others']['contribution']:+.3f}", "", ""))
    head = ("reason", "adds", "chosen", "instead")
    reasons = table(f"Reasons for {word}", head, rows, kind="words")
    return details(Html(summary), reasons, is_open=token["margin"] == least)


def _path(part: dict[str, Any], which: int) -> str:
    label, previous = part["labels"][which], part.get("previous_labels")
    return label if previous is None else f"{previous[which]} → {label}"


# Models and templates


def tagger(model: Tagger) -> str:
    """Show what a model is."""
    info = model.info
    template = model.template
    rows = [
        ("labels", ", ".join(model.labels)),
        ("label scheme", info["corpus_scheme"]),
        ("columns", ", ".join(model.columns or ()) or "features"),
        ("attributes", f"{info['attributes']:,}"),
        ("weights", f"{info['weights']:,}"),
        ("size", f"{info['bytes'] / 1e6:.2f} MB"),
        ("trained on", f"{info['sentences']:,} sentences, {info['tokens']:,} tokens"),
    ]
    facts = table("Tagger", (), rows, kind="words")
    return page(facts, details("Template", _source(template)) if template is not None else "")


def _source(found: Template) -> Html:
    return Html(f"<pre>{escaped(found.text)}</pre>")


def template(found: Template) -> str:
    """Show the lines of a template, and what it reads."""
    reads = f"reads {', '.join(found.columns)}"
    if found.file_names:
        reads += f"; files {', '.join(found.file_names)}"
    return page(paragraph(f"Template; {reads}."), _source(found))
