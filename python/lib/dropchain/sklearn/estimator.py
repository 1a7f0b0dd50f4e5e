"""The estimator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from dropchain import _dropchain, pycrfsuite
from dropchain._dropchain import Interrupted
from dropchain._values import Span
from dropchain._tuples import described
from dropchain.pycrfsuite._parameters import EXTENSIONS, PARAMETERS
from dropchain.sklearn.trainer import LinePerIterationTrainer

if TYPE_CHECKING:
    from dropchain.pycrfsuite._dumpparser import ParsedDump

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for that of scikit-learn where this is not installed."""

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator has not been fitted."""


# Parameters that CRFsuite calls otherwise.
_RENAMED = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}

# Parameters of CRFsuite, by those of the estimator.
_PARAMETERS = {
    _RENAMED.get(name, name.replace(".", "_")): name
    for parameters in PARAMETERS.values()
    for name in parameters
}

class CRF(BaseEstimator):
    """A linear-chain CRF with the interface of scikit-learn.

    Parameters are those of sklearn-crfsuite, then those that it does not have. The default None
    of a parameter is the default of CRFsuite; a parameter that the algorithm does not have must be
    None.

    Parameters
    ----------
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}, default='lbfgs'
        L-BFGS, stochastic gradient descent with L2 regularization, averaged perceptron,
        passive-aggressive, or adaptive regularization of weights (AROW).
    min_freq : float, default=0
        Pairs of an attribute and a label, and pairs of labels, that are less frequent are dropped.
    all_possible_states : bool, default=False
        Whether attributes have weights for all labels, not only for those that they occur with.
    all_possible_transitions : bool, default=False
        Whether all pairs of labels have weights, not only those that occur.
    c1 : float, default=0
        Strength of the L1 regularization (lbfgs).
    c2 : float, default=1
        Strength of the L2 regularization (lbfgs, l2sgd).
    max_iterations : int
        Maximum number of iterations. Default: none for lbfgs, 1000 for l2sgd, else 100.
    epsilon : float
        Stops when the gradient (lbfgs, default 1e-5) or the mean loss (ap, pa, arow, default 0) is
        below this.
    calibration_eta : float, default=0.1
        The first learning rate of calibration (l2sgd).
    c : float, default=1
        Aggressiveness (pa).
    variance : float, default=1
        Variance of weights at the start (arow).
    gamma : float, default=1
        Tradeoff between the loss and changes of the weights (arow).
    num_memories, period, delta, linesearch, max_linesearch, calibration_rate, \
