"""Training from Spark: each task of a barrier stage is a rank."""

from __future__ import annotations

import json
import os
import pickle
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dropchain import _data, _options
from dropchain._dropchain import (
    ArrowSentences,
    Corpus,
    Rank,
    Tagger,
    Template,
    __version__,
    check_rank_training,
    train_rank,
)
from dropchain._results import TrainResult
from dropchain._spark_rows import (
    DEV,
    LABELED,
    NAMES,
    UNLABELED,
    check_labels,
    frame_of,
    numbered_rows,
    shuffled,
    token_columns,
)
from dropchain._spark_session import check_classic, pyspark_with_arrow
from dropchain._training import check_outputs, finish_alone

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dropchain._options import TrainOptions

#: Bytes of a model in a row.
_PIECE = 1 << 26

_RESULT, _MODEL, _ERROR = "result", "model", "error"

#: Errors of workers that are raised as they are; others become RuntimeError.
_ERRORS = {error.__name__: error for error in (ValueError, MemoryError, ConnectionError)}


def train(
    df: Any,
    *,
    template: str | os.PathLike[str] | Template,
    tokens: str = "tokens",
    labels: str = "labels",
    dev: Any = None,
    unlabeled: Any = None,
    model: str | os.PathLike[str] | None = None,
    workers: int = 2,
    threads: int = 1,
    memory: int | None = None,
    timeout: float = 120.0,
    force: bool = False,
    **options: Unpack[TrainOptions],
) -> TrainResult:
    """Train a model on the sentences of a DataFrame, by several workers.

    Each worker is a task of a barrier stage, has a part of the rows, and exchanges sums with the
    others over TCP. The model is that of :func:`dropchain.train` on the same sentences in the same
    order, whatever the number of workers and threads. The order is that of partitions, and of rows
    within each, as in ``df.collect()``.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row for each sentence. It is read twice: to count rows, and to train.
    template : str, path or Template
        Which features words have: one that comes with dropchain, or a file of the driver.
    tokens : str
        The column of tokens: ``array<string>``, or ``array<struct<word:string,pos:string,…>>``
        with the columns that the template reads. Also that of `dev` and `unlabeled`.
    labels : str
        The column of labels, ``array<string>``: one for each token, null if it is unknown.
    dev : pyspark.sql.DataFrame or Corpus, optional
        Development data: training stops when the score on them no longer rises. Every worker gets
        all of them.
    unlabeled : pyspark.sql.DataFrame, optional
        Text for the noise term.
    model : path, optional
        Write the model to this file of the driver.
    workers : int
        The number of tasks. All run at the same time: the cluster needs as many free slots.
    threads : int
        Threads of each worker; ``spark.task.cpus`` should be the same.
    memory : int, optional
        Limit in bytes for each worker; by default most of the available memory.
    timeout : float
        Seconds in which the workers must connect.
    force : bool
        Replace an existing file even if it is no model.
    **options
        See :class:`dropchain.TrainOptions`; online algorithms, ``warm_start="online"`` and
        monte-carlo noise run in one process and are refused.

    Returns
    -------
    TrainResult
        With the tagger, the history and how training ended.

    Raises
    ------
    ValueError
        The data are malformed or an option is out of range; the message says where.
    ConnectionError
        A worker could not reach another, or has lost it.
    """
    _options.check_names(options, "spark.train")
    types = pyspark_with_arrow().sql.types
    for frame in (df, dev, unlabeled):
        check_classic(frame, "in which training is not tested")
    _check_count("workers", workers)
    parsed = _data.template(template)
    if parsed is None:
        raise ValueError("template is missing; expected a name, a file or a Template")
    check_outputs(model, None, [os.fspath(path) for path in parsed.paths], False, force)
    columns = token_columns(types, df, "df", tokens)
    check_labels(types, df, "df", labels)
    names = ["word"] if columns is None else columns
    has_text = unlabeled is not None
    own = check_rank_training(options, parsed, names, has_text, threads, memory)
    if isinstance(dev, Corpus):
        dev = frame_of(df.sparkSession, dev, columns).toDF(tokens, labels)
    numbered = {LABELED: numbered_rows(df, LABELED, tokens, labels)}
    if not numbered[LABELED].total:
        raise ValueError("there are no sentences to train on")
    if dev is not None:
        _check_alike(types, dev, DEV, tokens, columns)
        check_labels(types, dev, "dev", labels)
        numbered[DEV] = numbered_rows(dev, DEV, tokens, labels)
    if unlabeled is not None:
        _check_alike(types, unlabeled, UNLABELED, tokens, columns)
        numbered[UNLABELED] = numbered_rows(unlabeled, UNLABELED, tokens, None)
    parts = {
        kind: rows.everywhere(workers) if kind == DEV or kind == LABELED and not own
        else rows.divided(workers)
        for kind, rows in numbered.items()
    }
    rows_of = [{kind: part.rows[w] for kind, part in parts.items()} for w in range(workers)]
    job = _Job(parsed, dict(options), own, threads, memory, timeout, rows_of)
    outcome = job.run(shuffled(list(parts.values()), workers))
    return finish_alone(outcome, model)


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} {value!r}; expected 1 or more")


def _check_alike(types: Any, df: Any, kind: int, column: str, expected: list[str] | None) -> None:
    found = token_columns(types, df, NAMES[kind], column)
    if found != expected:
        texts = ["strings" if names is None else ", ".join(names) for names in (found, expected)]
        raise ValueError(
            f"{NAMES[kind]}: the tokens of column '{column}' are {texts[0]}; expected {texts[1]}, "
            "as in df"
        )


