"""Tagging of Spark DataFrames."""

import datetime
import decimal
import os
import shutil
import subprocess
import sys

import pytest

for package in ("pyspark", "pyarrow", "pandas"):
    pytest.importorskip(package, reason=f"skipped: {package} is not installed")
if not shutil.which("java") and "JAVA_HOME" not in os.environ:
    pytest.skip("skipped: there is no Java", allow_module_level=True)

from pyspark.errors import PythonException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import types as t  # noqa: E402

import dropchain  # noqa: E402
from dropchain import spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

TEXTS = ["She lives in London. Émile left.\nHe was in Paris.", None, "", " \n", "É London"]


def start(master):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("dropchain")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module", params=["local[2]", "local-cluster[2,1,1024]"])
def session(request):
    session = start(request.param)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def model(tagger, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "ner.model"
    tagger.save(path)
    return path


@pytest.fixture()
def texts(session):
    rows = list(enumerate(TEXTS))
    return session.createDataFrame(rows, "id int, text string").repartition(3)


def refused(message, *arguments, error=ValueError, **options):
    with pytest.raises(error) as raised:
        spark.tag(*arguments, **options)
    assert message in str(raised.value)


def expected_spans(tagger, text):
    if text is None:
        return None
    spans = [span for sentence in tagger.tag_text(text) for span in sentence.spans]
    return [(span.start, span.end, span.type, span.text) for span in spans]


def test_spans_of_texts(texts, model, tagger):
    tagged = spark.tag(texts, model)
    fields = [
        t.StructField("start", t.IntegerType(), False),
        t.StructField("end", t.IntegerType(), False),
        t.StructField("type", t.StringType(), False),
        t.StructField("text", t.StringType(), False),
    ]
    added = t.StructField("spans", t.ArrayType(t.StructType(fields), False), True)
    assert tagged.schema == t.StructType([*texts.schema.fields, added])
    found = {row.id: row.spans for row in tagged.collect()}
    for number, text in enumerate(TEXTS):
        spans = found[number]
        assert expected_spans(tagger, text) == (spans and [tuple(span) for span in spans] or spans)
    exploded = tagged.selectExpr("text", "explode(spans) AS span")
    cut = exploded.selectExpr("substring(text, span.start + 1, span.end - span.start)", "span.text")
    rows = cut.collect()
    assert rows and all(row[0] == row[1] for row in rows)


def test_labels_and_json_lines(texts, model, tagger):
    tagged = spark.tag(texts, tagger, output="labels", name="ner")
    kind = t.ArrayType(t.StringType(), False)
    assert tagged.schema.fields[-1] == t.StructField("ner", kind, True)
    tagged = spark.tag(tagged, model, output="jsonl")
    assert tagged.columns == ["id", "text", "ner", "jsonl"]
    import pyarrow as pa

    from dropchain import arrow

    labels = pa.array(arrow.tag_array(pa.array(TEXTS), model, output="labels")).to_pylist()
    lines = pa.array(arrow.tag_array(pa.array(TEXTS), model, output="jsonl")).to_pylist()
    found = sorted(tagged.collect())
    assert [(row.ner, row.jsonl) for row in found] == list(zip(labels, lines))


def test_tokens_and_columns_of_tokens(session, model, tagger):
    rows = [(["She", "left", "London"],), (None,), ([],)]
    df = session.createDataFrame(rows, "words array<string>").coalesce(1)
    found = spark.tag(df, model, column="words", output="labels").collect()
    assert [row.labels for row in found] == [tagger.tag(rows[0][0]), None, []]
    spans = spark.tag(df, model, column="words").schema["spans"].dataType.simpleString()
    assert spans == "array<struct<token_start:int,token_end:int,type:string>>"
    columns = df.selectExpr("transform(words, w -> struct('X' AS pos, w AS word)) AS tokens")
    tagged = spark.tag(columns, model, column="tokens", output="labels")
    assert tagged.collect()[0].labels == tagger.tag(rows[0][0])


def test_other_columns_and_the_order_of_rows_stay(session, model):
    schema = (
        "id bigint NOT NULL, text string, d double, b binary, day date, at timestamp, "
        "local timestamp_ntz, price decimal(20,3), tags array<string>, m map<string,int>, "
        "s struct<a:int,b:array<boolean>>"
    )
    at = datetime.datetime(2026, 3, 29, 2, 30, 0, 123456)
    row = ("London", 0.1, bytearray(b"\0\xff"), at.date(), at, at, decimal.Decimal("1.250"),
           ["a", None], {"k": None}, (1, [True, None]))
    rows = [(i, *(row if i % 3 else [None] * 10)) for i in range(1000)]
    df = session.createDataFrame(rows, schema).coalesce(1)
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 64)
    try:
        tagged = spark.tag(df, model)
        assert tagged.schema.fields[:-1] == df.schema.fields
        assert tagged.drop("spans").collect() == df.collect()
    finally:
        session.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_partitions_may_be_empty(session, model):
    df = session.createDataFrame([("London",)], "text string").repartition(5)
    assert spark.tag(df, model).count() == 1
    assert spark.tag(df.where("text = 'x'"), model).collect() == []