calibration_samples, calibration_candidates, calibration_max_trials, pa_type, error_sensitive, \
averaging
        None, or the default of CRFsuite: dropchain has no such parameters.
    verbose : bool, default=False
        Whether to print a line for each iteration.
    model_filename : str, optional
        Path of a model file: `fit` writes it, and an estimator that was not fitted reads it.
    keep_tempfiles : bool, default=False
        Has no effect: there are no temporary files.
    trainer_cls : type, optional
        A subclass of `dropchain.pycrfsuite.Trainer`.
    dropout : float, default=0
        Rate of simulated dropout of attributes, a regularizer (lbfgs, l2sgd). 0.3 is a good start
        for names, with a `c2` of 0.1.
    edge_dropout : float, optional
        The rate for transitions, by default `dropout`.
    noise : {'dropout', 'gaussian', 'additive', 'reweighted', 'monte-carlo'}, default='dropout'
        The noise whose effect is minimized, and whose amount `dropout` is.
    warm_up : int, optional
        Number of iterations before those with noise.
    unlabeled_weight : float, default=0.02
        Weight of the sequences of `X_unlabeled` in the noise term.
    patience : int, optional
        With `X_dev`: stops after this many iterations without a better score on it (F1 of spans if
        labels encode spans, else accuracy), and keeps the best iteration. By default the scores
        are only logged.
    init : CRF, Tagger or path, optional
        A model whose weights training starts at, and whose labels and attributes the new one keeps:
        a fitted estimator, a tagger or a file. ``CRF(init=crf).fit(X, y)`` trains `crf` on; the
        data of its own training should be part of `X`, or they are forgotten.
    n_jobs : int, optional
        Number of threads; -1 and the default are one for each processor, or OMP_NUM_THREADS (which
        joblib sets in its processes). The model does not depend on it.
    random_state : int, RandomState instance, optional
        Seed of the order of sequences (l2sgd, ap, pa, arow) and of monte-carlo noise. Without one,
        a fixed seed: results are always reproducible.

    Attributes
    ----------
    training_log_ : TrainLogParser
        What training logged: `iterations` has the numbers of each.
    """

    # Class attributes, so that `__init__` sets nothing but parameters.
    training_log_: Any = None
    _model: _dropchain.Tagger | None = None
    _tagger: pycrfsuite.Tagger | None = None
    _info_cached: ParsedDump | None = None

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type | None = None,
        dropout: float | None = None,
        edge_dropout: float | None = None,
        noise: str | None = None,
        warm_up: int | None = None,
        unlabeled_weight: float | None = None,
        patience: int | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        parameters = dict(locals())
        del parameters["self"]
        vars(self).update(parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the parameters. `init` is that of the model if it is a fitted estimator, of which
        ``clone`` would make one that is not fitted.
        """
        params = super().get_params(deep=False)
        return {**params, "init": _model_of(params["init"])}

    def __getattr__(self, name: str) -> Any:
        if name == "partial_fit":
            raise AttributeError(
                "CRF has no partial_fit: more data need the old ones, too; expected "
                "CRF(init=crf).fit(X, y), which starts at the weights of crf"
            )
        return object.__getattribute__(self, name)

    def fit(
        self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None, X_unlabeled: Any = None
    ) -> CRF:
        """Trains a model.

        Parameters
        ----------
        X : list of lists of dicts, of lists of strings, or of ItemSequence
            The features of each item of each sequence; see `dropchain.pycrfsuite.ItemSequence`.
        y : list of lists of str
            The label of each item.
        X_dev, y_dev : as X and y, optional
            Sequences to score after each iteration; see `patience`.
        X_unlabeled : as X, optional
            Sequences without labels, for the noise term; see `dropout`.

        Raises
        ------
        ValueError
            Lengths differ, there are no data, or features or parameters are not valid. The message
            names the place, such as ``X[3][7]``.
        TypeError
            A label is not a string.
        Interrupted
            Ctrl-C, a KeyboardInterrupt. The estimator has the model so far.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("found only one of X_dev and y_dev; expected both or neither")
        if self.patience is not None and X_dev is None:
            raise ValueError(f"patience={self.patience} without X_dev; expected data to score")
        trainer = self._get_trainer()
        self._append(trainer, X, y)
        if not trainer._instances:
            raise ValueError("X has no sequences, or they have no items; expected some to train on")
        if X_dev is not None:
            self._append(trainer, X_dev, y_dev, group=1)
        if X_unlabeled is not None:
            if not self.dropout and not self.edge_dropout:
                raise ValueError("X_unlabeled without dropout; expected a rate above 0")
            trainer._append_unlabeled(X_unlabeled, "X_unlabeled")
        filename = "" if self.model_filename is None else os.fspath(self.model_filename)
        try:
            model = trainer._train_model(filename, -1 if X_dev is None else 1)
        except Interrupted as interrupted:
            if interrupted.result is not None:
                self._set_fitted(interrupted.result._model, trainer)
            raise
        self._set_fitted(model, trainer)
        return self

    def _set_fitted(self, model: Any, trainer: pycrfsuite.BaseTrainer) -> None:
        self._model = model
        self._tagger = self._info_cached = None
        self.training_log_ = getattr(trainer, "logparser", None)

    def _append(self, trainer: pycrfsuite.BaseTrainer, X: Any, y: Any, group: int = 0) -> None:
        names = ("X_dev", "y_dev") if group else ("X", "y")
        if self.verbose:
            X = _with_progress(X, f"loading {names[0]}")
        if type(trainer).append is pycrfsuite.BaseTrainer.append:
            trainer._append_all(X, y, group, names)
            return
        for items, labels in zip(X, y, strict=True):
            trainer.append(items, labels, group)

    def predict(self, X: Any) -> np.ndarray:
        """Predicts labels, of many sequences in parallel.

        Parameters
        ----------
        X : as for `fit`

        Returns
        -------
        array of lists of str
            The labels of each sequence. As with sklearn-crfsuite, sequences of the same length
            make an array of two dimensions.
        """
        return np.array(self._fitted()._opened()._tag_all(X, _threads(self.n_jobs)), dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """Predicts the labels of a sequence."""
        return self._fitted().tag(xseq)

    def predict_spans(
        self,
        X: Any,
        *,
        probability: bool = False,
        threshold: float | str | dict[str, float] | None = None,
    ) -> list[list[Span]]:
        """Predicts the spans that labels such as B-PER encode.

        Parameters
        ----------
        X : as for `fit`
        probability : bool
            Spans have their `probability`: that the labels encode them.
        threshold : float, str or dict, optional
            Leaves out spans below this probability: 0.8, or by type ``{"PER": 0.9}`` or
            ``"PER=0.9,LOC=0.6"``.

        Returns
        -------
        list of lists of dropchain.Span
            With `token_start`, `token_end` (exclusive), `type` and `probability`.
        """
        model, threads = self._fitted()._opened(), _threads(self.n_jobs)
        return model._spans_of_all(X, threads, probability, threshold)

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Returns the probabilities of labels, ``{label: probability}`` for each item.

        They are probabilities for the algorithms lbfgs and l2sgd only.
        """
        return self._fitted()._opened()._tag_all(X, _threads(self.n_jobs), marginals=True)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Returns the probabilities of labels, ``{label: probability}`` for each item."""
        return self._fitted()._opened()._tag_all([xseq], 1, "sequence", marginals=True)[0]

    def score(self, X: Any, y: Any) -> float:
        """Returns the fraction of items whose label is predicted.

        `dropchain.sklearn.metrics` has other scores.
        """
        from dropchain.sklearn.metrics import flat_accuracy_score

        return flat_accuracy_score(y, self.predict(X))

    @property
    def tagger_(self) -> pycrfsuite.Tagger | None:
        """The tagger; None before `fit`."""
        if self._tagger is None:
            if self._model is not None:
                self._tagger = pycrfsuite.Tagger()._open_trained(self._model)
            elif self.model_filename is not None:
                tagger = pycrfsuite.Tagger()
                tagger.open(self.model_filename)
                self._tagger = tagger
        return self._tagger

    def _fitted(self) -> pycrfsuite.Tagger:
        tagger = self.tagger_
        if tagger is None:
            raise NotFittedError(
                "This CRF instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return tagger

    @property
    def classes_(self) -> list[str] | None:
        """The labels; None before `fit`."""
        tagger = self.tagger_
        return None if tagger is None else tagger.labels()

    @property
    def size_(self) -> int | None:
        """The size of the model file in bytes; None before `fit`."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """The number of attributes with nonzero weights; None before `fit`."""
        return None if self._info is None else int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes with nonzero weights; None before `fit`."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of attributes, ``{(attribute, label): weight}``; None before `fit`."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of label pairs, ``{(from, to): weight}``; None before `fit`."""
        return None if self._info is None else self._info.transitions

    @property
    def _info(self) -> ParsedDump | None:
        tagger = self.tagger_
        if tagger is None:
            return None
        if self._info_cached is None:
            self._info_cached = tagger.info()
        return self._info_cached

    def _get_trainer(self) -> pycrfsuite.BaseTrainer:
        trainer_cls = self.trainer_cls or LinePerIterationTrainer
        if not issubclass(trainer_cls, pycrfsuite.BaseTrainer):
            raise TypeError(
                f"trainer_cls={trainer_cls!r}; expected a subclass of dropchain.pycrfsuite.Trainer"
            )
        given = {name: getattr(self, own) for own, name in _PARAMETERS.items()}
        params = {name: value for name, value in given.items() if value is not None}
        trainer = trainer_cls(algorithm=self.algorithm, params=params, verbose=self.verbose)
        extensions = {name: getattr(self, name, None) for name in EXTENSIONS}
        extensions = {name: value for name, value in extensions.items() if value is not None}
        if self.dropout and self.edge_dropout is None:
            extensions["edge_dropout"] = None  # that of the library, not that of CRFsuite
        if self.random_state is not None:
            extensions["seed"] = _seed(self.random_state)
        if self.init is not None:
            extensions["init"] = _model_of(self.init)
            if isinstance(extensions["init"], CRF):
                raise NotFittedError("init is not fitted; expected CRF(init=crf) of a fitted crf")
        trainer.extensions.update(extensions)
        trainer.threads = _threads(self.n_jobs)
        return trainer

    def __getstate__(self) -> dict[str, Any]:
        get = getattr(super(), "__getstate__", None)
        state = dict(get() if get is not None else self.__dict__)
        state.pop("_tagger", None)
        state.pop("_info_cached", None)
        # The pickle of an estimator that was fitted elsewhere is complete, too.
        filename = self.model_filename
        if state.get("_model") is None and filename is not None and os.path.exists(filename):
            state["_model"] = _dropchain.Tagger.open(filename)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        if self._model is not None or self._tagger is not None:
            return True
        return self.model_filename is not None and os.path.exists(self.model_filename)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        tags.requires_fit = self.model_filename is None
        return tags


def _model_of(init: Any) -> Any:
    """The model of a fitted estimator; anything else as it is."""
    if isinstance(init, CRF) and init.tagger_ is not None:
        return init.tagger_._opened()
    return getattr(init, "tagger", init)


def _threads(n_jobs: int | None) -> int | None:
    """The number of threads; None is one for each processor."""
    if n_jobs is None or n_jobs == -1:
        given = os.environ.get("OMP_NUM_THREADS", "")
        return int(given) if given.isdecimal() and int(given) > 0 else None
    if n_jobs < -1:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs=0; expected a number of threads, or -1 for all processors")
    return n_jobs


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}; expected 0 or more")
        return int(random_state)
    if not hasattr(random_state, "randint"):
        expected = "None, an integer or a RandomState of NumPy"
        raise ValueError(f"random_state={described(random_state)}; expected {expected}")
    return int(random_state.randint(2**31 - 1))


def _with_progress(X: Any, title: str) -> Any:
    """Shows progress if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return X
    return tqdm(X, title, leave=True)
