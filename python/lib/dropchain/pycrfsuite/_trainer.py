"""The trainers."""

from __future__ import annotations

import functools
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from dropchain import _data, _dropchain
from dropchain._dropchain import CrfTrainer, Interrupted
from dropchain._training import interrupted
from dropchain.pycrfsuite._logparser import TrainLogParser
from dropchain.pycrfsuite._messages import MessageWriter
from dropchain.pycrfsuite._parameters import ALIASES, PARAMETERS, Parameter, train_options
from dropchain.pycrfsuite._tagger import Tagger


def _one_at_a_time(method: Callable[..., None]) -> Callable[..., None]:
    """Let a method that changes the data wait for other threads that do."""

    @functools.wraps(method)
    def waiting(self: BaseTrainer, *args: Any, **kwargs: Any) -> None:
        with self._lock:
            method(self, *args, **kwargs)

    return waiting


class BaseTrainer(CrfTrainer):
    """Collects training data and trains models with the algorithms of CRFsuite.

    Parameters
    ----------
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}, optional
        See `select`.
    params : dict, optional
        Parameters; see `set`.
    verbose : bool, optional
        Whether `message` prints.

    Attributes
    ----------
    threads : int or None
        Number of threads to train with; None is one for each processor. Models do not depend on
        it.
    extensions : dict
        Options that CRFsuite does not have: ``dropout``, ``edge_dropout``, ``noise``,
        ``warm_up``, ``unlabeled_weight``, ``seed``; ``patience``, with which a
        held-out group ends training and chooses the iteration; ``plain`` (of lbfgs; False for
        fewer iterations than those of CRFsuite); ``precision`` (``'double'`` for model files with
        weights in double precision); ``init`` (the model to start from: a tagger, or its file).
    """

    verbose: bool
    threads: int | None
    extensions: dict[str, Any]
    _algorithm: str
    _values: dict[str, Any]
    _lock: threading.RLock

    def __new__(cls, *args: Any, **kwargs: Any) -> BaseTrainer:
        # Here, since classes that extend this one need not call its __init__.
        self = super().__new__(cls)
        self._lock = threading.RLock()
        self.verbose = True
        self.threads = None
        self.extensions = {}
        BaseTrainer.select(self, "lbfgs")
        return self

    def __init__(
        self,
        algorithm: str | None = None,
        params: Mapping[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    append = _one_at_a_time(CrfTrainer.append)
    clear = _one_at_a_time(CrfTrainer.clear)
    _append_all = _one_at_a_time(CrfTrainer._append_all)
    _append_unlabeled = _one_at_a_time(CrfTrainer._append_unlabeled)

    def message(self, message: str) -> None:
        """Receives a message of training. By default, prints it if `verbose` is set.

        Override it to use the messages. An exception ends training.
        """
        if self.verbose:
            print(message, end="")

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Selects the algorithm; parameters get its defaults.

        Parameters
        ----------
        algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}
            L-BFGS, stochastic gradient descent with L2 regularization, averaged perceptron,
            passive-aggressive, or adaptive regularization of weights.
        type : {'crf1d'}, optional
            The graphical model.

        Raises
        ------
        ValueError
            There is no such algorithm or type.
        """
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in PARAMETERS or type != "crf1d":
            raise ValueError(
                f"Bad arguments: algorithm={algorithm!r}, type={type!r}; expected one of "
                f"{', '.join([*PARAMETERS, *ALIASES])} and crf1d"
            )
        self._algorithm = name
        self._values = {p.name: p.parse(p.default) for p in PARAMETERS[name].values()}

    def params(self) -> list[str]:
        """Returns the names of the parameters of the algorithm."""
        return list(self._values)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Sets parameters, ``{name: value}``; see `set`."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Returns all parameters, ``{name: value}``."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter.

        Parameters
        ----------
        name : str
            Its name; `help` describes it.
        value : float, int, bool or str
            Its value.

        Raises
        ------
        ValueError
            The algorithm has no such parameter, or the value has the wrong type.
        """
        self._values[name] = self._parameter(name).parse(value)

    def get(self, name: str) -> Any:
        """Returns the value of a parameter; raises ValueError as `set` does."""
        return self._parameter(name).cast(self._values[name])

    def help(self, name: str) -> str:
        """Returns the description of a parameter; raises ValueError as `set` does."""
        return self._parameter(name).help

    def _parameter(self, name: str) -> Parameter:
        if not isinstance(name, str):
            raise TypeError(f"found {name!r} as the name of a parameter; expected a string")
        parameter = PARAMETERS[self._algorithm].get(name)
        if parameter is None:
            raise ValueError(
                f"Parameter not found: {name}; {self._algorithm} has {', '.join(self._values)}"
            )
        return parameter

    def train(self, model: str | bytes | os.PathLike[str], holdout: int = -1) -> None:
        """Trains a model on the instances that were appended and writes it to a file.

        Parameters
        ----------
        model : str
            The path of the model file, which is replaced atomically. If it is empty, no file is
            written.
        holdout : int, optional
            The group to hold out: its instances are not trained on, and tagged after each
            iteration. By default, none is.

        Raises
        ------
        OSError
            The file cannot be written.
        Interrupted
            Ctrl-C, a KeyboardInterrupt: the model so far has been written.
        """
        path = os.fsdecode(model)
        self._train_model(path, holdout, logs_storing=bool(path))

    def _before_train(self) -> None:
        pass

    def _happened(self, event: str, value: Any = None) -> None:
        """Receives an event, after its messages."""

    def _train_model(
        self, path: str, holdout: int = -1, *, logs_storing: bool = True
    ) -> _dropchain.Tagger | None:
        """Trains a model and writes it to a file unless `path` is empty; None without data.

        `logs_storing` says whether the log has the messages of a model that is written.
        """
        self._before_train()
        instances = self._training_instances(holdout)
        messages = MessageWriter(self, holdout, instances)
        if not instances:
            messages.without_data()
            warnings.warn("there are no training data; no model was trained", stacklevel=3)
            return None
        messages.begin()
        extensions = dict(self.extensions)
        init = _data.tagger(extensions.pop("init", None), "init")
        options = train_options(self._algorithm, self._values, extensions)
        if init is not None:
            del options["boundary"]  # those of the model
        try:
            outcome = self._train(options, holdout, self.threads, messages.event, init)
        except KeyboardInterrupt as interrupt:
            raise self._interrupted(None, path) from interrupt
        model, raised = outcome["tagger"], outcome["exception"]
        if raised is not None:
            if not isinstance(raised, KeyboardInterrupt):
                raise raised
            raise self._interrupted(model if outcome["iterations"] else None, path) from raised
        if outcome["warning"] is not None:
            warnings.warn(outcome["warning"], stacklevel=3)
        if logs_storing:
            messages.begin_storing(*model._counts())
        if path:
            model._save(path)
        if logs_storing:
            messages.end_storing()
        return model

    @staticmethod
    def _interrupted(model: _dropchain.Tagger | None, path: str) -> Interrupted:
        """Saves the model of an interrupted training run."""
        if model is None:
            return interrupted("training was interrupted in its first iteration", None)
        saved = ""
        if path:
            model._save(path)
            saved = f"; the model so far is in {path}"
        return interrupted("training was interrupted" + saved, Tagger()._open_trained(model))


class Trainer(BaseTrainer):
    """A trainer that records what training logs and calls a method for each event.

    Override ``on_start``, ``on_featgen_progress``, ``on_featgen_end``, ``on_prepared``,
    ``on_prepare_error``, ``on_iteration``, ``on_optimization_end`` or ``on_end`` to use them; by
    default they print the messages of the event. They are called if `verbose` is set.

    Attributes
    ----------
    logparser : TrainLogParser
        What training logged, by number; None before.
    """

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Receives a message of training, and records it for the events."""
        assert self.logparser is not None
        self.logparser.log.append(message)

    def _happened(self, event: str, value: Any = None) -> None:
        parser = self.logparser
        assert parser is not None
        parser.record(event, value)
        # There are no messages if `message` is overridden and does not pass them on.
        if not self.verbose or not parser.last_log:
            return
        arguments = [parser.last_log]
        if event == "featgen_progress":
            arguments.append(parser.featgen_percent)
        elif event == "iteration":
            arguments.append(parser.last_iteration)
        getattr(self, "on_" + event)(*arguments)

    def on_start(self, log: str) -> None:
        """Training starts."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Features are being generated."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """Features have been generated."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """The first iteration begins."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """There is nothing to optimize."""
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """An iteration has ended."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """The last iteration has ended."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model has been written."""
        print(log, end="")
