"""Scores of predictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from dropchain import _data, _dropchain
from dropchain._dropchain import Corpus, Tagger
from dropchain._scores import Comparison, Evaluation


def evaluate(
    gold: Any,
    predicted: Any,
    *,
    threads: int | None = None,
    threshold: float | str | dict[str, float] | None = None,
    constrain: bool = True,
    format: str | None = None,
    sentence: str | Iterable[str] | None = None,
    word: str | None = None,
    columns: str | Iterable[str] | None = None,
    label: str | int | None = None,
    plain_labels: str = "auto",
    outside: str | None = None,
) -> Evaluation:
    """Score predicted labels against gold labels, as conlleval does.

    Parameters
    ----------
    gold : labels of each sentence, or what :func:`dropchain.train` takes as data, (X, y) too
        The right labels.
    predicted : Tagger, Corpus or labels of each sentence
        A tagger tags the sentences of `gold`, which must then be more than labels.
    threads : int, optional
        Of the tagger.
    threshold : float, str or dict, optional
        Of the tagger: as for :meth:`Tagger.tag`.
    constrain : bool
        Whether the tagger predicts only sequences that are legal in the label scheme.
    format, sentence, word, columns, label
        How to read files and tables: see :meth:`Corpus.read` and :class:`Corpus`. By default files
        are read like the tagger's corpus.
    plain_labels : {"auto", "spans", "tags"}
        What labels without B- or I- are: types of spans (PERSON, O) or tags (parts of speech); by
        default what the tagger says, or what they look like.
    outside : str, optional
        The label of tokens outside of all spans; by default `O`, or by evidence another.

    Warns
    -----
    UserWarning
        Some gold labels do not fit the scheme of the others.

    Examples
    --------
    >>> import dropchain
    >>> evaluation = dropchain.evaluate([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    >>> evaluation
    <Evaluation F1 66.67, accuracy 66.67>
    >>> print(evaluation)
    processed 3 tokens with 2 phrases; found: 1 phrases; correct: 1.
    accuracy:  66.67%; precision: 100.00%; recall:  50.00%; FB1:  66.67
                  LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
                  PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
    <BLANKLINE>
    """
    reading: dict[str, Any] = {"columns": columns, "label": label}
    reading = {**reading, "sentence": sentence, "word": word, "format": format}
    if not isinstance(predicted, Tagger):
        if threshold is not None:
            raise ValueError("threshold is for the spans of a tagger; expected one as predicted")
        predicted = _data.labels_or_corpus(predicted, "predicted", format=format)
        gold = _data.labels_or_corpus(gold, "gold", **reading)
        return _dropchain.evaluate(gold, predicted, plain_labels, outside)
    if _data.paths(gold):
        reading["like"] = predicted
    corpus = _data.labeled(gold, "gold", **reading)
    labels = predicted.tag_batch(corpus, threads=threads, threshold=threshold, constrain=constrain)
    if plain_labels == "auto":
        plain_labels = {"plain": "spans", "raw": "tags"}.get(predicted.info["scheme"], "auto")
    evaluation = _dropchain.evaluate(corpus, labels, plain_labels, outside)
    return dataclasses.replace(evaluation, _tagged=(predicted, corpus))


def compare(
    gold: Any,
    a: Any,
    b: Any,
    *,
    samples: int = 20_000,
    seed: int = 1,
    threads: int | None = None,
    plain_labels: str = "auto",
    outside: str | None = None,
) -> Comparison:
    """Test whether two taggers differ significantly, by paired bootstrap.

    Parameters
    ----------
    gold : as for :func:`evaluate`
        The right labels.
    a, b : Tagger, Corpus or labels of each sentence
        Two taggers, or what they predicted.
    samples : int
        The number of samples; each draws as many sentences as there are, with replacement.
    seed : int
        Seed of the samples.
    threads : int, optional
        By default one for each processor. The result does not depend on it.
    plain_labels, outside
        As for :func:`evaluate`.

    Examples
    --------
    >>> import dropchain
    >>> gold = [["B-PER", "O"], ["B-LOC", "O"], ["O", "B-PER"]]
    >>> comparison = dropchain.compare(gold, gold, [["O", "O"], ["B-LOC", "O"], ["O", "O"]])
    >>> comparison.f1
    <Difference -50.00, from 100.00 to 50.00, p-value 0.0685>
    """
    gold = _data.labels_or_corpus(gold, "gold")
    a, b = (_predictions(gold, part, name, threads) for part, name in ((a, "a"), (b, "b")))
    return _dropchain.compare(gold, a, b, samples, seed, threads, plain_labels, outside)


def _predictions(gold: Any, predicted: Any, name: str, threads: int | None) -> Any:
    """Return the labels that a tagger predicts, or that are given."""
    if isinstance(predicted, Tagger):
        if not isinstance(gold, Corpus):
            raise TypeError(f"{name} is a tagger; expected a Corpus as gold, to be tagged")
        return predicted.tag_batch(gold, threads=threads)
    return _data.labels_or_corpus(predicted, name)
