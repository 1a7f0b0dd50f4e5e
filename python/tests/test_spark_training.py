"""Training from Spark DataFrames."""

import os
import shutil
import sys

import pytest

for package in ("pyspark", "pyarrow", "pandas"):
    pytest.importorskip(package, reason=f"skipped: {package} is not installed")
if not shutil.which("java") and "JAVA_HOME" not in os.environ:
    pytest.skip("skipped: there is no Java", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

import dropchain  # noqa: E402
from dropchain import _spark_training, spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

TEMPLATE = dropchain.Template("word\nword[-1]\nsuffix(2)\n")
OPTIONS = {"max_iterations": 6, "warm_up": 2, "dropout": 0.3}
SCHEMA = "tokens array<string>, labels array<string>"


@pytest.fixture(scope="module", params=["local[3]", "local-cluster[2,1,1024]"])
def session(request):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(request.param).appName("dropchain")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.stage.maxConsecutiveAttempts": "1",
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.slots = 3 if request.param == "local[3]" else 2
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows():
    corpus = dropchain.sample_corpus()
    rows = [(sentence.words, sentence.labels) for sentence in corpus]
    rows[3] = (rows[3][0], [None, *rows[3][1][1:]])
    rows[7] = (rows[7][0], None)
    return rows


def frame(session, rows, schema=SCHEMA, partitions=5):
    """Return a DataFrame with the rows in this order."""
    return session.createDataFrame(session.sparkContext.parallelize(rows, partitions), schema)


def corpus(rows, **options):
    return dropchain.Corpus([row[0] for row in rows], [row[1] for row in rows], **options)


def same(trained, expected):
    assert trained.tagger.to_bytes() == expected.tagger.to_bytes()
    assert [i.objective for i in trained.history] == [i.objective for i in expected.history]
    assert trained.best_iteration == expected.best_iteration


def refused(message, *arguments, error=ValueError, **options):
    with pytest.raises(error) as raised:
        spark.train(*arguments, **{"template": TEMPLATE, **OPTIONS, **options})
    assert message in str(raised.value)


def test_models_are_those_of_one_process(session, rows):
    df = frame(session, rows)
    expected = dropchain.train(corpus(rows), template=TEMPLATE, **OPTIONS)
    for workers in range(session.slots, 0, -1):
        same(spark.train(df, template=TEMPLATE, workers=workers, **OPTIONS), expected)


def test_workers_may_have_nothing(session, rows):
    df = frame(session, rows[:1], partitions=4)
    expected = dropchain.train(corpus(rows[:1]), template=TEMPLATE, **OPTIONS)
    same(spark.train(df, template=TEMPLATE, workers=2, **OPTIONS), expected)


@pytest.mark.parametrize("template", [TEMPLATE, "ner"], ids=["parts", "all"])
def test_unlabeled_text_and_development_data(session, rows, template, tmp_path):
    labeled, text, dev = rows[:60], rows[60:140], rows[140:]
    options = {**OPTIONS, "template": template, "unlabeled_weight": 0.5}
    data = (corpus(labeled), corpus(dev))
    unlabeled = dropchain.Corpus([row[0] for row in text])
    expected = dropchain.train(*data, unlabeled=unlabeled, **options)
    frames = {"unlabeled": frame(session, text), "dev": frame(session, dev)}
    df = frame(session, labeled, partitions=2)
    path = tmp_path / "ner.model"
    found = spark.train(df, **frames, workers=2, model=path, **options)
    same(found, expected)
    assert found.dev_score == expected.dev_score is not None
    assert found.data["unlabeled_sentences"] == len(text)
    assert path.read_bytes() == expected.tagger.to_bytes() and found.model == str(path)
    same(spark.train(df, **{**frames, "dev": data[1]}, workers=2, threads=2, **options), expected)


def test_columns_of_tokens(session, rows):
    template = dropchain.Template("word\npos\npos[1]\n")
    items = [([(w, w[-1:]) for w in words], labels) for words, labels in rows]
    schema = "sentence array<struct<word:string,pos:string>>, `a.b` array<string>, x int"
    df = frame(session, [(*item, 1) for item in items], schema)
    data = corpus(items, columns=["word", "pos"])
    dev = corpus(items[9:30], columns=["word", "pos"])
    expected = dropchain.train(data, dev, template=template, **OPTIONS)
    names = {"tokens": "sentence", "labels": "a.b"}
    same(spark.train(df, dev=dev, template=template, **names, **OPTIONS), expected)
    refused("unlabeled: the tokens of column 'sentence' are strings; expected word, pos", df,
            unlabeled=frame(session, [(["a"],)], "sentence array<string>"), **names)
    refused("'shape2'", df, template=dropchain.Template("word\nshape2\n"), **names)


def test_arguments_are_checked_on_the_driver(session, rows, tmp_path):
    df = frame(session, rows)
    session.sparkContext.setJobGroup("checks", "")
    refused("df: there is no column 'x'; the columns are tokens, labels", df, tokens="x")
    kinds = df.selectExpr("1 AS n", "tokens", "array(1) AS a")
    refused("df: column 'n' has the type int; expected array<string> (the", kinds, tokens="n")
    refused("df: column 'a' has the type array<int>; expected array<string> (the labels of",
            kinds, labels="a")
    refused("unknown option 'drop'", df, drop=0.5, error=TypeError)
    refused("dropout", df, dropout=1.5)
    refused("algorithm ap updates weights by sentence", df, algorithm="ap", dropout=0)
    refused("warm_start online updates weights", df, warm_start="online")
    refused("noise monte-carlo", df, noise="monte-carlo")
    refused("unlabeled text: without noise", df, unlabeled=df, dropout=0)
    refused("workers 0; expected 1 or more", df, workers=0)
    refused("threads -1; expected 1 or more", df, threads=-1)
    refused("template is missing", df, template=None)
    refused("'pos'", df, template=dropchain.Template("pos\n"))
    text = tmp_path / "notes.txt"
    text.write_text("x")
    refused("the file exists and is not a model", df, model=text)
    features = dropchain.Corpus([[{"a": 1}]], [["x"]])
    refused("dev has features; expected words", df, dev=features)
    several = dropchain.Corpus([["a"]], [[["x", "y"]]])
    refused("dev: sentence 0 has a label that is one of several", df, dev=several)
    assert not session.sparkContext.statusTracker().getJobIdsForGroup("checks")
    refused("there are no sentences to train on", df.where("size(tokens) > 999"))


def test_faults_in_the_data_end_the_run_with_their_row(session, rows):
    fault = (["a", None], ["O", "O"])
    df = frame(session, [*rows[:19], fault])
    refused("rank 1: df: rows[19]: token 1 is null; expected a string", df)
    df = frame(session, [(["a", "b"], ["O"]), *rows[:19]])
    refused("rank 0: df: rows[0]: 1 labels for a sentence of 2 tokens; expected one per token", df)
    good = frame(session, rows[:20])
    refused("dev: rows[2]: the tokens are null; expected an array", good,
            dev=frame(session, [*rows[:2], (None, ["O"])]))
    refused("no token of the training data has a label", frame(session, [(["a"], None)]))


def test_rows_that_change_are_refused(session, rows):
    import random
    import time

    from pyspark.sql import functions as F

    drawn = F.udf(lambda _: random.Random(time.time_ns()).random() < 0.5, "boolean")
    df = frame(session, rows).where(drawn.asNondeterministic()("tokens"))
    refused("df: its rows were others when they were read again", df)


def test_another_version_on_an_executor_is_refused(session, rows, monkeypatch):
    monkeypatch.setattr(_spark_training, "__version__", "0.0.0")
    message = "the driver has dropchain 0.0.0, worker 0 ("
    refused(message, frame(session, rows), error=RuntimeError)


def test_a_worker_that_dies_ends_the_others(session, rows, monkeypatch):
    worker = _spark_training._Worker

    class Dying(worker):
        def _read(self, batches, number, parts):
            worker._read(self, batches, number, parts)
            if number == 1:
                os._exit(9)

    monkeypatch.setattr(_spark_training, "_Worker", Dying)
    with pytest.raises(Exception) as raised:
        spark.train(frame(session, rows), template=TEMPLATE, **OPTIONS)
    assert not isinstance(raised.value, (ValueError, TypeError, NameError))
    monkeypatch.undo()
    assert spark.train(frame(session, rows), template=TEMPLATE, **OPTIONS).iterations == 6


def test_a_worker_that_fails_is_named_instead_of_those_that_lost_it(session, rows, monkeypatch):
    worker = _spark_training._Worker

    class Failing(worker):
        def _connected(self, context, number):
            rank = worker._connected(self, context, number)
            if number == 1:
                raise KeyError("lost its way")
            return rank

    monkeypatch.setattr(_spark_training, "_Worker", Failing)
    refused("worker 1: KeyError: 'lost its way'", frame(session, rows), error=RuntimeError)
