"""Two passes over a document."""

from __future__ import annotations

import pickle

import dropchain
from dropchain import Corpus


def corpus(names: range) -> Corpus:
    text = ""
    for name in names:
        before, label = [("Mr.", "B-PER"), ("the", "B-ORG")][name % 2]
        text += f"-DOCSTART- O\n\nName{name} {label}\nspoke O\n\n"
        text += f"then O\n{before} O\nName{name} {label}\nleft O\n\n"
    return Corpus.parse(text, format="conll")


def test_a_template_that_reads_predictions_is_trained_in_two_passes() -> None:
    template = dropchain.Template("word[-1]\npredicted_word\npredicted_word & predicted_phrase\n")
    result = dropchain.train(corpus(range(40)), template=template, dropout=0, l2=0.01)
    tagger = result.tagger
    test = corpus(range(40, 50))
    assert tagger.evaluate(test).f1 == 1
    document = [["Ford", "spoke"], ["then", "the", "Ford", "left"]]
    assert tagger.tag_document(document) == [["B-ORG", "O"], ["O", "O", "B-ORG", "O"]]
    document[1][1] = "Mr."
    assert tagger.tag_document(document)[0] == ["B-PER", "O"]
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.tag_document(document)[0] == ["B-PER", "O"]
