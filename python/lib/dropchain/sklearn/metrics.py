"""Scores of sequences of labels: of items, of sequences, and of spans.

The ``flat_…`` functions are those of scikit-learn for all items, one after the other; they take
their other arguments. The ``span_…`` functions are about names and chunks: labels in IOB1, IOB2 or
BIOES encode spans, and a span is right if its limits and its type are, as in conlleval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dropchain.sklearn.utils import flatten

if TYPE_CHECKING:
    from dropchain import Evaluation

Sequences = Iterable[Sequence[Any]]


def _flat(name: str, doc: str) -> Callable[..., Any]:
    """Returns the function of `sklearn.metrics` of this name, for sequences."""

    def score(y_true: Sequences, y_pred: Sequences, *args: Any, **kwargs: Any) -> Any:
        from sklearn import metrics

        y_true, y_pred = list(y_true), list(y_pred)
        _check_lengths(y_true, y_pred)
        return getattr(metrics, name)(flatten(y_true), flatten(y_pred), *args, **kwargs)

    score.__name__ = score.__qualname__ = f"flat_{name}"
    score.__doc__ = doc
    return score


def _check_lengths(y_true: Sequence[Sequence[Any]], y_pred: Sequence[Sequence[Any]]) -> None:
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences, y_pred {len(y_pred)}")
    for i, (true, predicted) in enumerate(zip(y_true, y_pred, strict=True)):
        if len(true) != len(predicted):
            raise ValueError(f"y_true[{i}] has {len(true)} labels, y_pred[{i}] {len(predicted)}")


flat_accuracy_score = _flat("accuracy_score", "Returns the fraction of items whose label is right.")
flat_precision_score = _flat("precision_score", "Returns the precision of labels.")
flat_recall_score = _flat("recall_score", "Returns the recall of labels.")
flat_f1_score = _flat("f1_score", "Returns the F1 of labels.")
_fbeta_score = _flat("fbeta_score", "Returns the F-beta of labels.")
_classification_report = _flat("classification_report", "Returns scikit-learn's report on labels.")


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """Returns the F-beta of labels."""
    return _fbeta_score(y_true, y_pred, beta=beta, **kwargs)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """Returns scikit-learn's report on labels."""
    return _classification_report(y_true, y_pred, labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Returns the fraction of sequences all of whose labels are right; 0 of none."""
    y_true, y_pred = list(y_true), list(y_pred)
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences, y_pred {len(y_pred)}")
    if not y_true:
        return 0
    pairs = zip(y_true, y_pred, strict=True)
    return sum(list(true) == list(predicted) for true, predicted in pairs) / len(y_true)


def span_evaluation(y_true: Sequences, y_pred: Sequences) -> Evaluation:
    """Counts spans that are right, missed, and found wrongly: all there is to know of them."""
    from dropchain import evaluate

    y_true, y_pred = ([list(labels) for labels in y] for y in (y_true, y_pred))
    _check_lengths(y_true, y_pred)
    return evaluate(y_true, y_pred)


def span_precision_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Returns the fraction of predicted spans that are right."""
    return span_evaluation(y_true, y_pred).precision


def span_recall_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Returns the fraction of spans that are found."""
    return span_evaluation(y_true, y_pred).recall


def span_f1_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Returns the F1 of spans: that of conlleval.

    >>> from dropchain.sklearn import metrics
    >>> y_true = [["B-PER", "I-PER", "O"], ["B-LOC", "O", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "O"], ["O", "O", "O"]]
    >>> round(metrics.span_f1_score(y_true, y_pred), 4)
    0.6667
    """
    return span_evaluation(y_true, y_pred).f1


def span_report(y_true: Sequences, y_pred: Sequences) -> str:
    """Returns the report of conlleval: the scores of spans, of each type and of all."""
    return str(span_evaluation(y_true, y_pred))
