"""What explanations return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dropchain import _dropchain
from dropchain._frames import frame
from dropchain._html import Cell, Html, details, escaped, page, paragraph, shortened, table
from dropchain._views import WORDS, beginning, marks_of, text_line

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


class Explanation(list[dict[str, Any]]):
    """Why the tokens of a sentence have their labels: what :meth:`Tagger.explain` returns.

    A list with a dict for each token, which that method describes. ``str(…)`` is the text of
    `dropchain explain`.
    """

    words: list[str]
    """The words; of a sentence with features, `token 1`, `token 2` and so on."""

    def __init__(
        self, tokens: Iterable[dict[str, Any]] = (), words: Iterable[str] = (), text: str = ""
    ) -> None:
        super().__init__(tokens)
        self.words = list(words)
        self._text = text

    @property
    def labels(self) -> list[str]:
        """The label of each token."""
        return [token["label"] for token in self]

    def to_dict(self) -> dict[str, Any]:
        """Return words, labels and explanations, for JSON."""
        return {"tokens": self.words, "labels": self.labels, "explanations": list(self)}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each part of a margin."""
        rows = []
        for word, token in zip(self.words, self):
            own = {"token": token["token"], "text": word, "label": token["label"]}
            own["margin"] = token.get("margin")
            own["runner_up"] = token.get("runner_up", {}).get("label")
            for part in token.get("parts", ()):
                rows.append({**own, "at": part["token"], **part, "token": own["token"]})
        return frame(rows)

    def _repr_html_(self) -> str:
        """Show why tokens have their labels, the least clear one unfolded."""
        words, labels = self.words, self.labels
        own = [token["probability"] for token in self]
        spans = [(a, b, kind, min(own[a:b])) for a, b, kind in _dropchain.spans(labels)]
        least = min((t["margin"] for t in self if "margin" in t), default=None)
        shown, note = shortened([_reasons(token, words, least) for token in self], WORDS, "token")
        intro = (
            "The margin of a label is the score of the best label sequence minus that of the best "
            "one with another label there; what weights add to it sums to the margin."
        )
        text = text_line(beginning(words, *marks_of(labels, spans, own)))
        return page(text, paragraph(intro), *shown, note)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} tokens>"


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
