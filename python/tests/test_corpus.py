"""Corpora and sentences."""

import pytest
from refusals import refused

from dropchain import Corpus, Sentence, sample_corpus

WORDS = [["Ada", "left"], ["in", "London"]]
LABELS = [["B-PER", "O"], ["O", "B-LOC"]]


def test_a_corpus_is_a_sequence_of_sentences():
    corpus = Corpus(WORDS, LABELS)
    assert len(corpus) == 2 and corpus.tokens == 4
    assert corpus.words == WORDS and corpus.labels == LABELS
    assert [sentence.words for sentence in corpus] == WORDS
    assert corpus[-1].words == ["in", "London"]
    assert corpus[::-1].words == WORDS[::-1]
    assert (corpus + corpus[:1]).words == [*WORDS, WORDS[0]]
    assert repr(corpus) == "<Corpus of 2 sentences, 4 tokens>"
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"sentence {index} of 2"):
            corpus[index]
    with pytest.raises(TypeError):
        corpus["a"]


def test_files_are_read_by_their_extension(tmp_path):
    conll = tmp_path / "a.conll"
    conll.write_text("Ada NNP B-PER\nleft VBD O\n\nin IN O\n", encoding="utf-8")
    corpus = Corpus.read(conll, columns=["word", "pos", "label"])
    assert corpus.labels == [["B-PER", "O"], ["O"]]
    assert corpus.columns == ["word", "pos"]
    assert corpus[0].column("pos") == ["NNP", "VBD"]
    assert (corpus[1].file, corpus[1].line) == (str(conll), 4)
    jsonl = tmp_path / "a.jsonl"
    jsonl.write_text('{"tokens": ["Ada"], "labels": ["B-PER"]}\n', encoding="utf-8")
    assert Corpus.read(jsonl).labels == [["B-PER"]]
    twice = Corpus.read([str(conll), conll], label=-1)
    assert twice.labels == [["B-PER", "O"], ["O"]] * 2
    pos = Corpus.read(conll, columns=["word", "pos", "ner"], label="pos")
    assert pos.labels[0] == ["NNP", "VBD"]


def test_partial_labels_and_weights_are_read():
    text = "# weight = 0.5\nAda B-PER|B-ORG\nleft _\n"
    corpus = Corpus.parse(text, format="conll", comments=True, partial_labels=True)
    assert corpus.labels == [[["B-PER", "B-ORG"], None]]
    assert corpus[0].weight == 0.5


def test_files_are_read_with_the_options_of_the_command_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes("# id\nTOKEN NE\nZ\u00fcrich B-LOC\nist O\n".encode("latin1"))
    corpus = Corpus.read(path, comments=True, header=True, encoding="latin1")
    assert (corpus.words, corpus.columns) == ([["Z\u00fcrich", "ist"]], ["word"])
    with pytest.warns(UserWarning, match="1 place is no text"):
        assert Corpus.read(path, comments=True, header=True, encoding="utf-8-lossy").tokens == 2
    refused("unknown encoding 'l'", Corpus.read, path, encoding="l")
    text = tmp_path / "a.txt"
    text.write_text("Ada\nleft.\n\nBob stayed.\n", encoding="utf-8")
    assert len(Corpus.read(text, format="text", unlabeled=True, paragraphs=True)) == 2
    spans = tmp_path / "a.jsonl"
    spans.write_text(
        '{"text": "\u00c9va Lee left", "spans": [{"start": 0, "end": 6, "label": "PER"}]}\n',
        encoding="utf-8",
    )
    refused("cut", Corpus.read, spans, format="spans")
    with pytest.warns(UserWarning, match="1 span"):
        read = Corpus.read(spans, format="spans", offsets="bytes", misaligned="expand")
    assert read.labels == [["B-PER", "I-PER", "O"]]


def test_what_is_decided_about_files_is_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="a:1: 1 line that begins with '#'"):
        Corpus.parse("# names\nAda B-PER\n", format="conll", name="a")
    with pytest.warns(UserWarning, match="column 1 numbers the tokens"):
        read = Corpus.parse("1 Ada B-PER\n2 left O\n", format="conll")
    assert read.words == [["Ada", "left"]]
    read = Corpus.parse("1\tAda" + "\t_" * 7 + "\tner=B-PER\n", format="conllu", label="ner")
    assert read.labels == [["B-PER"]]


