"""Documents: templates that look at them, and how sentences are tagged in them."""

from __future__ import annotations

import dropchain
import pytest
from dropchain import Corpus, Tagger, Template
from refusals import refused

TEXT = """\
-DOCSTART- O

Ann R
left O

Ann R

-DOCSTART- O

Ann O
stayed O
"""


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    template = Template("mention(order)")
    corpus = Corpus.parse(TEXT, format="conll")
    return dropchain.train(corpus, template=template, dropout=0, l2=0.01).tagger


def test_the_sentences_of_a_document_are_tagged_together(tagger: Tagger) -> None:
    assert tagger.tag_document([["Ann", "left"], ["Ann"]]) == [["R", "O"], ["R"]]
    assert tagger.tag(["Ann"]) == ["O"]
    assert tagger.tag_batch([["Ann", "left"], ["Ann"]]) == [["O", "O"], ["O"]]
    assert tagger.tag_document([]) == []
    refused("an iterable of sentences", tagger.tag_document, "Ann")


def test_the_sentences_of_a_corpus_are_tagged_in_their_documents(tagger: Tagger) -> None:
    corpus = Corpus.parse(TEXT, format="conll")
    labels = [["R", "O"], ["R"], ["O", "O"]]
    assert [tags for tags in tagger.tag_batch(corpus) if tags] == labels
    assert tagger.evaluate(corpus).accuracy == 1
    documents = corpus.documents()
    assert [len(document) for document in documents] == [2, 1]
    assert [tagger.tag_document(document) for document in documents] == [labels[:2], labels[2:]]
    assert [len(document) for document in corpus.documents("sentence")] == [1, 1, 1]
    refused("unknown rule for documents 'page'", corpus.documents, "page")


def test_a_template_says_what_a_document_is() -> None:
    template = Template("word\nothers(word[-1])")
    assert template.documents == ("auto", 1000)
    assert template.with_documents("marks", 50).documents == ("marks", 50)
    assert Template("word").documents is None
    with pytest.raises(ValueError, match="no line of the template looks at the document"):
        Template("word").with_documents(window=5)
    refused("window", template.with_documents, window=10**9)
