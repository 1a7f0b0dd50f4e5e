"""The rows of training data, divided among workers.

A barrier stage may not contain ``coalesce`` or ``union``, and ``coalesce`` does not keep the order
of partitions whose places are known. So rows are numbered, shuffled to their workers by a key, and
sorted there: once, whatever the DataFrames are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from dropchain._dropchain import Corpus

LABELED, DEV, UNLABELED = range(3)

#: What the rows of each kind are called in messages.
NAMES = ("df", "dev", "unlabeled")

#: The bits of ``monotonically_increasing_id`` that count rows in a partition.
_ROW_BITS = 33


@dataclass(frozen=True)
class Part:
    """Rows of a kind, with the columns kind, worker, row, tokens and labels."""

    frame: Any
    rows: list[range]
    """The numbers of the rows of each worker."""


@dataclass(frozen=True)
class NumberedRows:
    """Rows of a kind, with the columns kind, row, tokens and labels."""

    frame: Any
    counts: list[tuple[int, int]]
    """The partitions that have rows, and how many."""

    @property
    def total(self) -> int:
        """The number of rows."""
        return sum(rows for _, rows in self.counts)

    def divided(self, workers: int) -> Part:
        """Return contiguous parts of equal numbers of rows."""
        from pyspark.sql import functions as F

        ends = [self.total * worker // workers for worker in range(workers + 1)]
        worker = F.lit(0)
        for end in ends[1:-1]:
            worker = worker + (F.col("row") >= self._id_of(end)).cast("int")
        rows = [range(start, end) for start, end in zip(ends, ends[1:])]
        return Part(self.frame.withColumn("worker", worker), rows)

    def everywhere(self, workers: int) -> Part:
        """Return all rows for every worker."""
        from pyspark.sql import functions as F

        every = F.explode(F.sequence(F.lit(0), F.lit(workers - 1)))
        return Part(self.frame.withColumn("worker", every), [range(self.total)] * workers)

    def _id_of(self, row: int) -> int:
        """Return the id that Spark gives to a row."""
        ends = accumulate(rows for _, rows in self.counts)
        for (partition, rows), end in zip(self.counts, ends):
            if row < end:
                return (partition << _ROW_BITS) + row - (end - rows)
        return (1 << 63) - 1


def token_columns(types: Any, df: Any, name: str, column: str) -> list[str] | None:
    """Return the names of the columns of tokens; None if these are words alone.

    Raises ValueError if the column of the DataFrame has no tokens.
    """
    kind = _type_of(df, name, column)
    item = kind.elementType if isinstance(kind, types.ArrayType) else None
    if isinstance(item, types.StringType):
        return None
    if isinstance(item, types.StructType) and item.fields:
        if all(isinstance(field.dataType, types.StringType) for field in item.fields):
            return list(item.names)
    raise ValueError(
        f"{name}: column '{column}' has the type {kind.simpleString()}; expected array<string> "
        "(the tokens of a sentence) or array<struct<word:string,…>> (the columns of its tokens)"
    )


def check_labels(types: Any, df: Any, name: str, column: str) -> None:
    """Raise ValueError if the column of a DataFrame has no labels."""
    kind = _type_of(df, name, column)
    is_array = isinstance(kind, types.ArrayType)
    if not is_array or not isinstance(kind.elementType, types.StringType):
        raise ValueError(
            f"{name}: column '{column}' has the type {kind.simpleString()}; expected "
            "array<string> (the labels of the tokens)"
        )


def _type_of(df: Any, name: str, column: str) -> Any:
    if column not in df.columns:
        columns = ", ".join(df.columns)
        raise ValueError(f"{name}: there is no column '{column}'; the columns are {columns}")
    return df.schema.fields[df.columns.index(column)].dataType


def frame_of(session: Any, corpus: Corpus, columns: list[str] | None) -> Any:
    """Return a corpus as a DataFrame with the columns tokens and labels.

    Raises ValueError if tokens have features, or a label is one of several.
    """
    if corpus.has_features:
        raise ValueError("dev has features; expected words, as df has")
    rows = []
    for i, sentence in enumerate(corpus.without_boundaries()):
        labels = sentence.labels
        if labels is None or any(isinstance(label, list) for label in labels):
            found = "no labels" if labels is None else "a label that is one of several"
            raise ValueError(f"dev: sentence {i} has {found}; expected labels, or None for any")
        tokens: list[Any] = sentence.words
        if columns is not None:
            tokens = list(zip(*(sentence.column(name) for name in columns)))
        rows.append((tokens, labels))
    item = "string"
    if columns is not None:
        quoted = (name.replace("`", "``") for name in columns)
        item = "struct<" + ",".join(f"`{name}`:string" for name in quoted) + ">"
    return session.createDataFrame(rows, f"tokens array<{item}>, labels array<string>")


def numbered_rows(df: Any, kind: int, tokens: str, labels: str | None) -> NumberedRows:
    """Number the rows of a DataFrame. This is a job that counts them."""
    from pyspark.sql import functions as F

    label = F.lit(None).cast("array<string>") if labels is None else F.col(_quoted(labels))
    numbered = df.select(
        F.lit(kind).alias("kind"),
        F.monotonically_increasing_id().alias("row"),
        F.col(_quoted(tokens)).alias("tokens"),
        label.alias("labels"),
    )
    # The sizes keep both columns: partitions may depend on what is read.
    sizes = [F.sum(F.size(name)) for name in ("tokens", "labels")]
    partitions = numbered.groupBy(F.shiftright("row", _ROW_BITS).alias("partition"))
    found = partitions.agg(F.count(F.lit(1)).alias("rows"), *sizes).collect()
    return NumberedRows(numbered, sorted((line["partition"], line["rows"]) for line in found))


def shuffled(parts: list[Part], workers: int) -> Any:
    """Return the rows of all parts: partition i has those of worker i, by kind, in order."""
    from pyspark.sql import functions as F

    columns = ["kind", "worker", "row", "tokens", "labels"]
    rows = parts[0].frame.select(columns)
    for part in parts[1:]:
        rows = rows.union(part.frame.select(columns))
    numbers = F.array(*(F.lit(key).cast("bigint") for key in _keys(rows.sparkSession, workers)))
    key = F.element_at(numbers, F.col("worker") + 1)
    rows = rows.repartition(workers, key).sortWithinPartitions("kind", "row")
    return rows.select("kind", "worker", "tokens", "labels")


def _keys(session: Any, workers: int) -> list[int]:
    """Return a number for each worker that is hashed to the partition with its number."""
    from pyspark.sql import functions as F

    candidates = session.range(0, 100 * workers, 1, 1)
    partition = F.expr(f"pmod(hash(id), {workers})").alias("partition")
    keys = {row["partition"]: row["id"] for row in candidates.select("id", partition).collect()}
    return [keys[worker] for worker in range(workers)]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
