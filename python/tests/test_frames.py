"""A column of a frame of pandas, and the engines that hand over frames."""

import json
import os
import pickle
import shutil
import sys

import pytest

pd = pytest.importorskip("pandas", reason="skipped: pandas is not installed")

import dropchain  # noqa: E402
from dropchain import ModelError, Template, _frames, tag_frame  # noqa: E402

TEXTS = ["She lives in London. Émile left.\nHe was in Paris.", None, "", " \n", "É London"]
TOKENS = [["She", "lives", "in", "London", "."], None, [], ["London"]]


@pytest.fixture(scope="module")
def pos_tagger():
    """A model that reads words and tags, and whose labels encode no spans."""
    sentences = [
        dropchain.Sentence(["She", "left"], ["x", "y"], pos=["P", "V"]),
        dropchain.Sentence(["He", "ran"], ["x", "y"], pos=["P", "V"]),
    ]
    return dropchain.train(sentences, template=Template("word\npos"), max_iterations=5).tagger


@pytest.fixture()
def model(tagger, tmp_path):
    path = tmp_path / "ner.model"
    tagger.save(path)
    return path


def tagged(rows, model, output, **options):
    frame = pd.DataFrame({"c": pd.Series(rows, dtype=object)})
    return tag_frame(frame, model, column="c", output=output, **options)[output].tolist()


def test_spans_and_labels_of_texts_are_those_of_tag_text(tagger):
    spans, labels = (tagged(TEXTS, tagger, output) for output in ("spans", "labels"))
    assert spans[1] is None and labels[1] is None
    for text, spans_of_text, labels_of_text in zip(TEXTS, spans, labels):
        sentences = tagger.tag_text(text or "")
        assert (spans_of_text or []) == [
            {"start": s.start, "end": s.end, "type": s.type, "text": s.text}
            for s in sentences.spans
        ]
        assert (labels_of_text or []) == [label for s in sentences for label in s.labels]
    assert {"London", "Paris"} <= {span["text"] for span in spans[0]}
    for span in spans[0]:
        assert TEXTS[0][span["start"] : span["end"]] == span["text"]


def test_json_lines_have_a_sentence_each_and_its_place_in_the_text(tagger):
    found = tagged(TEXTS, tagger, "jsonl")
    assert found[1:4] == [None, "", ""]
    lines = [json.loads(line) for line in found[0].split("\n")]
    sentences = tagger.tag_text(TEXTS[0])
    assert [line["tokens"] for line in lines] == [s.words for s in sentences]
    assert [line["labels"] for line in lines] == [s.labels for s in sentences]
    for line in lines:
        start, end = line["offset"]
        assert TEXTS[0][start:end] == line["text"]
        for span in line["spans"]:
            assert TEXTS[0][span["start"] : span["end"]] == span["text"]
    assert list(lines[0]) == ["tokens", "labels", "spans", "offsets", "text", "offset"]


def test_lists_of_tokens_are_sentences(tagger, pos_tagger):
    labels = [None if words is None else tagger.tag(words) for words in TOKENS]
    assert tagged(TOKENS, tagger, "labels") == labels
    spans = tagged(TOKENS, tagger, "spans")
    assert spans[:3] == [[{"token_start": 3, "token_end": 4, "type": "LOC"}], None, []]
    line = json.loads(tagged(TOKENS, tagger, "jsonl")[0])
    assert line == {"tokens": TOKENS[0], "labels": labels[0], "spans": spans[0]}
    [[span], *_] = tagged(TOKENS, tagger, "spans", probability=True)
    assert span["probability"] == pytest.approx(tagger.analyze(TOKENS[0]).spans[0].probability)
    assert tagged(TOKENS, tagger, "spans", threshold=1.0)[0] == []
    words = [[{"word": word} for word in TOKENS[0]]]
    assert tagged(words, tagger, "labels") == labels[:1]
    rows = [[{"pos": "P", "word": "She"}, {"pos": "V", "word": "left"}], None, []]
    expected = pos_tagger.tag(dropchain.Sentence(["She", "left"], pos=["P", "V"]))
    assert tagged(rows, pos_tagger, "labels") == [expected, None, []]


def test_frames_keep_their_rows_index_and_columns(tagger):
    frame = pd.DataFrame({"text": TEXTS, "id": range(5)}, index=[5, 4, 3, 2, 1])
    found = tag_frame(frame, tagger, name="ner", threads=1)
    assert list(frame.columns) == ["text", "id"] and list(found.columns) == ["text", "id", "ner"]
    assert found[["text", "id"]].equals(frame)
    assert found["ner"].tolist() == tagged(TEXTS, tagger, "spans", threads=2)
    for rows in ([], [None], [float("nan"), pd.NA]):
        assert tagged(rows, tagger, "jsonl") == [None] * len(rows)