def test_malformed_files_are_errors_with_their_place(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("Ada B-PER\nleft\n", encoding="utf-8")
    refused(r"a\.conll:2: ", Corpus.read, path)
    refused("missing.conll", Corpus.read, tmp_path / "missing.conll", error=FileNotFoundError)
    refused("unknown input format 'xml'", Corpus.read, path, format="xml")
    refused("'-'", Corpus.read, "-")
    refused("expected the format of the text", Corpus.parse, "Ada B-PER\n")


def test_sentences_have_columns_labels_and_weights():
    sentence = Sentence(["Ada", "left"], ["B-PER", None], pos=["NNP", "VBD"], weight=2)
    assert len(sentence) == 2 and sentence.weight == 2
    assert sentence.columns == ["word", "pos"]
    assert sentence.labels == ["B-PER", None]
    assert sentence == Sentence(["Ada", "left"], ["B-PER", None], pos=["NNP", "VBD"], weight=2)
    assert sentence != Sentence(["Ada", "left"], ["B-PER", "O"], pos=["NNP", "VBD"], weight=2)
    assert repr(Sentence(["a"], ["O"])) == "Sentence(['a'], ['O'])"
    assert Sentence(["a"]).labels is None and Sentence(["a"]).file is None
    refused("no column 'lemma'", sentence.column, "lemma", error=KeyError)


def test_features_of_sentences_follow_the_conventions_of_crfsuite():
    features = {"bias": 1.0, "word": "Ada", "upper": True, "shape": {"long": 0.5}, "in": ["a", "b"]}
    [token] = Sentence.from_features([features]).features
    expected = {"bias": 1, "word:Ada": 1, "upper": 1, "shape:long": 0.5, "in:a": 1, "in:b": 1}
    assert token == expected
    assert Sentence.from_features([["a", "b"], set()]).features == [{"a": 1, "b": 1}, {}]


@pytest.mark.parametrize(
    ("sentences", "labels", "message"),
    [
        ([["a"], "b"], None, r"X\[1\]: found 'b' \(str\) as a sentence; expected a list of tokens"),
        ([["a"], 3], None, r"X\[1\]: found 3 \(int\) as a sentence"),
        ([["a", 3]], None, r"X\[0\]\[1\]: found 3 \(int\) as a token; expected a word"),
        ([[{"a": 1}, {"a": None}]], None, r"X\[0\]\[1\]: found None \(NoneType\) as "),
        ([[{"a": 1}, "b"]], None, r"X\[0\]\[1\]: found 'b' \(str\) as the features of a token"),
        ([[{"a": float("nan")}]], None, r"X\[0\]\[0\]: feature 'a' has the value NaN"),
        ([[[["a"]]]], None, r"X\[0\]\[0\]: found \['a'\] \(list\) as the name of a feature"),
        (WORDS, LABELS[:1], "X has 2 sentences, but y has 1"),
        (WORDS, [["O"], ["O", "O"]], r"y\[0\]: found 1 labels for a sentence of 2 tokens"),
        (WORDS, [["O", "O"], ["O", 1]], r"y\[1\]\[1\]: found 1 \(int\) as a label"),
        (WORDS, [["O", "O"], "OO"], r"y\[1\]: found 'OO' \(str\) as the labels of a sentence"),
        (WORDS, [["O", "O"], ["O", ""]], r"y\[1\]\[1\]: found '' \(str\) as a label"),
        (WORDS, [["O", "O"], ["O", []]], r"y\[1\]\[1\]: found no label"),
        ("ab", None, r"found 'ab' \(str\) as X"),
        (WORDS, "ab", r"found 'ab' \(str\) as y"),
    ],
)
def test_malformed_sentences_are_errors_that_name_index_and_value(sentences, labels, message):
    refused(message, Corpus, sentences, labels)


def test_tokens_may_have_columns():
    corpus = Corpus([[("Ada", "NNP"), ["left", "VBD"]]], columns=["word", "pos"])
    assert corpus[0].column("pos") == ["NNP", "VBD"]
    with pytest.raises(ValueError, match=r"X\[0\]\[1\]: found 1 values; expected 2"):
        Corpus([[("Ada", "NNP"), ("left",)]], columns=["word", "pos"])
    refused("two columns have the name 'a'", Corpus, [], columns=["a", "a"])


def test_weights_belong_to_sentences():
    assert [s.weight for s in Corpus(WORDS, LABELS, weights=[0.5, 2])] == [0.5, 2]
    refused(r"weights\[1\]: .*-1", Corpus, WORDS, weights=[1, -1])
    refused("found 1 weights for 2 sentences", Corpus, WORDS, weights=[1])


def test_the_sample_corpus_has_three_parts_and_two_kinds_of_labels():
    sizes = [len(sample_corpus(part)) for part in ("train", "dev", "test")]
    assert sizes == [1076, 311, 311]
    assert sample_corpus("dev", label="upos")[0].labels[0].isupper()
    refused("part 'x'", sample_corpus, "x")


def test_document_boundaries_are_marked():
    corpus = Corpus.parse("-DOCSTART- O\n\nAda B-PER\n", format="conll")
    assert [sentence.is_document_start for sentence in corpus] == [True, False]
    assert corpus.tokens == 1 and len(corpus.without_boundaries()) == 1


class Liar:
    """An iterable whose `__len__` says what is not true."""

    def __init__(self, items, length):
        self.items, self.length = items, length

    def __len__(self):
        return self.length

    def __length_hint__(self):
        return self.length

    def __getitem__(self, i):
        return self.items[i]

    def __iter__(self):
        return iter(self.items)


@pytest.mark.parametrize("length", [0, 2**40, 2**62])
def test_a_length_that_is_not_true_changes_nothing(length):
    corpus = Corpus(Liar(WORDS, length), LABELS, weights=Liar([0.5, 2], length))
    assert [s.weight for s in corpus] == [0.5, 2]
    tokens = [[["Ada", "NNP"]]]
    corpus = Corpus(Liar(tokens, length), columns=Liar(["word", "pos"], length))
    assert corpus[0].words == ["Ada"]
    text = "Ada NNP O\n"
    columns = Liar(["word", "pos", "label"], length)
    assert Corpus.parse(text, format="conll", columns=columns)[0].words == ["Ada"]
    table = {"word": Liar(sum(WORDS, []), length), "sentence": Liar([0, 0, 1, 1], length)}
    assert Corpus(table, unlabeled=True).words == WORDS
