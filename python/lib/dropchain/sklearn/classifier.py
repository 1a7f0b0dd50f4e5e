"""The classifier."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from dropchain import _dropchain
from dropchain._training import interrupted
from dropchain.sklearn.estimator import _seed, _threads

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator: Any, *data: Any, **options: Any) -> Any:
        return estimator._validate_data(*data, **options)


_NOISES = ("dropout", "gaussian", "additive", "gaussian-scores", "monte-carlo")


class DropoutClassifier(ClassifierMixin, BaseEstimator):
    """Log-linear classification with simulated feature noise.

    Multinomial logistic regression whose regularizer is the quadratic approximation of dropout
    noise on the features (Wager et al. 2013; Wang et al. 2013): it gains most where there are many
    features and few labeled documents. The bias has neither noise nor penalty.

    Parameters
    ----------
    dropout : float, default=0.7
        The rate of feature noise, from 0 (none) to below 1; the variance, if `noise` is another.
    l2 : float, optional
        Strength of the L2 penalty: `l2` times the sum of the squares of all weights, of which two
        classes have as many as one each. Default: 0.1 with noise, 0.3 without.
    l1 : float, default=0
        Strength of the L1 penalty.
    noise : {'dropout', 'gaussian', 'additive', 'gaussian-scores', 'monte-carlo'}, default='dropout'
        The noise whose effect is minimized, and whose amount `dropout` is.
    masks : {'weights', 'inputs'}, default='weights'
        One dropout mask per weight, or one per feature shared by all classes.
    unlabeled_weight : float, default=0.2
        Weight of the documents of `X_unlabeled` in the noise term.
    max_iter : int, optional
        Most iterations of L-BFGS. Default: until convergence.
    tol : float, default=1e-5
        Training ends when the objective fell by less than this fraction in ten iterations, or the
        norm of the gradient is below this fraction of that of the weights.
    patience : int, default=40
        With `X_dev`: iterations without a better accuracy on it before training ends.
    n_jobs : int, optional
        Number of threads; -1 and the default are one for each processor, or OMP_NUM_THREADS (which
        joblib sets in its processes). The weights do not depend on it.
    random_state : int, RandomState instance, optional
        Seed of monte-carlo noise. Without one, a fixed seed: results are always reproducible.
    verbose : bool or int, default=False
        Whether to print a line for each iteration.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    coef_ : array of shape (1, D) for two classes, else (K, D)
        The weights of features. Of two classes, they are those of the second minus those of the
        first.
    intercept_ : array of shape (1,) for two classes, else (K,)
        The biases.
    n_iter_ : int
        The number of iterations.
    n_features_in_ : int
        The number D of features.
    feature_names_in_ : array of shape (D,)
        The names of the columns, if X is a DataFrame.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from dropchain.sklearn import DropoutClassifier
    >>> X = ["a great, funny film", "great fun", "a dull film", "dull, not funny"]
    >>> y = ["pos", "pos", "neg", "neg"]
    >>> vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True)
    >>> model = make_pipeline(vectorizer, DropoutClassifier()).fit(X, y)
    >>> model.predict(["what a great film"]).tolist()
    ['pos']
    """

    def __init__(
        self,
        dropout: float = 0.7,
        *,
        l2: float | None = None,
        l1: float = 0.0,
        noise: str = "dropout",
        masks: str = "weights",
        unlabeled_weight: float = 0.2,
        max_iter: int | None = None,
        tol: float = 1e-5,
        patience: int = 40,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        parameters = dict(locals())
        del parameters["self"]
        vars(self).update(parameters)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        X_unlabeled: Any = None,
    ) -> DropoutClassifier:
        """Trains the classifier.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, D)
            The features of N documents.
        y : array of shape (N,)
            Their classes.
        sample_weight : array of shape (N,), optional
            Their weights; a weight of 2 counts like the document and a copy of it. With noise
            'monte-carlo' it does so on average: the copy would have masks of its own.
        X_dev, y_dev : as X and y, optional
            Documents whose accuracy ends training early; see `patience`. The weights are then those
            of the best iteration.
        X_unlabeled : as X, optional
            Documents without classes, for the noise term: those to be classified, or others.

        Raises
        ------
        ValueError
            Data or parameters are not valid, or there is one class only.
        Interrupted
            Ctrl-C, a KeyboardInterrupt. The classifier has the weights so far.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("found only one of X_dev and y_dev; expected both or neither")
        if X_unlabeled is not None and not self.dropout:
            raise ValueError("X_unlabeled without dropout; expected a rate above 0")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = _weights(sample_weight, X)
        kept = weights > 0
        self.classes_, numbers = np.unique(y[kept], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"found one class, {self.classes_[0]!r}, of documents with a weight above 0; "
                "expected 2 classes or more"
            )
        documents = [(X[kept], numbers.tolist(), weights[kept])]
        if X_unlabeled is not None:
            documents.append(self._rows(X_unlabeled))
        dev = None if X_dev is None else self._rows(X_dev, y_dev)
        self.coef_, self.intercept_, self.n_iter_, error = _dropchain.train_classifier(
            documents,
            dev,
            json.dumps(self._options(), default=lambda number: number.item()),
            _threads(self.n_jobs),
            _print if self.verbose else None,
        )
        if isinstance(error, KeyboardInterrupt):
            raise interrupted("interrupted; the classifier has the weights so far", self) from None
        if error is not None:
            raise error
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns the scores of classes: the logarithms of their probabilities but for a constant.

        Of two classes, it is that of the second minus that of the first, of shape (N,); otherwise
        the shape is (N, K).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Returns the most probable class of each document."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probabilities of classes, in the order of `classes_`: shape (N, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Returns the logarithms of the probabilities of classes."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def _options(self) -> dict[str, Any]:
        if self.masks not in ("weights", "inputs"):
            raise ValueError(f"masks {self.masks!r}; expected 'weights' or 'inputs'")
        if self.noise not in _NOISES:
            raise ValueError(f"noise {self.noise!r}; expected one of {', '.join(_NOISES)}")
        names = ("dropout", "noise", "masks", "l2", "l1", "unlabeled_weight", "patience")
        return {
            **{name: getattr(self, name) for name in names},
            "max_iterations": self.max_iter,
            "tolerance": self.tol,
            "seed": 1 if self.random_state is None else _seed(self.random_state),
        }

    def _rows(self, X: Any, y: Any = None) -> tuple[Any, list[int | None], np.ndarray]:
        """Documents with classes, which need not be known, and weights of 1."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        labels: list[int | None] = [None] * X.shape[0]
        if y is not None:
            y = column_or_1d(y)
            check_consistent_length(X, y)
            numbers = {label: number for number, label in enumerate(self.classes_.tolist())}
            labels = [numbers.get(label) for label in y.tolist()]
        return X, labels, np.ones(len(labels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _weights(weights: Any, X: Any) -> np.ndarray:
    if weights is None:
        return np.ones(X.shape[0])
    weights = column_or_1d(weights, dtype=np.float64)
    check_consistent_length(X, weights)
    bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weights[bad[0]]}; expected a finite number of 0 or more"
        )
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero; expected some above it")
    return weights


def _print(number: int, objective: float, accuracy: float | None) -> None:
    line = f"iteration {number}: objective {objective:.6g}"
    if accuracy is not None:
        line += f", dev accuracy {accuracy:.4f}"
    print(line, flush=True)
