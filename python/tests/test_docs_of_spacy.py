"""Documents of spaCy as a corpus, and back."""

import pytest
from refusals import refused

spacy = pytest.importorskip("spacy", reason="skipped: spaCy is not installed")

from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

from test_data import random_corpus  # noqa: E402

import dropchain  # noqa: E402
from dropchain import Corpus, train  # noqa: E402

X = [["Ada", "left"], ["in", "London", "."]]
Y = [["B-PER", "O"], ["O", "B-LOC", "O"]]
CORPUS = Corpus(X, Y)
NLP = spacy.blank("en")


def docs():
    return [Doc(NLP.vocab, words=words, ents=labels) for words, labels in zip(X, Y)]


def same(corpus):
    return list(corpus) == list(CORPUS)


def test_documents_are_sentences_with_their_entities():
    for data in (docs(), tuple(docs()), DocBin(docs=docs()), iter(docs())):
        assert same(Corpus(data))
    assert list(Corpus(docs()[0])) == list(CORPUS[:1])
    examples = [Example(NLP.make_doc(doc.text), doc) for doc in docs()]
    assert same(Corpus(examples))
    result = train(docs(), DocBin(docs=docs()), template="minimal", dropout=0)
    assert result.dev_score == 1
    assert result.tagger.evaluate(docs()).f1 == 1
    assert result.tagger.tag_batch(docs()) == Y
    assert Corpus(docs(), unlabeled=True).labels == [None, None]


def test_files_of_spacy_are_read_and_written(tmp_path):
    path = tmp_path / "train.spacy"
    DocBin(docs=docs()).to_disk(path)
    assert same(Corpus.read(path)) and same(Corpus.read(path, format="spacy"))
    assert train(path, str(path), template="minimal", dropout=0).dev_score == 1
    conll = tmp_path / "train.conll"
    Corpus.read(path).write(conll)
    assert list(Corpus.read(conll)) == list(CORPUS)
    again = tmp_path / "again.spacy"
    Corpus.read(conll).write(again)
    assert same(Corpus.read(again))
    damaged = tmp_path / "damaged.spacy"
    damaged.write_bytes(path.read_bytes()[:40])
    refused(r"damaged\.spacy: found no DocBin of spaCy", Corpus.read, damaged)
    with pytest.raises(FileNotFoundError):
        Corpus.read(tmp_path / "missing.spacy")


def test_sentences_and_documents_are_kept(tmp_path):
    words = ["Ada", "left", "\n", "in", "London", "."]
    starts = [True, False, False, True, False, False]
    doc = Doc(NLP.vocab, words=words, sent_starts=starts,
              ents=["B-PER", "O", "O", "O", "B-LOC", "O"])
    corpus = Corpus([doc, doc])
    assert list(corpus) == [*CORPUS, *CORPUS]  # blanks are left out
    assert [len(document) for document in corpus.documents()] == [2, 2]
    made = corpus.to_docs(NLP)
    assert [[sentence.text for sentence in doc.sents] for doc in made] == [
        ["Ada left", "in London ."]
    ] * 2
    assert list(Corpus(made)) == list(corpus)
    path = tmp_path / "a.conll"
    corpus.write(path)
    read = Corpus.read(path)
    assert [len(document) for document in read.documents()] == [2, 2]
    assert list(Corpus(read.to_docs())) == list(corpus)


def test_labels_are_entities_tags_or_parts_of_speech():
    doc = Doc(NLP.vocab, words=X[0], tags=["NNP", "VBD"], pos=["PROPN", "VERB"], ents=Y[0])
    corpus = Corpus(doc)
    assert corpus.columns == ["word", "upos", "xpos"]
    assert corpus[0].column("upos") == ["PROPN", "VERB"]
    tags = Corpus(doc, label="tag")
    assert tags.labels == [["NNP", "VBD"]] and tags.columns == ["word", "upos"]
    assert Corpus(doc, label="pos", columns="lemma")[0].column("lemma") == ["_", "_"]
    [again] = corpus.to_docs(NLP)
    assert [(t.tag_, t.pos_, t.ent_iob_, t.ent_type_) for t in again] == [
        ("NNP", "PROPN", "B", "PER"), ("VBD", "VERB", "O", ""),
    ]
    [again] = Corpus(doc, label="pos", columns=[]).to_docs()
    assert [t.pos_ for t in again] == ["PROPN", "VERB"]
    [again] = Corpus(doc, label="tag", columns=[]).to_docs()
    assert [t.tag_ for t in again] == ["NNP", "VBD"]


def test_tokens_without_annotation_are_unknown():
    doc = Doc(NLP.vocab, words=X[1], ents=["", "B-LOC", "O"])
    corpus = Corpus(doc)
    assert corpus.labels == [[None, "B-LOC", "O"]]
    assert list(Corpus(corpus.to_docs())) == list(corpus)


def test_unfit_documents_are_errors():
    plain = NLP("Ada left")
    refused("the documents have no entities.*label='tag' or 'pos'", Corpus, plain)
    refused("label 'x'; expected one of ent, tag, pos", Corpus, plain, label="x")
    refused("column 'x'; expected one of pos, tag", Corpus, docs(), columns="x")
    refused(r"data\[1\]: found int; expected a Doc", Corpus, [plain, 3])
    refused("the sentences have features", Corpus([[{"a": 1}]], [["O"]]).to_docs)
    refused("label 'x'; expected one of ent, tag, pos", CORPUS.to_docs, label="x")


def test_a_pipeline_tags_what_a_model_was_trained_on(tmp_path):
    path = tmp_path / "train.spacy"
    sample = dropchain.sample_corpus()
    sample.write(path)
    read = Corpus.read(path)
    assert read.words == sample.words
    assert read.labels == sample.labels
    assert read[0].column("upos") == sample[0].column("upos")


@pytest.mark.parametrize("seed", range(5))
def test_a_corpus_through_documents_comes_back_equal(seed, tmp_path):
    corpus = random_corpus(seed)
    assert list(Corpus(corpus.to_docs(NLP))) == list(corpus)
    corpus.write(tmp_path / "a.spacy")
    assert list(Corpus.read(tmp_path / "a.spacy")) == list(corpus)
