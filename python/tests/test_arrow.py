"""Columns of Arrow arrays, tables and pandas frames."""

import json
import os
import pickle

import pytest

pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow is not installed")

import dropchain  # noqa: E402
from dropchain import ModelError, Tagger, Template, arrow  # noqa: E402

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


def tagged(array, model, output):
    result = pa.array(arrow.tag_array(array, model, output=output))
    result.validate(full=True)
    assert len(result) == len(array)
    return result


def test_spans_of_texts_are_those_of_tag_text(tagger):
    found = tagged(pa.array(TEXTS), tagger, "spans").to_pylist()
    assert found[1] is None
    for text, spans in zip(TEXTS, found):
        expected = [s for sentence in tagger.tag_text(text or "") for s in sentence.spans]
        described = [
            {"start": s.start, "end": s.end, "type": s.type, "text": s.text} for s in expected
        ]
        assert (spans or []) == described
    assert {"London", "Paris"} <= {span["text"] for span in found[0]}
    for span in found[0]:
        assert TEXTS[0][span["start"] : span["end"]] == span["text"]


def test_labels_of_texts_are_those_of_tag_text(tagger):
    found = tagged(pa.array(TEXTS), tagger, "labels").to_pylist()
    assert found[1] is None
    for text, labels in zip(TEXTS, found):
        sentences = tagger.tag_text(text or "")
        assert (labels or []) == [label for s in sentences for label in s.labels]


def test_json_lines_have_a_sentence_each_and_its_place_in_the_text(tagger):
    found = tagged(pa.array(TEXTS), tagger, "jsonl").to_pylist()
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
    keys = ["tokens", "labels", "spans", "offsets", "text", "offset"]
    assert list(lines[0]) == keys


def test_tokens_are_sentences(tagger):
    array = pa.array(TOKENS)
    labels = [None if words is None else tagger.tag(words) for words in TOKENS]
    assert tagged(array, tagger, "labels").to_pylist() == labels
    spans = tagged(array, tagger, "spans").to_pylist()
    assert spans[:3] == [[{"token_start": 3, "token_end": 4, "type": "LOC"}], None, []]
    line = json.loads(tagged(array, tagger, "jsonl")[0].as_py())
    assert line == {"tokens": TOKENS[0], "labels": labels[0], "spans": spans[0]}


def test_structs_are_columns_of_tokens(pos_tagger):
    rows = [[{"pos": "P", "word": "She"}, {"pos": "V", "word": "left"}], None, []]
    found = tagged(pa.array(rows), pos_tagger, "labels").to_pylist()
    expected = pos_tagger.tag(dropchain.Sentence(["She", "left"], pos=["P", "V"]))
    assert found == [expected, None, []]
    line = json.loads(tagged(pa.array(rows), pos_tagger, "jsonl")[0].as_py())
    assert line == {"tokens": ["She", "left"], "labels": expected}


def test_the_types_of_the_new_column_are_exact(tagger):
    def field(name, kind):
        return pa.field(name, kind, nullable=False)

    def spans(start, end, *others):
        fields = [field(start, pa.int32()), field(end, pa.int32()), field("type", pa.string())]
        return pa.list_(field("item", pa.struct([*fields, *others])))

    of_tokens = spans("token_start", "token_end")
    of_texts = spans("start", "end", field("text", pa.string()))
    for array in (pa.array(TEXTS), pa.array([], pa.string()), pa.array([None], pa.string())):
        assert tagged(array, tagger, "spans").type == of_texts
        assert tagged(array, tagger, "labels").type == pa.list_(field("item", pa.string()))
        assert tagged(array, tagger, "jsonl").type == pa.string()
    assert tagged(pa.array(TOKENS), tagger, "spans").type == of_tokens


@pytest.mark.parametrize("output", ["spans", "labels", "jsonl"])
def test_slices_and_wide_types_give_the_same(tagger, output):
    texts = pa.array(TEXTS)
    expected = tagged(texts, tagger, output).to_pylist()
    for kind in (pa.large_string(), pa.string_view()):
        assert tagged(texts.cast(kind), tagger, output).to_pylist() == expected
    assert tagged(texts[1:4], tagger, output).to_pylist() == expected[1:4]
    tokens = pa.array(TOKENS)
    expected = tagged(tokens, tagger, output).to_pylist()
    large = tokens.cast(pa.large_list(pa.large_string()))
    assert tagged(large, tagger, output).to_pylist() == expected
    assert tagged(tokens[2:], tagger, output).to_pylist() == expected[2:]


