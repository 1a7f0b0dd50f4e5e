"""Checks of labeled data, reports, and explanations."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dropchain import _data, _dropchain, _files
from dropchain._dropchain import Tagger, Template
from dropchain._html import Html, details, escaped, page, table
from dropchain._records import Record
from dropchain._results import TrainResult
from dropchain._values import Explanation


@dataclass(frozen=True, repr=False, eq=False)
class CheckResult:
    """What :func:`dropchain.check` found. ``str(…)`` is the text of `dropchain check`."""

    sizes: list[dict[str, Any]]
    """Sizes of the data of each role."""
    overlaps: list[dict[str, Any]]
    """How the data of these roles overlap."""
    labels: dict[str, Any]
    """The labels, and how they are read."""
    findings: list[dict[str, Any]]
    """What was found, errors first: `kind`, `severity`, `count` and `examples`, each with `text`
    and its place: `file`, `line` and `column`; or `data` and `row` of a table, or `sentence`, from
    0.
    """
    inconsistent: list[dict[str, Any]] | None
    """Phrases whose labels differ from place to place, if they were asked for."""
    suspicious: list[dict[str, Any]] | None
    """Sentences whose labels are improbable, if they were asked for and there are no errors."""
    _text: str

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The findings that training or evaluation would refuse."""
        return self._of("error")

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The findings that are most likely mistakes."""
        return self._of("warning")

    def _of(self, severity: str) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["severity"] == severity]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON: as `dropchain check --json`."""
        fields = {name: value for name, value in vars(self).items() if name != "_text"}
        asked_for = ("inconsistent", "suspicious")
        return {k: v for k, v in fields.items() if v is not None or k not in asked_for}

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        rows = []
        for name in ("sentences", "tokens", "words", "spans"):
            cells = [size[name] for size in self.sizes]
            rows.append((name, *("–" if cell is None else f"{cell:,}" for cell in cells)))
        head = ("size", *(size["role"] for size in self.sizes))
        parts = [table(repr(self)[1:-1], head, rows)]
        for one in self.findings:
            title = f"{one['severity']}: {one['kind'].replace('_', ' ')}: {one['count']}"
            items = [(_place(example), example["text"]) for example in one["examples"]]
            examples = table("Examples", ("place", "text"), items, kind="words")
            parts.append(details(title, examples, is_open=one["severity"] == "error"))
        text = Html(f"<pre>{escaped(self._text)}</pre>")
        return page(*parts, details("Everything, as text", text))

    def __repr__(self) -> str:
        errors, warnings, notices = (len(self._of(s)) for s in ("error", "warning", "notice"))
        return (
            f"<CheckResult: {errors} kinds of errors, {warnings} of warnings, {notices} of notices>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class Report(Record):
    """The page of :func:`dropchain.report`."""

    title: str
    """Its title."""
    html: str
    """Its text."""
    output: str | None
    """The file that it was written to."""

    def _repr_html_(self) -> str:
        caption = self.title if self.output is None else f"{self.title}: {self.output}"
        return (
            f'<p><b>{html.escape(caption)}</b></p><iframe title="{html.escape(self.title)}" '
            'sandbox="allow-scripts" style="width:100%;height:32em;border:1px solid #8888" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __str__(self) -> str:
        return f"wrote {self.output}" if self.output else repr(self)

    def __repr__(self) -> str:
        return f"<Report {self.title!r}, {len(self.html)} characters>"


def _placed(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is at a line of a file, or at a row or a sentence of data in memory."""
    unit, in_memory, data = record["file"].partition("\0")
    if not in_memory:
        return record
    number = record["line"] - 1
    return {**record, "file": None, "line": None, "data": data, unit: number}


def _place(record: dict[str, Any]) -> str:
    """Return a place as messages say it."""
    for unit in ("row", "sentence"):
        if unit in record:
            return f"{unit} {record[unit]} of {record['data']}"
    numbers = (record["line"], record["column"])
    return ":".join([record["file"], *(str(number) for number in numbers if number is not None)])


def check(
    data: Any,
    *,
    dev: Any = None,
    test: Any = None,
    inconsistent: int | None = None,
    suspicious: int | None = None,
    template: str | os.PathLike[str] | Template | None = None,
    folds: int = 5,
    examples: int = 5,
    plain_labels: str = "auto",
    outside: str | None = None,
    threads: int | None = None,
    **reading: Any,
) -> CheckResult:
    """Check labeled data before training: sizes, labels, mistakes in files and annotation.

    ``docs/checking.md`` explains what is looked for. Files are read to their end, whatever is wrong
    with them.

    Parameters
    ----------
    data : path, paths, Corpus, or what :func:`dropchain.train` takes as data
        Training data.
    dev, test
        Development and test data, which are compared with the others.
    inconsistent : int, optional
        Find so many phrases whose labels differ most suspiciously from place to place.
    suspicious : int, optional
        Find so many sentences whose labels models of the other folds find most improbable.
    template : str, path or Template, optional
        The template of these models; by default `ner`, for labels without spans `pos`.
    folds : int
        The number of folds, each of which is compared with a model of the others.
    examples : int
        How many examples of each kind of problem to keep.
    plain_labels, outside
        As for :func:`dropchain.evaluate`.
    threads : int, optional
        By default one for each processor.
    **reading
        How to read files: `format`, `columns`, `label`, `comments` and the other options of
        :meth:`Corpus.read`.

    Examples
    --------
    >>> import dropchain
    >>> result = dropchain.check(([["Ada", "left"], ["Ada", "stayed"]], [["B-PER", "O"]] * 2))
    >>> result
    <CheckResult: 0 kinds of errors, 0 of warnings, 0 of notices>
    >>> result.sizes[0]["tokens"], result.labels["scheme"]
    (4, 'iob2')
    """
    given = dict(locals())
    given["reading"] = _dropchain.ReadOptions(**reading)
    roles = {"train": data, "dev": dev, "test": test}
    roles = {role: part for role, part in roles.items() if part is not None}
    parts: dict[str, Any] = {role: _data.paths(part) for role, part in roles.items()}
    if reading.get("format") == "spacy" or not all(parts.values()):
        parts = {role: _data.labeled(part, role, **reading) for role, part in roles.items()}
    given.update(data=list(parts.items()), template=_data.template(template))
    found, text = _dropchain.check(given)
    fields = {"inconsistent": None, "suspicious": None, **json.loads(found)}
    for finding in fields["findings"]:
        finding["examples"] = [_placed(example) for example in finding["examples"]]
    if fields["suspicious"] is not None:
        fields["suspicious"] = [_placed(sentence) for sentence in fields["suspicious"]]
    return CheckResult(**fields, _text=text)


def report(
    *logs: str | os.PathLike[str] | TrainResult,
    output: str | os.PathLike[str] | None = None,
    gold: Any = None,
    predicted: Any = None,
    train: Any = None,
    title: str | None = None,
    max_errors: int = 500,
    plain_labels: str = "auto",
    outside: str | None = None,
    threads: int | None = None,
    force: bool = False,
) -> Report:
    """Show training, scores and errors in one HTML page.

    The page needs no network. It has a section for whatever is given (see ``docs/report.md``).

    Parameters
    ----------
    *logs : path or TrainResult
        Results of training, or files: logs of `train` of the command line.
    output : path, optional
        The file to write.
    gold : Corpus, or what :func:`dropchain.train` takes as data
        Labeled sentences, for `predicted`.
    predicted : Tagger, TrainResult, labels of each sentence, or dict of these by name
        What to evaluate on `gold`. A tagger tags the sentences, also for its calibration.
    train : Corpus, or what :func:`dropchain.train` takes as data
        Training data, for scores by the frequency of words and, of taggers, on their first 5000
        sentences.
    title : str, optional
        The title of the page; by default it names the corpora.
    max_errors : int
        The most errors to list, over all systems.
    plain_labels, outside
        As for :func:`dropchain.evaluate`.
    threads : int, optional
        By default one for each processor.
    force : bool
        Replace `output` even if it is no report.

    Examples
    --------
    >>> import dropchain
    >>> sample = dropchain.sample_corpus()
    >>> result = dropchain.train(sample, template="ner", max_iterations=30)
    >>> dev = dropchain.sample_corpus("dev")
    >>> page = dropchain.report(result, output="report.html", gold=dev, predicted=result)
    >>> print(page)
    wrote report.html
    """
    given = dict(locals())
    files = [os.fspath(log) for log in logs if not isinstance(log, TrainResult)]
    texts = [log.log for log in logs if isinstance(log, TrainResult)]
    names = [f"training {i + 1}" for i in range(len(texts))] if len(texts) > 1 else ["training"]
    if (gold is None) != (predicted is None):
        raise TypeError("gold and predicted belong together: expected both, or neither")
    if not logs and gold is None:
        raise TypeError("found nothing to report; expected logs, or gold and predicted")
    if output is not None:
        _files.check_output("output", output, "report", files, force=force)
    for name, data in (("gold", gold), ("train", train)):
        given[name] = None if data is None else _data.labeled(data, name)
    given.update(files=files, logs=list(zip(names, texts)), systems=_systems(predicted))
    page = _dropchain.report(given)
    if output is not None:
        _dropchain.write_file(output, page.encode())
    if title is None:
        title = html.unescape(page.partition("<title>")[2].partition("</title>")[0])
    return Report(title, page, None if output is None else os.fspath(output))


def _systems(predicted: Any) -> list[tuple[str, Any]]:
    """Return what is to be evaluated, with names."""
    if predicted is None:
        return []
    named = predicted if isinstance(predicted, Mapping) else {"predicted": predicted}
    return [(str(n), s.tagger if isinstance(s, TrainResult) else s) for n, s in named.items()]


def explain(
    tagger: Tagger | TrainResult | str | os.PathLike[str], sentence: Any, **options: Any
) -> Explanation:
    """Tag a sentence and say why its tokens have their labels: see :meth:`Tagger.explain`.

    Parameters
    ----------
    tagger : Tagger, TrainResult or path
        The model.
    sentence : str or sentence
        A string is split into tokens; all else as for :class:`Tagger`.
    **options
        As for :meth:`Tagger.explain`.

    Examples
    --------
    >>> import dropchain
    >>> sample = dropchain.sample_corpus()
    >>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
    >>> explanation = dropchain.explain(tagger, "She lives in London.")
    >>> explanation.labels
    ['O', 'O', 'O', 'B-LOC', 'O']
    >>> str(explanation).splitlines()[0]
    'She lives in [LOC London] .'
    """
    model = tagger.tagger if isinstance(tagger, TrainResult) else _data.tagger(tagger, "tagger")
    assert model is not None
    return model.explain(sentence, **options)