@dataclass(frozen=True)
class _Job:
    """What all workers are told."""

    template: Template
    options: dict[str, Any]
    own_labeled: bool
    threads: int
    memory: int | None
    timeout: float
    rows: list[dict[int, range]]

    def run(self, rows: Any) -> dict[str, Any]:
        """Train, and return what worker 0 does.

        Raises the error of a worker; one that lost another comes last.
        """
        worker = _Worker(self, secrets.token_bytes(16), __version__)
        schema = "rank int, number int, kind string, content binary"
        answers = rows.mapInArrow(worker, schema, barrier=True).collect()
        answers.sort(key=lambda row: (row["rank"], row["number"]))
        errors = [json.loads(bytes(row["content"])) for row in answers if row["kind"] == _ERROR]
        if errors:
            errors.sort(key=lambda error: error[0] == ConnectionError.__name__)
            name, message = errors[0]
            raise _ERRORS.get(name, RuntimeError)(message)
        content: dict[str, list[bytes]] = {_RESULT: [], _MODEL: []}
        for row in answers:
            content[row["kind"]].append(bytes(row["content"]))
        outcome: dict[str, Any] = pickle.loads(b"".join(content[_RESULT]))
        outcome["tagger"] = Tagger.from_bytes(b"".join(content[_MODEL]))
        return outcome


class _Worker:
    """What runs in the Python workers of executors.

    An error is an answer: Spark would repeat a stage that fails, and hide the message.
    """

    def __init__(self, job: _Job, secret: bytes, version: str) -> None:
        self.job = job
        self.secret = secret
        self.version = version

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import BarrierTaskContext

        context = BarrierTaskContext.get()
        number = context.partitionId()
        answers: Iterator[tuple[str, bytes]]
        try:
            answers = _answers(number, self._train(context, number, batches))
        except Exception as error:
            known = (name for name, kind in _ERRORS.items() if isinstance(error, kind))
            name = next(known, type(error).__name__)
            message = str(error) if name in _ERRORS else f"worker {number}: {name}: {error}"
            answers = iter([(_ERROR, json.dumps([name, message]).encode())])
        for i, (kind, content) in enumerate(answers):
            yield _batch(number, i, kind, content)

    def _train(self, context: Any, number: int, batches: Iterable[Any]) -> dict[str, Any]:
        rank = self._connected(context, number)
        parts = {kind: ArrowSentences(rows.start) for kind, rows in self.job.rows[number].items()}
        error = None
        try:
            self._read(batches, number, parts)
        except ValueError as found:
            error = str(found)
        rank.agree(error)
        return train_rank(rank, {
            "labeled": parts[LABELED],
            "own_labeled": self.job.own_labeled,
            "dev": parts.get(DEV),
            "unlabeled": parts.get(UNLABELED),
            "template": self.job.template,
            "options": self.job.options,
            "threads": self.job.threads,
            "memory": self.job.memory,
        })

    def _connected(self, context: Any, number: int) -> Rank:
        """Tell the others the address of this worker, and connect them all."""
        host = context.getTaskInfos()[number].address.rpartition(":")[0]
        host = "127.0.0.1" if host == "localhost" else host
        # The name of a host may mean another address outside of it.
        anywhere = "[::]" if host.startswith("[") else "0.0.0.0"
        rank = Rank(f"{host if host == '127.0.0.1' else anywhere}:0")
        told = json.dumps([__version__, f"{host}:{rank.port}"])
        answers = [json.loads(answer) for answer in context.allGather(told)]
        for other, (version, address) in enumerate(answers):
            if version != self.version:
                raise RuntimeError(
                    f"the driver has dropchain {self.version}, worker {other} ({address}) "
                    f"{version}; expected the same version"
                )
        addresses = [address for _, address in answers]
        rank.connect(number, addresses, self.secret, self.job.timeout)
        return rank

    def _read(
        self, batches: Iterable[Any], number: int, parts: dict[int, ArrowSentences]
    ) -> None:
        """Read the rows of this worker, which are sorted by kind."""
        import pyarrow.compute as pc

        has_others = False
        for batch in batches:
            kinds, workers = batch.column("kind"), batch.column("worker")
            has_others |= pc.any(pc.not_equal(workers, number)).as_py() or False
            start = 0
            for kind, sentences in sorted(parts.items()):
                count = pc.sum(pc.equal(kinds, kind)).as_py() or 0
                rows = batch.slice(start, count)
                start += count
                labels = None if kind == UNLABELED else rows.column("labels")
                try:
                    sentences.push(rows.column("tokens"), labels)
                except ValueError as error:
                    raise ValueError(f"{NAMES[kind]}: {error}") from None
        for kind, rows in self.job.rows[number].items():
            if len(parts[kind]) != len(rows) or has_others:
                raise ValueError(
                    f"{NAMES[kind]}: its rows were others when they were read again; expected "
                    "the same rows in the same partitions, such as those of files, or after "
                    "cache()"
                )


def _answers(number: int, outcome: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Return the answers of a worker: all have the same model, and one sends it."""
    if number > 0:
        return
    model = outcome.pop("tagger").to_bytes()
    yield _RESULT, pickle.dumps(outcome)
    for start in range(0, len(model), _PIECE):
        yield _MODEL, model[start : start + _PIECE]


def _batch(rank: int, number: int, kind: str, content: bytes) -> Any:
    import pyarrow as pa

    columns = [pa.array([rank], pa.int32()), pa.array([number], pa.int32()), pa.array([kind])]
    columns.append(pa.array([content], pa.binary()))
    return pa.RecordBatch.from_arrays(columns, ["rank", "number", "kind", "content"])