def test_a_table_keeps_its_rows_columns_and_metadata(tagger):
    table = pa.table({"text": TEXTS, "id": range(5)}).replace_schema_metadata({"k": "v"})
    table = pa.concat_tables([table[:2], table[2:]])
    found = arrow.tag(table, tagger)
    found.validate(full=True)
    assert found.column_names == ["text", "id", "spans"]
    assert found.select(["text", "id"]).equals(table, check_metadata=True)
    expected = tagged(pa.array(TEXTS), tagger, "spans")
    assert found["spans"].combine_chunks().to_pylist() == expected.to_pylist()
    empty = arrow.tag(table.schema.empty_table(), tagger, output="labels", name="new")
    assert empty.schema.field("new").type == arrow.tag(table, tagger, output="labels")[
        "labels"
    ].type


def test_a_batch_stays_a_batch(tagger):
    batch = pa.record_batch({"id": [1], "words": [["London"]]})
    found = arrow.tag(batch, tagger, column="words", output="labels", name="ner")
    assert isinstance(found, pa.RecordBatch)
    assert found.to_pylist() == [{"id": 1, "words": ["London"], "ner": tagger.tag(["London"])}]


def test_frames_keep_their_index(tagger):
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    frame = pandas.DataFrame({"text": TEXTS}, index=[5, 4, 3, 2, 1])
    found = arrow.tag(frame, tagger, output="jsonl")
    assert list(found.index) == [5, 4, 3, 2, 1] and list(frame.columns) == ["text"]
    expected = tagged(pa.array(TEXTS), tagger, "jsonl").to_pylist()
    assert pa.array(found["jsonl"]).to_pylist() == expected
    for rows in ([], [None]):
        frame = pandas.DataFrame({"text": pandas.Series(rows, dtype=object)})
        assert len(arrow.tag(frame, tagger)) == len(rows)


def test_partitions_of_dask(model):
    dask = pytest.importorskip("dask.dataframe", reason="skipped: Dask is not installed")
    import pandas

    frame = dask.from_pandas(pandas.DataFrame({"text": TEXTS}), npartitions=2)
    found = frame.map_partitions(arrow.tag, str(model), column="text", output="jsonl").compute()
    expected = tagged(pa.array(TEXTS), model, "jsonl").to_pylist()
    assert pa.array(found["jsonl"]).to_pylist() == expected


def test_batches_of_ray(model):
    ray = pytest.importorskip("ray", reason="skipped: Ray is not installed")
    found = ray.data.from_items([{"text": text} for text in TEXTS]).map_batches(
        arrow.tag, batch_format="pyarrow", fn_args=[str(model)], fn_kwargs={"column": "text"}
    )
    expected = tagged(pa.array(TEXTS), model, "spans").to_pylist()
    assert [row["spans"] for row in found.take_all()] == expected


def test_documents_are_texts():
    sample = dropchain.sample_corpus()
    template = Template("word\nothers(word[-1])")
    tagger = dropchain.train(sample, template=template).tagger
    text = "She left London\nLondon is in England"
    labels = [label for sentence in tagger.tag_text(text) for label in sentence.labels]
    assert tagged(pa.array([text]), tagger, "labels").to_pylist() == [labels]
    words = [line.split() for line in text.split("\n")]
    alone = [tagger.tag(sentence) for sentence in words]
    assert tagged(pa.array(words), tagger, "labels").to_pylist() == alone


def test_a_model_file_is_read_once_until_it_changes(model, tagger, pos_tagger, monkeypatch):
    first = arrow.opened(model)
    assert arrow.opened(str(model)) is first
    os.unlink(model)
    pos_tagger.save(model)
    assert arrow.opened(model).labels == pos_tagger.labels
    monkeypatch.setattr(arrow, "_taggers", {})
    for i in range(6):
        copy = model.with_name(f"{i}.model")
        tagger.save(copy)
        arrow.opened(copy)
    assert len(arrow._taggers) == 4


def refused(message, call, *arguments, error=ValueError, **options):
    with pytest.raises(error) as raised:
        call(*arguments, **options)
    assert message in str(raised.value)


