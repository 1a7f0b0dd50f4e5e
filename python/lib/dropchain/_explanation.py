"""What explanations return."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dropchain import _dropchain
from dropchain._frames import frame
from dropchain._html import page, shortened
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

    blocks: list[dict[str, Any]]
    """The spans and the tokens outside of them: `start`, `end`, `text`, `label` and `probability`,
    whether they are `outside` of spans and `notable`, and the `token` whose dict explains them."""

    def __init__(
        self,
        tokens: Iterable[dict[str, Any]] = (),
        words: Iterable[str] = (),
        text: str = "",
        blocks: Iterable[dict[str, Any]] = (),
    ) -> None:
        super().__init__(tokens)
        self.words = list(words)
        self.blocks = list(blocks)
        self._text = text

    @property
    def labels(self) -> list[str]:
        """The label of each token."""
        return [token["label"] for token in self]

    def to_dict(self) -> dict[str, Any]:
        """Return words, labels and explanations, for JSON."""
        return {
            "tokens": self.words,
            "labels": self.labels,
            "explanations": list(self),
            "blocks": self.blocks,
        }

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
        """Show why spans have their labels, the least clear one unfolded."""
        words, labels = self.words, self.labels
        own = [token["probability"] for token in self]
        spans = [(a, b, kind, min(own[a:b])) for a, b, kind in _dropchain.spans(labels)]
        blocks, note = shortened(self.blocks, WORDS, "token")
        last = blocks[-1]["end"] if blocks else 0
        shown = {"tokens": words[:last], "blocks": blocks, "explanations": self[:last]}
        text = text_line(beginning(words, *marks_of(labels, spans, own)))
        return page(text, _dropchain.explanation_html(json.dumps(shown)), note)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} tokens>"
