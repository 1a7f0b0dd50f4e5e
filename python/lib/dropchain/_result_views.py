"""How notebooks show scores, training and searches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dropchain import _plots
from dropchain._html import Cell, Html, page, paragraph, percent, plural, shortened, table

if TYPE_CHECKING:
    from dropchain._results import TrainResult, TuneResult
    from dropchain._scores import Comparison, Evaluation

#: The most labels of a matrix, types of a table, and configurations that are shown.
_LABELS = 12
_TYPES = 60
_TRIALS = 30


def evaluation(scores: Evaluation) -> str:
    """Show scores: of all, by type or label, and confusions."""
    counts = f"{plural(scores.sentences, 'sentence')}, {plural(scores.tokens, 'token')}"
    own = ("precision", "recall", "f1") if scores.has_spans else ()
    names = (*own, "accuracy")
    row = [Cell(percent(getattr(scores, n)), getattr(scores, n)) for n in names]
    head = ("", *(name.replace("f1", "F1") for name in names))
    parts = [table(f"Scores, in percent: {counts}", head, [("all", *row)])]
    thing, found = ("type", scores.types) if scores.has_spans else ("label", scores.labels)
    common = sorted(found.items(), key=lambda item: -item[1].gold)
    rows = [
        (
            name or "(no type)",
            percent(one.precision),
            percent(one.recall),
            Cell(percent(one.f1), one.f1),
            f"{one.gold:,}",
            f"{one.predicted:,}",
        )
        for name, one in common[: _TYPES]
    ]
    head = (thing, "precision", "recall", "F1", "in gold", "predicted")
    parts.append(table(f"By {thing}, in percent", head, rows))
    if scores.columns:
        columns = [(name, Cell(percent(value), value)) for name, value in scores.columns.items()]
        parts.append(table("Accuracy of columns, in percent", ("column", "accuracy"), columns))
    return page(*parts, _matrix(scores))


def _matrix(scores: Evaluation) -> Html:
    """Return which labels are taken for which: those with the most errors."""
    confusions = scores.confusions(None)
    errors: Counter[str] = Counter()
    for gold, predicted, count in confusions:
        errors.update({gold: count, predicted: count})
    if not errors:
        return paragraph("There are no errors.")
    names = sorted(name for name, _ in errors.most_common(_LABELS))
    counts = {(gold, predicted): count for gold, predicted, count in confusions}
    counts.update({(name, name): scores.labels[name].correct for name in names})
    rows = []
    for gold in names:
        row = [counts.get((gold, predicted), 0) for predicted in names]
        rest = max(scores.labels[gold].gold, 1)
        cells = (
            Cell(f"{count:,}" if count else "", count / rest, tone, "shade")
            for count, tone in zip(row, ("good" if name == gold else "bad" for name in names))
        )
        rows.append((gold, *cells))
    caption = "Tokens by gold label (rows) and predicted label (columns)"
    if len(errors) > _LABELS:
        caption += f": the {_LABELS} with the most errors"
    return table(caption, ("gold", *names), rows)


def comparison(found: Comparison) -> str:
    """Show two taggers and their difference."""
    rows = []
    for name, one in (("F1", found.f1), ("accuracy", found.accuracy)):
        if one is not None:
            interval = f"{100 * one.interval[0]:+.2f} to {100 * one.interval[1]:+.2f}"
            row = (percent(one.a), percent(one.b), f"{100 * one.difference:+.2f}", interval)
            rows.append((name, *row, f"{one.p_value:.4f}"))
    caption = f"Two taggers, in percent: {plural(found.sentences, 'sentence')}"
    head = ("", "A", "B", "B − A", "95 % interval", "p-value")
    note = paragraph(f"Paired bootstrap, {found.samples:,} samples.")
    return page(table(caption, head, rows), note)


# Training and searches


def training(result: TrainResult) -> str:
    """Show how training went."""
    rows: list[tuple[str, str]] = []
    if result.dev_score is not None:
        score = f"{percent(result.dev_score)} %, after iteration {result.best_iteration}"
        rows.append((f"{_plots.metric(result.metric)} on development data", score))
    rows += [
        ("trained with", result.regularization),
        ("iterations", f"{result.iterations}, ended by {result.end_reason.replace('_', ' ')}"),
    ]
    if result.noise_iterations or result.warm_up:
        noise = f"{result.noise_iterations}, after {result.warm_up} without"
        rows.append(("iterations with noise", noise))
    data = ", ".join(
        f"{result.data[name]:,} {name}"
        for name in ("sentences", "tokens", "attributes")
        if isinstance(result.data.get(name), int)
    )
    rows += [("data", data), ("seconds", f"{result.seconds:.1f}")]
    if result.model is not None:
        rows.append(("model", str(result.model)))
    notes = (paragraph(message) for message in result.messages)
    facts = table("Training", (), rows, kind="words")
    return page(facts, _picture(_plots.training, result), *notes)


def _picture(draw: Any, result: Any) -> Html:
    """Return a plot, if there is something to draw."""
    try:
        return Html(draw(result))
    except ValueError:
        return Html("")


def search(result: TuneResult) -> str:
    """Show the configurations of a search, the best first."""
    head, *rows = result._rows()
    shown, note = shortened([(i + 1, *row) for i, row in enumerate(rows)], _TRIALS, "configuration")
    caption = "Configurations, the best first; scores in percent"
    parts: list[str] = [table(caption, ("", *head), shown, has_best=True), note]
    if (gain := result.noise_gain) is not None:
        p = "" if gain["p_value"] is None else f"; p = {gain['p_value']:.4f}"
        text = f"Noise gains {100 * gain['mean']:+.2f} points on average over the folds{p}."
        parts.append(paragraph(text))
    return page(*parts, _picture(_plots.search, result))
