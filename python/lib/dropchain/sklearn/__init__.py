"""Estimators: a drop-in replacement of sklearn-crfsuite, and a classifier of documents.

Replace ``import sklearn_crfsuite`` by ``import dropchain.sklearn as sklearn_crfsuite``, or
``from sklearn_crfsuite import CRF, metrics`` by ``from dropchain.sklearn import CRF, metrics``.

>>> from dropchain.sklearn import CRF
>>> X = [[{"word": "Ada"}, {"word": "left"}], [{"word": "she"}, {"word": "left"}]]
>>> y = [["NAME", "O"], ["O", "O"]]
>>> CRF(c2=0.1).fit(X, y).predict_single(X[0])
['NAME', 'O']

:class:`DropoutClassifier` needs scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dropchain.sklearn.estimator import CRF

if TYPE_CHECKING:
    from dropchain.sklearn.classifier import DropoutClassifier

__all__ = ["CRF", "DropoutClassifier"]


def __getattr__(name: str) -> Any:
    if name == "DropoutClassifier":
        from dropchain.sklearn.classifier import DropoutClassifier

        return DropoutClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
