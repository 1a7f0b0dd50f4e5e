"""Spark DataFrames: tagging a column.

::

    from dropchain import spark

    tagged = spark.tag(df, "ner.model", column="text")
    tagged.selectExpr("id", "explode(spans) AS span").select("id", "span.*").show()

pyspark is imported when it is used: the package does not depend on it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from dropchain._dropchain import Tagger, __version__
from dropchain.arrow import check_names, opened, tag_values

__all__ = ["tag"]

_EXPECTED = (
    "string (text), array<string> (the tokens of a sentence) or array<struct<word:string,…>> "
    "(the columns of its tokens)"
)


def tag(
    df: Any,
    model: Tagger | str | os.PathLike[str],
    *,
    column: str = "text",
    output: str = "spans",
    name: str | None = None,
) -> Any:
    """Tag a column of a DataFrame, and return the DataFrame with a new column at its end.

    The model is sent to each executor once, as a file; each Python worker reads it once. What is
    wrong with the arguments, the columns or the model is said before a job starts.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Its rows, their order and the other columns stay as they are. All of the columns go through
        the Python workers: drop what is not needed first.
    model : Tagger or path
        A model with a template; a file of the driver. What happens to the file later has no
        effect.
    column : str
        The column to tag: ``string`` (texts), ``array<string>`` (sentences: the tokens) or
        ``array<struct<word:string,pos:string,…>>`` (sentences with columns). Rows that are null
        stay null.
    output : {"spans", "labels", "jsonl"}
        What each row gets: see :func:`dropchain.arrow.tag`.
    name : str, optional
        The name of the new column, by default `output`.

    Returns
    -------
    pyspark.sql.DataFrame
        With the new column: ``array<struct<start:int,end:int,type:string,text:string>>`` (if rows
        are sentences, ``token_start:int,token_end:int,type:string``), ``array<string>`` or
        ``string``.
    """
    types = _spark_types()
    _check_classic(df)
    names = df.columns
    name = check_names(names, column, output if name is None else name)
    is_caseless = df.sparkSession.conf.get("spark.sql.caseSensitive") != "true"
    if is_caseless and name.lower() in (other.lower() for other in names):
        raise ValueError(
            f"there is a column like '{name}' (spark.sql.caseSensitive is false); expected "
            "another name for the new one"
        )
    index = names.index(column)
    empty = _empty_array(types, column, df.schema.fields[index].dataType)
    tagger = opened(model)
    tag_values(tagger, empty, column, output)
    has_texts = isinstance(df.schema.fields[index].dataType, types.StringType)
    added = types.StructField(name, _output_type(types, output, has_texts), True)
    schema = types.StructType([*df.schema.fields, added])
    file = _ship(df.sparkSession.sparkContext, tagger)
    return df.mapInArrow(_BatchTagger(file, (index, column), output, name), schema)


def _spark_types() -> Any:
    """Import the types of pyspark.

    Raises ImportError that says what to install if it, or what it needs for Arrow, is missing.
    """
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark.sql.types
    except ImportError as error:
        raise ImportError(
            f"dropchain.spark needs pyspark, and what it needs for Arrow ({error}): "
            "pip install 'pyspark[sql]'"
        ) from error
    return pyspark.sql.types


def _check_classic(df: Any) -> None:
    """Raise ValueError if a DataFrame belongs to a Spark Connect session."""
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise ValueError(
            "the DataFrame belongs to a Spark Connect session, which sends no files to executors; "
            "expected one of a classic session (SparkSession.builder.master(…))"
        )


class _BatchTagger:
    """What runs in the Python workers of executors."""

    def __init__(self, file: str, column: tuple[int, str], output: str, name: str) -> None:
        self.file = file
        self.index, self.column = column
        self.output = output
        self.name = name
        self.version = __version__

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        if self.version != __version__:
            raise RuntimeError(
                f"the driver has dropchain {self.version}, this executor {__version__}; expected "
                "the same version"
            )
        import pyarrow as pa
        from pyspark import SparkFiles

        tagger: Tagger | None = None
        first = 0
        for batch in batches:
            tagger = tagger or opened(SparkFiles.get(self.file))
            values = batch.column(self.index)
            tagged = pa.array(tag_values(tagger, values, self.column, self.output, first))
            first += len(values)
            schema = batch.schema.append(pa.field(self.name, tagged.type))
            yield pa.RecordBatch.from_arrays([*batch.columns, tagged], schema=schema)


def _empty_array(types: Any, column: str, kind: Any) -> Any:
    """Return an array without rows of the type of the column to tag.

    Raises ValueError if it cannot be tagged.
    """
    import pyarrow as pa

    text = pa.string()
    is_array = isinstance(kind, types.ArrayType)
    item = kind.elementType if is_array else None
    if isinstance(kind, types.StringType):
        return pa.array([], text)
    if isinstance(item, types.StringType):
        return pa.array([], pa.list_(text))
    if isinstance(item, types.StructType) and item.fields:
        if all(isinstance(field.dataType, types.StringType) for field in item.fields):
            fields = [(field.name, text) for field in item.fields]
            return pa.array([], pa.list_(pa.struct(fields)))
    raise ValueError(
        f"column '{column}' has the type {kind.simpleString()}; expected {_EXPECTED}"
    )


def _output_type(types: Any, output: str, has_texts: bool) -> Any:
    """Return the type of the new column."""
    text, number = types.StringType(), types.IntegerType()
    if output == "jsonl":
        return text
    if output == "labels":
        return types.ArrayType(text, containsNull=False)
    start, end = ("start", "end") if has_texts else ("token_start", "token_end")
    fields = [(start, number), (end, number), ("type", text)]
    fields += [("text", text)] if has_texts else []
    span = types.StructType([types.StructField(name, kind, False) for name, kind in fields])
    return types.ArrayType(span, containsNull=False)


#: The files that were sent, by application; the folder is deleted when the driver ends.
_shipped: dict[str, set[str]] = {}
_folder: tempfile.TemporaryDirectory[str] | None = None


def _ship(context: Any, tagger: Tagger) -> str:
    """Send a model to all executors, also future ones; return the name of the file there.

    Its name tells its contents, since Spark never replaces a file that it has sent.
    """
    global _folder
    digest = hashlib.blake2b(tagger.to_bytes(), digest_size=16).hexdigest()
    file = f"dropchain-{digest}.model"
    shipped = _shipped.setdefault(context.applicationId, set())
    if file not in shipped:
        _folder = _folder or tempfile.TemporaryDirectory(prefix="dropchain-")
        path = os.path.join(_folder.name, file)
        if not os.path.exists(path):
            tagger.save(path)
        context.addFile(path)
        shipped.add(file)
    return file
