"""The sample corpus."""

from __future__ import annotations

from typing import Literal

from dropchain._dropchain import Corpus, sample_text


def sample_corpus(
    part: Literal["train", "dev", "test"] = "train", *, label: Literal["ner", "upos"] = "ner"
) -> Corpus:
    """Return a part of a small English corpus that comes with dropchain, for first steps.

    Parameters
    ----------
    part : {"train", "dev", "test"}
        1,076, 311 or 311 sentences.
    label : {"ner", "upos"}
        Labels are named entities or parts of speech. The other is a column.

    Examples
    --------
    >>> import dropchain
    >>> dropchain.sample_corpus("dev")
    <Corpus of 311 sentences, 3844 tokens>
    """
    if label not in ("ner", "upos"):
        raise ValueError(f"label '{label}'; expected 'ner' or 'upos'")
    text, columns = sample_text(part), ["word", "upos", "ner"]
    name = f"sample-{part}.conll"
    return Corpus.parse(text, format="conll", columns=columns, label=label, name=name)
