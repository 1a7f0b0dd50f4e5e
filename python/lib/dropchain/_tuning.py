"""Hyperparameter search."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from dropchain import _data, _dropchain, _options, _training
from dropchain._dropchain import Tagger, Template
from dropchain._progress import Follower
from dropchain._results import Trial, TuneResult

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dropchain._options import FixedOptions

# Options that are searched, with arguments of their own.
_SEARCHED = ("dropout", "edge_dropout", "l2", "l1", "unlabeled_weight", "warm_up", "gradient")


def tune(
    data: Any,
    y: Any = None,
    dev: Any = None,
    *,
    folds: int | None = None,
    template: Any = None,
    dropout: float | str | Iterable[float | str] | None = None,
    edge_dropout: float | str | Iterable[float | str] | None = None,
    l2: float | str | Iterable[float | str] | None = None,
    l1: float | str | Iterable[float | str] | None = None,
    unlabeled_weight: float | str | Iterable[float | str] | None = None,
    warm_up: int | str | Iterable[int | str] | None = None,
    gradient: str | Iterable[str] | None = None,
    trials: int | None = None,
    only_defaults: bool = False,
    seed: int = 1,
    model: str | os.PathLike[str] | None = None,
    unlabeled: Any = None,
    clusters: Any = None,
    vectors: Any = None,
    gazetteers: Any = None,
    cluster_count: int = 1000,
    vector_count: int = 50_000,
    init: Tagger | str | os.PathLike[str] | None = None,
    towards: Tagger | str | os.PathLike[str] | None = None,
    observer: Callable[[Trial], bool | None] | None = None,
    progress: bool | Callable[..., Any] = False,
    threads: int | None = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
    **options: Unpack[FixedOptions],
) -> TuneResult:
    """Search for the best training options, and train the best model.

    Every combination of the values is a configuration, or with `trials` as many are drawn at
    random. Configurations are scored on development data or by cross-validation.

    Parameters
    ----------
    data, y, dev, unlabeled, model, init, towards, threads, memory
        See :func:`dropchain.train`.
    clusters, vectors, gazetteers, cluster_count, vector_count
        See :func:`dropchain.train`.
    checkpoint, resume, force, format, sentence, word, columns, label, comments, partial_labels,
    weights
        See :func:`dropchain.train`.
    folds : int, optional
        Score by cross-validation with this many folds, instead of `dev`. The best configuration is
        then trained on all data, and on the other folds of each fold, to predict it.
    template : str, path, Template or a list of them
        Those in a list are compared. By default the labels decide: see :func:`dropchain.train`.
    dropout, edge_dropout, l2, l1, unlabeled_weight : number, str or list of them, optional
        The values to try. With `trials` also ranges such as ``"0.01:1"``, from which strengths are
        drawn log-uniformly. By default a few values around those of :func:`dropchain.train`.
    warm_up : int, str or list of them, optional
        Numbers of iterations without noise before those with it.
    gradient : str or list of them, optional
        How the gradient of the noise term is computed, such as ``["exact", "window=2"]``.
    trials : int, optional
        The number of configurations to draw.
    only_defaults : bool
        No grid: options that are not given have the value of :func:`dropchain.train`. With `folds`
        alone, this is the cross-validation of a single configuration.
    seed : int
        Seed of configurations, folds and training.
    observer : callable, optional
        Called with each :class:`Trial` once it is trained; False ends the search.
    progress : bool or class
        Show progress, with tqdm if it is installed or with a class like it.
    **options
        Other options of training: see :func:`dropchain.train`.

    Returns
    -------
    TuneResult
        With the tagger and all configurations, the best first.

    Raises
    ------
    Interrupted
        On Ctrl-C. The best model so far is in `model`, if given, and in ``result.tagger`` of the
        exception; ``result`` is None if no configuration was scored.

    Examples
    --------
    >>> import dropchain
    >>> train, dev = (dropchain.sample_corpus(part)[:60] for part in ("train", "dev"))
    >>> result = dropchain.tune(train, dev, template="minimal", dropout=[0, 0.3], l2=0.1)
    >>> sorted(trial.options["dropout"] for trial in result.trials)
    [0, 0.3]
    """
    given = dict(locals())
    _options.check_names(options, "tune")
    given["data"], given["y"], given["dev"] = _data.told_apart(data, y, dev)
    if (given["dev"] is None) == (folds is None):
        raise ValueError("expected either dev or folds, to score configurations on")
    space = {n: _axis(given[n], n) for n in _SEARCHED if given[n] is not None}
    names, parsed = _templates(template)
    arguments, templates, chosen = _training.prepared(given, parsed or [None])
    convert = partial(_trial, template=names[0] if len(names) == 1 else chosen)
    follower = Follower(observer, progress, "trial", convert)
    arguments.update(
        template=None,
        record="",  # the options that are searched are not known yet
        templates=[one for one in templates if one is not None],
        names=names if len(names) > 1 else [],
        values=space,
        observer=follower.or_none(),
    )
    with _training.followed(follower, "any configuration was scored"):
        outcome = _dropchain.tune(arguments)
    outcome.update(
        trials=[convert(one) for one in outcome["configurations"]],
        options=_options.from_stored(outcome["options"]),
        refit_iterations=outcome["iterations_on_all_data"],
        model=os.fspath(model) if model is not None and outcome["has_learned"] else None,
    )
    fields = (field.name for field in dataclasses.fields(TuneResult))
    result = TuneResult(**{name: outcome[name] for name in fields if name in outcome})
    _training.finish(result, outcome["exception"], model)
    return result


def _trial(fields: dict[str, Any], template: str | None) -> Trial:
    """Return a configuration, from a line of the log; `template` if there is only this one."""
    metric = next((name for name in ("f1", "accuracy") if f"dev_{name}" in fields), None)
    values = {field.name: fields.get(field.name) for field in dataclasses.fields(Trial)}
    values.update(
        template=fields.get("template", template),
        options={name: fields[name] for name in _SEARCHED if name in fields},
        score=fields.get(f"dev_{metric}"),
        metric=metric,
        fold_scores=fields.get("fold_scores", []),
        end_reason=fields["stop_reason"],
    )
    return Trial(**values)


def _templates(value: Any) -> tuple[list[str], list[Template | None]]:
    """Return the templates with their names."""
    if value is None:
        return [], []
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if None in values:
        raise TypeError("found None in a list of templates")
    templates = [_data.template(one) for one in values]
    named = enumerate(values, 1)
    names = [f"template {i}" if isinstance(v, Template) else os.fspath(v) for i, v in named]
    if len(set(names)) < len(names):
        raise ValueError("a template is given twice; expected different ones")
    return names, templates


def _axis(value: Any, name: str) -> str:
    """Write the values of an option as the library reads them: `0,0.3,0.01:1`."""
    values = [value] if isinstance(value, (str, int, float)) else list(value)
    for item in values:
        if not isinstance(item, str) and not hasattr(item, "__float__"):
            raise TypeError(f"{name}: found {item!r}; expected a number or a range '0.01:1'")
    if not values:
        raise ValueError(f"{name}: found no values; expected at least one")
    return ",".join(item if isinstance(item, str) else repr(float(item)) for item in values)
