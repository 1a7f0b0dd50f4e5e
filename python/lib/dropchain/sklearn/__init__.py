"""A drop-in replacement of sklearn-crfsuite.

Replace ``import sklearn_crfsuite`` by ``import dropchain.sklearn as sklearn_crfsuite``, or
``from sklearn_crfsuite import CRF, metrics`` by ``from dropchain.sklearn import CRF, metrics``.

>>> from dropchain.sklearn import CRF
>>> X = [[{"word": "Ada"}, {"word": "left"}], [{"word": "she"}, {"word": "left"}]]
>>> y = [["NAME", "O"], ["O", "O"]]
>>> CRF(c2=0.1).fit(X, y).predict_single(X[0])
['NAME', 'O']
"""

from dropchain.sklearn.estimator import CRF

__all__ = ["CRF"]
