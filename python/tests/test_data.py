"""Data in the forms that people have them."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import dropchain
from dropchain import Corpus, Sentence, train, tune

X = [["Ada", "left"], ["in", "London", "."]]
Y = [["B-PER", "O"], ["O", "B-LOC", "O"]]
CORPUS = Corpus(X, Y)
SENTENCE = [i for i, row in enumerate(X) for _ in row]
LONG = {"sentence": SENTENCE, "word": sum(X, []), "label": sum(Y, [])}
LISTS = {"tokens": X, "labels": Y}
TAGGED = [list(zip(words, labels)) for words, labels in zip(X, Y)]
PAIRS = list(zip(X, Y))
OFFSETS = [
    ("Ada left", {"entities": [(0, 3, "PER")]}),
    ("in London.", {"entities": [(3, 9, "LOC")]}),
]
FORMS = {
    "long": LONG, "lists": LISTS, "tagged": TAGGED, "pairs": PAIRS, "offsets": OFFSETS,
    "rows": [{"tokens": words, "labels": labels} for words, labels in PAIRS],
    "sentences": list(CORPUS),
}


def same(corpus):
    return list(corpus) == list(CORPUS)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_the_same_corpus(name):
    data = FORMS[name]
    assert same(Corpus(data))
    result = train(data, template="minimal", dropout=0)
    assert result.tagger.tag_batch(X) == Y
    result = train(CORPUS, data, template="minimal", dropout=0)
    assert result.dev_score == 1
    assert dropchain.evaluate(data, result.tagger).f1 == 1
    assert dropchain.evaluate(data, data).f1 == 1
    assert dropchain.compare(data, result.tagger, data, samples=10).f1.difference == 0


def test_generators_are_read_once():
    assert same(Corpus(pair for pair in PAIRS))
    result = train(zip(X, Y), iter(PAIRS), template="minimal", dropout=0)
    assert result.dev_score == 1


def frames():
    found = {}
    try:
        import pandas
        found["pandas"] = lambda columns: pandas.DataFrame(columns)
    except ImportError:
        pass
    try:
        import polars
        found["polars"] = lambda columns: polars.DataFrame(columns)
    except ImportError:
        pass
    try:
        import pyarrow
        found["pyarrow"] = lambda columns: pyarrow.table(columns)
        found["batch"] = lambda columns: pyarrow.RecordBatch.from_pydict(columns)
        found["chunks"] = lambda columns: pyarrow.concat_tables(
            [pyarrow.table(columns).slice(0, 1), pyarrow.table(columns).slice(1)]
        )
    except ImportError:
        pass
    return found


FRAMES = frames()


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("columns", [LONG, LISTS], ids=["long", "lists"])
def test_frames_are_read_by_column(library, columns):
    frame = FRAMES[library](columns)
    assert same(Corpus(frame))
    tagger = train(frame, frame, template="minimal", dropout=0).tagger
    assert tagger.tag_batch(frame) == Y
    assert tagger.evaluate(frame).f1 == 1


@pytest.mark.parametrize("library", FRAMES)
def test_columns_of_frames_are_chosen_by_name(library):
    columns = {"doc": [0] * 5, "s": SENTENCE, "w": LONG["word"], "ner": LONG["label"],
               "pos": list("abcde"), "n": [1.5] * 5}
    frame = FRAMES[library](columns)
    corpus = Corpus(frame, sentence="s", word="w", label="ner")
    assert corpus.words == X and corpus.labels == Y and corpus.columns == ["word", "pos"]
    assert corpus[1].column("pos") == ["c", "d", "e"]
    assert same(Corpus(frame, sentence=["doc", "s"], word="w", label="ner", columns=[]))
    by_pos = Corpus(frame, sentence="s", word="w", label="pos", columns="ner")
    assert by_pos[0].labels == ["a", "b"] and by_pos[0].column("ner") == ["B-PER", "O"]
    result = train(frame, sentence="s", word="w", label="ner", template="minimal", dropout=0)
    assert dropchain.evaluate(frame, result.tagger, sentence="s", word="w", label="ner").f1 == 1
    with pytest.raises(ValueError, match="no column 'x'; the columns are doc, s, w, ner"):
        Corpus(frame, sentence="s", word="x", label="ner")
    refused("'n'.*1.5|1.5.*'n'", Corpus, frame, sentence="s", word="w", label="ner", columns="n")
    with pytest.raises(ValueError, match="the column that tells sentences apart is not clear"):
        Corpus(frame, word="w", label="ner")


def test_categories_and_views_are_strings():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(LONG).with_columns(pl.col("word").cast(pl.Categorical))
    assert same(Corpus(frame))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(LONG).astype({"label": "category"})
    assert same(Corpus(frame))
    assert same(Corpus(frame.set_index("sentence")))
    assert same(Corpus(frame[frame.word != ""]))


def test_frames_of_values_that_are_no_strings_name_the_row():
    pd = pytest.importorskip("pandas")
    mixed = pd.DataFrame({**LONG, "word": ["Ada", "left", "in", 3, "."]}, dtype=object)
    refused(r"row 3: found 3 \(int\) in 'word'; expected a string", Corpus, mixed)


def test_words_without_a_value_name_their_row():
    pd = pytest.importorskip("pandas")
    for missing in (None, float("nan"), pd.NA):
        frame = pd.DataFrame({**LONG, "word": ["Ada", "left", "in", missing, "."]})
        with pytest.raises(ValueError, match="row 3 of data: 'word' has no value.*keep_default_na"):
            train(frame, template="minimal")
    frame = pd.DataFrame({**LONG, "label": ["B-PER", None, "O", "B-LOC", "O"]})
    with pytest.warns(UserWarning, match="column 'label' is empty in 1 of 5 rows, first in row 1"):
        assert Corpus(frame).labels[0] == ["B-PER", None]


def test_the_file_of_kaggle_is_read_as_it_is(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "ner.csv"
    path.write_text(
        "Sentence #,Word,POS,Tag\nSentence: 1,Ada,NNP,B-PER\n,left,VBD,O\n"
        "Sentence: 2,in,IN,O\n,London,NNP,B-LOC\n,.,.,O\n",
        encoding="utf-8",
    )
    message = "'Sentence #' is empty in 3 of 5 rows: a sentence goes on until the next value"
    for frame in (pd.read_csv(path), pd.read_csv(path, keep_default_na=False)):
        with pytest.warns(UserWarning, match=message):
            corpus = Corpus(frame)
        assert corpus.words == X and corpus.labels == Y and corpus.columns == ["word", "POS"]
        with pytest.warns(UserWarning, match=message):
            assert Corpus(frame, label="POS", columns=[]).labels[0] == ["NNP", "VBD"]


def test_rows_of_a_sentence_that_are_apart_are_said():
    table = {**LONG, "sentence": [0, 1, 0, 0, 0]}
    with pytest.warns(UserWarning, match=r"'sentence' has 0 \(int\) again in row 2"):
        assert len(Corpus(table)) == 3


def test_x_and_y_are_two_arguments():
    for y in (Y, [tuple(row) for row in Y], np.array(Y, dtype=object), [None, Y[1]]):
        assert train(X, y, template="minimal", dropout=0).tagger.labels
    result = train(X, Y, (X, Y), template="minimal", dropout=0)
    assert result.dev_score == 1
    for dev in ((X, Y), ((X, Y)), CORPUS, TAGGED, PAIRS, LONG, LISTS, OFFSETS):
        assert train((X, Y), dev, template="minimal", dropout=0).dev_score == 1
        assert train(CORPUS, dev, template="minimal", dropout=0).dev_score == 1
    assert train(X, tuple(Y), template="minimal", dropout=0).tagger.labels
    partial = [["B-PER", ["O", "B-LOC"]], ["O", None, "O"]]
    assert train(X, partial, template="minimal", dropout=0).tagger.labels
    assert train(X, Y, dev=CORPUS, template="minimal", dropout=0).dev_score == 1
    assert train(X, y=Y, dev=0.5, template="minimal", dropout=0, max_iterations=2).tagger
    result = tune(X, Y, CORPUS, template="minimal", dropout=[0], l2=[0.1])
    assert result.best.options["dropout"] == 0
    assert tune(X, Y, folds=2, template="minimal", dropout=[0], l2=[0.1]).tagger
    features = [[{"word": word} for word in row] for row in X]
    assert train(features, Y, (features, Y), dropout=0).tagger.tag_batch(features) == Y


def test_labels_of_a_frame_may_be_a_column():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    for frame in (pd.DataFrame(LONG), pl.DataFrame(LONG)):
        words = frame[["sentence", "word"]]
        assert same(Corpus(words, frame["label"]))
        tagger = train(words, frame["label"], template="minimal", dropout=0).tagger
        assert tagger.tag_batch(words) == Y
    assert same(Corpus(pd.Series(X), pd.Series(Y)))


@pytest.mark.parametrize("data", [TAGGED, PAIRS, CORPUS, (X, Y), "train.conll"])
def test_two_kinds_of_labels_are_refused(data):
    refused("data have labels of their own, and the second", train, data, Y, template="minimal")


def test_what_is_no_labels_is_refused_as_y():
    with pytest.raises(ValueError, match="as y; expected the labels of each sentence"):
        train(X, CORPUS, CORPUS, template="minimal")


def test_columns_are_named_as_on_the_command_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("Ada NNP B-PER\nleft VBD O\n", encoding="utf-8")
    corpus = Corpus.read(path, columns="word,pos,ner")
    assert corpus.columns == ["word", "pos"]
    tagger = train(path, template="minimal", columns="word,pos,ner", dropout=0).tagger
    assert tagger.columns[0] == "word"
    rows = [[("Ada", "NNP", "B-PER"), ("left", "VBD", "O")]]
    assert list(Corpus(rows, columns="word,pos,label", label="label")) == list(
        Corpus([[row[:2] for row in rows[0]]], [["B-PER", "O"]], columns="word, pos")
    )
    assert train(rows, columns="word,pos,ner", template="minimal", dropout=0).tagger.labels
    refused("found tokens of 3 values; expected their names", train, rows, template="minimal")
    assert Corpus(rows, columns="word,pos,ner").labels == [None]
    features = dropchain.Template("pos").features([("a", "b")], columns="word,pos")
    assert features == [{"pos[0]=b": 1.0}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X, r"words without labels; expected X, y, such as X, y = \[\["),
        (3, r"found 3 \(int\) as data; expected one of\n  \"train.conll\""),
        (None, "found None"),
        ([(("a", "b"), ("c", "d"))], "can be two tokens with their tags, or tokens and their"),
        ([("Ada", {"entities": [(0, 3)]})], r"data\[0\]: found \(0, 3\) .* as entity 0; expected"),
        ([("Ada left", {"entities": [(0, 5, "PER")]})], r"data\[0\]: the span .* cuts the token"),
        ([("Ada", {"entities": []}), 3], r"data\[1\]: found 3"),
        ([[("a", "b"), "c"]], r"X\[0\]\[1\]: found 'c'"),
        ([[("a", "b"), ("c",)]], r"X\[0\]\[1\]: found \('c',\)"),
        ([(["a"], ["O", "O"])], r"y\[0\]: found 2 labels for a sentence of 1"),
        ([(["a"], ["O"]), 3], "found"),
        (
            {"train": LISTS, "test": LISTS},
            "the column of the words is not clear; .* of train, test",
        ),
        ({1: 2}, "found a column with the name 1"),
        (
            {"sentence": [[0]], "word": ["a"], "label": ["O"]},
            r"row 0 of data: found \[0\] \(list\) in 'sentence'",
        ),
        ({"sentence": [None], "word": ["a"], "label": ["O"]}, "row 0 of data: .* no value"),
        ({"sentence": [0], "word": ["a"], "label": [""]}, "row 0 of data: found '' .* as a label"),
        ({"sentence": [0], "word": ["a"], "label": ["O", "O"]}, "label: found 2 rows; expected 1"),
        ({"sentence": [0], "word": ["a"]}, "the column of the tags is not clear"),
    ],
)
def test_other_data_are_errors_that_name_the_forms(data, message):
    refused(message, train, data, template="minimal", error=(ValueError, TypeError))


def test_cyclic_and_changing_data_are_errors():
    cyclic, deep = [], []
    cyclic.append(cyclic)
    for _ in range(100_000):
        deep = [deep]
    for data in (cyclic, {"tokens": cyclic, "labels": cyclic}, [(cyclic, cyclic)], deep,
                 {"word": deep, "label": deep}, [(deep, deep)]):
        with pytest.raises((ValueError, TypeError)):
            train(data, template="minimal")

    class Growing(list):
        def __iter__(self):
            for item in super().__iter__():
                self.clear()
                yield item

    with pytest.raises((ValueError, TypeError)):
        train(Growing(TAGGED), template="minimal")


def test_damaged_arrow_tables_are_errors():
    pa = pytest.importorskip("pyarrow")
    for offsets in [[0, 3, 1], [0, -1, 2], [0, 2**31 - 1, 3]]:
        buffer = pa.array(offsets, pa.int32()).buffers()[1]
        words = pa.Array.from_buffers(pa.string(), 2, [None, buffer, pa.py_buffer(b"abc")])
        labels = pa.array(["O", "O"])
        for table in (
            pa.table({"sentence": [0, 0], "word": words, "label": labels}),
            pa.RecordBatch.from_arrays([words, labels], names=["word", "label"]),
        ):
            refused("offset", Corpus, table)

    class Lying:
        def __arrow_c_stream__(self, requested_schema=None):
            return 3

    with pytest.raises((ValueError, TypeError)):
        Corpus(Lying())
    time = pa.array([0], pa.time32("s"))
    table = pa.table({"sentence": [0], "word": ["a"], "label": ["O"], "t": time})
    assert Corpus(table).columns == ["word"]
    refused("row 0: found datetime.time.* in 't'; expected a string", Corpus, table, columns="t")
    twice = pa.table([["a"], ["b"]], names=["word", "word"])
    refused("two columns have the name 'word'", Corpus, twice)


def random_corpus(seed):
    generator = random.Random(seed)
    words = ["Ada", "Zoë", "in", "New-York", ".", "北京", "a'b", "x_y"]
    labels = ["O", "B-PER", "B-LOC"]
    rows = [[generator.choice(words) for _ in range(generator.randint(1, 6))] for _ in range(20)]
    tags = [[generator.choice(labels) for _ in row] for row in rows]
    pos = [[generator.choice("NVX") for _ in row] for row in rows]
    tokens = [list(zip(row, column)) for row, column in zip(rows, pos)]
    return Corpus(tokens, tags, columns="word,xpos")


@pytest.mark.parametrize("seed", range(5))
def test_a_corpus_through_every_form_comes_back_equal(seed, tmp_path):
    corpus = random_corpus(seed)
    columns = corpus.to_dict()
    assert list(Corpus(columns)) == list(corpus)
    for make in FRAMES.values():
        assert list(Corpus(make(columns))) == list(corpus)
    if "pandas" in FRAMES:
        assert list(Corpus(corpus.to_frame())) == list(corpus)
    rows = {"tokens": corpus.words, "xpos": [s.column("xpos") for s in corpus],
            "labels": corpus.labels}
    assert list(Corpus(rows)) == list(corpus)
    triples = [[(*cells, label) for *cells, label in zip(s.words, s.column("xpos"), s.labels)]
               for s in corpus]
    assert list(Corpus(triples, columns="word,xpos,label", label=-1)) == list(corpus)
    for name in ("a.conll", "a.jsonl"):
        path = tmp_path / name
        corpus.write(path)
        columns = "word,xpos,label" if name == "a.conll" else None
        assert list(Corpus.read(path, columns=columns)) == list(corpus)
    path = tmp_path / "a.conllu"
    corpus.write(path, label="ner")
    read = Corpus.read(path, label="ner")
    assert (read.words, read.labels) == (corpus.words, corpus.labels)
    assert [s.column("xpos") for s in read] == [s.column("xpos") for s in corpus]
    again = tmp_path / "b.conllu"
    read.write(again)
    assert again.read_bytes() == path.read_bytes()


def test_files_that_are_written_keep_what_is_known(tmp_path):
    corpus = Corpus(X, [["B-PER", None], [["O", "B-LOC"], "O", "O"]], weights=[0.5, 1])
    for name, options in (("a.conll", {"comments": True}), ("a.jsonl", {})):
        path = tmp_path / name
        corpus.write(path)
        assert list(Corpus.read(path, partial_labels=True, **options)) == list(corpus)
    text = "-DOCSTART- O\n\nAda B-PER\n\n-DOCSTART- O\n\nleft O\n"
    documents = Corpus.parse(text, format="conll")
    path = tmp_path / "b.conll"
    documents.write(path)
    assert path.read_text("utf-8").split() == text.split()
    unlabeled = tmp_path / "c.conll"
    Corpus(X).write(unlabeled)
    assert Corpus.read(unlabeled, unlabeled=True).words == X
    pos = tmp_path / "d.conllu"
    dropchain.sample_corpus("dev", label="upos")[:3].write(pos)
    assert Corpus.read(pos).labels == dropchain.sample_corpus("dev", label="upos")[:3].labels


def test_files_that_cannot_be_written_are_errors(tmp_path):
    path = tmp_path / "a.conll"
    CORPUS.write(path)
    refused("sentences were read from this file", Corpus.read(path).write, path)
    refused("files are not compressed", CORPUS.write, tmp_path / "a.conll.gz")
    refused("unknown format 'x' to write", CORPUS.write, path, format="x")
    refused("found features; expected words", Corpus([[{"a": 1}]], [["O"]]).write, path)
    refused("found no labels", Corpus(X).write, tmp_path / "a.jsonl")
    refused("tab or a line break", Corpus([["a\tb"]], [["O"]]).write, path)
    assert same(Corpus.read(path))
    with pytest.raises(FileNotFoundError):
        CORPUS.write(tmp_path / "missing" / "a.conll")
    refused("the sentences have features", Corpus([[{"a": 1}]], [["O"]]).to_dict)


def test_weights_are_those_of_sentences_in_memory():
    assert [s.weight for s in Corpus(TAGGED, weights=[0.5, 2])] == [0.5, 2]
    assert [s.weight for s in Corpus(LONG, weights=[0.5, 2])] == [0.5, 2]
    assert train(PAIRS, weights=[0.5, 2], template="minimal", dropout=0).tagger.labels
    with pytest.raises(ValueError, match="weights are those of sentences in memory"):
        train("train.conll", weights=[1], template="minimal")


def test_options_of_other_forms_are_refused():
    refused("sentence: columns of tables", Corpus, X, Y, sentence="a")
    with pytest.raises(ValueError, match="word: columns of tables; found 'train.conll'"):
        train("train.conll", word="a", template="minimal")
    refused("misaligned is for spans", Corpus, X, Y, misaligned="drop")
    refused("overlaps is for spans", Corpus, X, Y, overlaps="first")


def test_spans_that_cut_tokens_may_be_left_out():
    data = [("Ada left", {"entities": [(0, 5, "PER")]})]
    with pytest.warns(UserWarning, match="left out"):
        assert Corpus(data, misaligned="drop").labels == [["O", "O"]]
    assert Corpus(OFFSETS, unlabeled=True).labels == [None, None]


def test_of_spans_that_overlap_one_may_be_read():
    data = [("New York left", {"entities": [(4, 8, "PER"), (0, 8, "LOC"), (0, 8, "LOC")]})]
    refused(r"data\[0\]: the span 'New York' .* overlap", Corpus, data)
    with pytest.warns(UserWarning, match="1 span overlaps another: left out"):
        assert Corpus(data, overlaps="longest").labels == [["B-LOC", "I-LOC", "O"]]
    with pytest.warns(UserWarning, match="left out"):
        assert Corpus(data, overlaps="first").labels == [["O", "B-PER", "O"]]


def test_numbers_of_tags_are_whole_and_keep_the_order_of_the_names_of_the_data_set(tmp_path):
    class DataSet(dict):
        column_names = ["tokens", "ner_tags"]

        class Feature:
            names = ["O", "B-PER"]

        features = {"ner_tags": Feature()}

    data = DataSet(tokens=[["Ada", "left"]], ner_tags=[[1, 0]])
    with pytest.warns(UserWarning, match="names are those of 'ner_tags' in another order"):
        assert Corpus(data, names=["B-PER", "O"]).labels == [["B-PER", "O"]]
    assert Corpus(data, names=["OUT", "B-X"]).labels == [["B-X", "OUT"]]
    fraction = {"tokens": [["Ada", "left"]], "ner_tags": [[0.7, 0]]}
    refused("ner_tags: row 0, token 0: found 0.7", Corpus, fraction, names=["O", "B-PER"])
    file = tmp_path / "a.jsonl"
    file.write_text('{"tokens": ["Ada", "left"], "ner_tags": [1, 0]}\n')
    assert Corpus.read(file, label_names=["O", "B-PER"]).labels == [["B-PER", "O"]]


def test_data_of_nltk_are_read_as_they_come():
    Tree = pytest.importorskip("nltk").Tree
    chunked = Tree("S", [Tree("NP", [("Ada", "NNP")]), ("left", "VBD")])
    assert Corpus([chunked.leaves()]).labels == [["NNP", "VBD"]]
    triples = pytest.importorskip("nltk.chunk").tree2conlltags(chunked)
    corpus = Corpus([triples], columns="word,pos,label", label="label")
    assert corpus.labels == [["B-NP", "O"]]


def test_sentences_of_a_notebook_are_found_in_json_lines(tmp_path):
    path = Path(tmp_path / "a.jsonl")
    CORPUS.write(path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert same(Corpus(rows))
    assert Sentence(X[0], Y[0]) == Corpus(rows)[0]


class Hostile:
    """An object that answers as it likes."""

    def __init__(self, generator):
        self.generator = generator

    def __getattr__(self, name):
        generator = self.__dict__["generator"]
        if name.startswith("__arrow") and generator.random() < 0.3:
            return lambda *arguments, **more: generator.choice([3, None, (1, 2), "x"])
        raise generator.choice([AttributeError, AttributeError, ValueError])(name)

    def __len__(self):
        return self.generator.choice([0, 3, 2**62])

    def __iter__(self):
        return iter([hostile(self.generator, 2) for _ in range(self.generator.randint(0, 3))])

    def __eq__(self, other):
        return self.generator.random() < 0.5

    __hash__ = None


def hostile(generator, depth):
    """Return something that looks like data, more or less."""
    items = [hostile(generator, depth - 1) for _ in range(generator.randint(0, 3))] if depth else []
    names = ["sentence", "word", "label", "tokens", "ner_tags", "entities", "x", 3]
    kinds = [
        lambda: generator.choice(["a", "O", "", "\udc80", None, 1, -100, float("nan"), b"x"]),
        lambda: items,
        lambda: tuple(items),
        lambda: {generator.choice(names): item for item in items},
        lambda: (item for item in items),
        lambda: Hostile(generator),
    ]
    return generator.choice(kinds if depth else kinds[:1])()


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.filterwarnings("ignore")
def test_whatever_is_given_is_data_or_an_error(seed):
    generator = random.Random(seed)
    make = [lambda: hostile(generator, 4), lambda: hostile(generator, 3)]
    for call in (
        lambda: Corpus(make[0]()),
        lambda: Corpus(make[0](), make[1]()),
        lambda: train(make[0](), make[1](), template="minimal", max_iterations=1),
        lambda: dropchain.evaluate(make[0](), make[1]()),
    ):
        try:
            call()
        except (ValueError, TypeError, OSError):
            pass