def test_the_sentences_of_a_text_are_a_document():
    template = Template("word\nothers(word[-1])")
    tagger = dropchain.train(dropchain.sample_corpus(), template=template).tagger
    text = "She left London\nLondon is in England"
    labels = [label for sentence in tagger.tag_text(text) for label in sentence.labels]
    assert tagged([text], tagger, "labels") == [labels]
    words = [line.split() for line in text.split("\n")]
    assert tagged(words, tagger, "labels") == [tagger.tag(sentence) for sentence in words]


def test_a_model_file_is_read_once_until_it_changes(model, tagger, pos_tagger):
    first = _frames._opened(model)
    assert _frames._opened(str(model)) is first
    os.unlink(model)
    pos_tagger.save(model)
    assert _frames._opened(model).labels == pos_tagger.labels
    assert pickle.loads(pickle.dumps(tagger)).labels == tagger.labels


def refused(message, frame, model, *, error=ValueError, **options):
    with pytest.raises(error) as raised:
        tag_frame(frame, model, **options)
    assert message in str(raised.value)


def test_faults_name_the_column_and_the_row(tagger, pos_tagger):
    def refuse(message, rows, model=tagger, output="labels"):
        frame = pd.DataFrame({"c": pd.Series(rows, dtype=object)})
        refused(message, frame, model, column="c", output=output)

    refuse("column 'c': rows[1][1]: found None (NoneType) as a token; expected a word",
           [["a"], ["b", None]])
    refuse("column 'c': rows[1]: found 3 (int)", ["a", 3])
    refuse("column 'c': rows[0]: found b'a' (bytes)", [b"a"])
    refuse("column 'c': rows[0]: found None (NoneType) as item 0 of pos",
           [[{"word": "a", "pos": None}]], pos_tagger)
    refuse("column 'c': rows[1]: ", [None, "a"], pos_tagger)
    refuse("'pos'", [[{"word": "a"}]], pos_tagger)
    refuse("'pos'", ["a"], pos_tagger)
    refuse("encode no spans", ["a"], pos_tagger, "spans")
    refuse("output 'x'; expected 'spans', 'labels' or 'jsonl'", ["a"], output="x")
    features = [([{"a": 1.0}], ["x"]), ([{"b": 1.0}], ["y"])]
    sentences = [dropchain.Sentence.from_features(*sentence) for sentence in features]
    tagger_of_features = dropchain.train(sentences, max_iterations=3).tagger
    refuse("the model was trained on features", ["a"], tagger_of_features)


def test_wrong_names_and_models_are_refused(tagger, model, tmp_path):
    frame = pd.DataFrame({"text": ["a"], "spans": ["b"]})
    refused("no column 'x'; the columns are text, spans", frame, tagger, column="x")
    refused("there is a column 'spans'; expected another name", frame, tagger)
    refused("several columns 'text'", frame[["text", "text"]], tagger)
    frame = frame[["text"]]
    refused("missing.model", frame, tmp_path / "missing.model", error=FileNotFoundError)
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(model.read_bytes()[:1000])
    refused("damaged.model", frame, damaged, error=ModelError)


def test_partitions_of_dask(model):
    dask = pytest.importorskip("dask.dataframe", reason="skipped: Dask is not installed")
    frame = dask.from_pandas(pd.DataFrame({"text": TEXTS}), npartitions=2)
    found = frame.map_partitions(tag_frame, str(model), output="labels", threads=1).compute()
    assert found["labels"].tolist() == tagged(TEXTS, model, "labels")


def test_batches_of_ray(model):
    ray = pytest.importorskip("ray", reason="skipped: Ray is not installed")
    found = ray.data.from_items([{"text": text} for text in TEXTS]).map_batches(
        tag_frame, batch_format="pandas", fn_kwargs={"model": str(model), "threads": 1}
    )
    assert [row["spans"] for row in found.take_all()] == tagged(TEXTS, model, "spans")


def test_frames_of_spark(model):
    sql = pytest.importorskip("pyspark.sql", reason="skipped: pyspark is not installed")
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("skipped: there is no Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    path = str(model)

    def tag(frames):
        for frame in frames:
            yield tag_frame(frame, path, output=output, column=column, threads=1)

    try:
        df = session.createDataFrame(list(enumerate(TEXTS)), "id int, text string")
        column, output = "text", "spans"
        spans = "array<struct<start:int,end:int,type:string,text:string>>"
        rows = df.repartition(3).mapInPandas(tag, f"id int, text string, spans {spans}").collect()
        found = [row.spans and [span.asDict() for span in row.spans] for row in sorted(rows)]
        assert found == tagged(TEXTS, model, "spans")
        df = session.createDataFrame([(words,) for words in TOKENS], "words array<string>")
        df = df.selectExpr("transform(words, w -> struct('X' AS pos, w AS word)) AS words")
        column, output = "words", "labels"
        kind = "array<struct<pos:string,word:string>>"
        rows = df.coalesce(1).mapInPandas(tag, f"words {kind}, labels array<string>").collect()
        assert [row.labels for row in rows] == tagged(TOKENS, model, "labels")
    finally:
        session.stop()