def test_models_are_sent_once_and_by_their_contents(session, tagger, tmp_path):
    df = session.createDataFrame([("London",)], "text string")
    path = tmp_path / "ner.model"
    tagger.save(path)
    first = spark.tag(df, path, output="labels")
    sent = set(session.sparkContext.listFiles)
    assert spark.tag(df, path).count() == 1 and set(session.sparkContext.listFiles) == sent
    sentences = [dropchain.Sentence(["London", "rained"], ["B-X", "O"])]
    other = dropchain.train(sentences, template="ner", max_iterations=9).tagger
    os.unlink(path)
    other.save(path)
    second = spark.tag(df, path, output="labels")
    assert second.collect()[0].labels == other.tag(["London"])
    # What a DataFrame was made with stays.
    assert first.collect()[0].labels == tagger.tag(["London"])
    assert other.tag(["London"]) != tagger.tag(["London"])


def test_columns_are_checked_on_the_driver(session, model):
    df = session.sql("SELECT 1 AS n, 'a' AS text, array(1) AS a, array(struct(1 AS x)) AS s")
    refused("no column 'x'; the columns are n, text, a, s", df, model, column="x")
    expected = (
        "expected string (text), array<string> (the tokens of a sentence) or "
        "array<struct<word:string,…>> (the columns of its tokens)"
    )
    refused(f"column 'n' has the type int; {expected}", df, model, column="n")
    refused("column 'a' has the type array<int>;", df, model, column="a")
    refused("column 's' has the type array<struct<x:int>>;", df, model, column="s")
    refused("there is a column 'n'", df, model, name="n")
    refused("there is a column like 'N'", df, model, name="N")
    refused("output 'x'; expected 'spans', 'labels' or 'jsonl'", df, model, output="x")


def test_models_are_checked_on_the_driver(session, model, tmp_path):
    df = session.sql("SELECT 'a' AS text, array('a') AS words")
    refused("missing", df, tmp_path / "missing", error=FileNotFoundError)
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(model.read_bytes()[:1000])
    refused("damaged.model", df, damaged, error=dropchain.ModelError)
    sentence = dropchain.Sentence(["a"], ["x"], pos=["N"])
    template = dropchain.Template("word\npos")
    tagger = dropchain.train([sentence], template=template, max_iterations=2).tagger
    for column in df.columns:
        refused("'pos'", df, tagger, column=column, output="labels")
    refused("encode no spans", df, tagger)


def test_null_tokens_fail_with_their_place(session, model):
    rows = [(["a"],), (["b", None],)]
    df = session.createDataFrame(rows, "words array<string>").coalesce(1)
    with pytest.raises(PythonException) as raised:
        spark.tag(df, model, column="words").collect()
    expected = "column 'words': rows[1]: token 1 is null; expected a string"
    assert expected in str(raised.value)


def test_another_version_on_an_executor_is_refused(texts, model, monkeypatch):
    monkeypatch.setattr(spark, "__version__", "0.0.0")
    with pytest.raises(PythonException, match="the driver has dropchain 0.0.0, this executor"):
        spark.tag(texts, model).collect()


def test_a_missing_pyspark_is_told():
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from dropchain import spark\n"
        "try: spark.tag(None, 'x')\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "dropchain.spark needs pyspark" in found and "pip install 'pyspark[sql]'" in found