def test_wrong_types_are_refused(tagger):
    expected = "expected string (text), list<string> (the tokens of a sentence) or list<struct<"
    arrays = [[1], [[1]], [[{"word": 1}]], [{"word": "a"}], [b"a"], [[{}]]]
    for values in arrays:
        refused(expected, arrow.tag_array, pa.array(values), tagger)
    refused("has the type Int64;", arrow.tag_array, pa.array([1]), tagger)
    refused("found ['a'] (list) as the column; expected an Arrow array", arrow.tag_array, ["a"],
            tagger)
    refused("found data of the type dict; expected a pyarrow.Table", arrow.tag, {}, tagger)
    refused("output 'x'; expected 'spans', 'labels' or 'jsonl'", arrow.tag_array, pa.array(["a"]),
            tagger, output="x")
    table = pa.table({"n": [1]})
    refused("column 'n': the column has the type Int64", arrow.tag, table, tagger, column="n")


def test_offsets_that_make_no_sense_are_refused(tagger):
    for offsets in [[0, 3, 1], [0, -1, 2], [0, 2**31 - 1, 3]]:
        offsets = pa.array(offsets, pa.int32()).buffers()[1]
        texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
        refused("the array is damaged", arrow.tag_array, texts, tagger)
        words = pa.array(["a", "b", "c"])
        lists = pa.Array.from_buffers(pa.list_(pa.string()), 2, [None, offsets], children=[words])
        refused("the array is damaged", arrow.tag_array, lists, tagger)


def test_wrong_names_are_refused(tagger):
    table = pa.table({"text": ["a"], "spans": ["b"]})
    refused("no column 'x'; the columns are text, spans", arrow.tag, table, tagger, column="x")
    refused("there is a column 'spans'; expected another name", arrow.tag, table, tagger)
    twice = pa.table([["a"], ["b"]], names=["text", "text"])
    refused("several columns 'text'", arrow.tag, twice, tagger)


def test_columns_of_nulls_are_texts(tagger):
    found = tagged(pa.nulls(2), tagger, "spans")
    assert found.to_pylist() == [None, None]
    assert found.type == tagged(pa.array(TEXTS), tagger, "spans").type
    assert tagged(pa.array([[], None]), tagger, "labels").to_pylist() == [[], None]


def test_null_tokens_are_refused_with_their_place(tagger, pos_tagger):
    rows = [["a"], ["b", None]]
    refused("rows[1]: token 1 is null; expected a string", arrow.tag_array, pa.array(rows), tagger)
    kind = pa.list_(pa.struct([("word", pa.string()), ("pos", pa.string())]))
    rows = pa.array([[{"word": "a", "pos": None}]], kind)
    refused("rows[0]: column 'pos' of token 0 is null", arrow.tag_array, rows, pos_tagger,
            output="labels")
    refused("rows[0]: token 0 is null", arrow.tag_array, pa.array([[None]], kind), pos_tagger,
            output="labels")
    table = pa.table({"t": pa.chunked_array([[["a"]], [["b", None]]])})
    refused("column 't': rows[1]: token 1 is null", arrow.tag, table, tagger, column="t")


def test_columns_that_the_template_needs_are_missed_before_any_row(pos_tagger):
    for empty in (pa.array([], pa.string()), pa.array([], pa.list_(pa.string()))):
        refused("pos", arrow.tag_array, empty, pos_tagger, output="labels")
    refused("encode no spans", arrow.tag_array, pa.array([], pa.string()), pos_tagger)


def test_models_of_features_are_refused():
    features = [([{"a": 1.0}], ["x"]), ([{"b": 1.0}], ["y"])]
    sentences = [dropchain.Sentence.from_features(*sentence) for sentence in features]
    tagger = dropchain.train(sentences, max_iterations=3).tagger
    refused("the model was trained on features", arrow.tag_array, pa.array(["a"]), tagger,
            output="labels")


def test_bytes_that_are_not_utf8_are_refused(tagger):
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0")
    array = pa.Array.from_buffers(
        pa.string(), 2, [None, offsets, pa.py_buffer(b"ab\xff\xfe")]
    )
    refused("Invalid UTF8 sequence at string index 1", arrow.tag_array, array, tagger)


def test_missing_and_damaged_models_are_refused(tmp_path, model):
    refused("missing.model", arrow.tag_array, pa.array(["a"]), tmp_path / "missing.model",
            error=FileNotFoundError)
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(model.read_bytes()[:1000])
    refused("damaged.model", arrow.tag_array, pa.array(["a"]), damaged, error=ModelError)


def test_an_array_can_be_taken_twice_and_says_what_it_is(tagger):
    array = arrow.tag_array(pa.array(["a"]), tagger, output="jsonl")
    assert pa.array(array) == pa.array(array)
    assert repr(array) == "<ArrowArray of 1 rows: Utf8>"
    assert pa.field(array).type == pa.string()
    assert isinstance(pickle.loads(pickle.dumps(tagger)), Tagger)
