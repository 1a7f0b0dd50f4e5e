"""Two passes over a document."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import dropchain
from dropchain import Corpus

TEMPLATE = "word[-1]\npredicted_word\npredicted_word & predicted_phrase\n"


def corpus(names: range) -> Corpus:
    text = ""
    for name in names:
        before, label = [("Mr.", "B-PER"), ("the", "B-ORG")][name % 2]
        text += f"-DOCSTART- O\n\nName{name} {label}\nspoke O\n\n"
        text += f"then O\n{before} O\nName{name} {label}\nleft O\n\n"
    return Corpus.parse(text, format="conll")


def test_a_template_that_reads_predictions_is_trained_in_two_passes() -> None:
    template = dropchain.Template(TEMPLATE)
    result = dropchain.train(corpus(range(40)), template=template, dropout=0, l2=0.01)
    assert not result.is_first_pass
    assert result.history[-1].number == result.iterations
    assert result.messages[0] == "first pass" and result.messages[-1] == "second pass"
    tagger = result.tagger
    test = corpus(range(40, 50))
    assert tagger.evaluate(test).f1 == 1
    document = [["Ford", "spoke"], ["then", "the", "Ford", "left"]]
    assert tagger.tag_document(document) == [["B-ORG", "O"], ["O", "O", "B-ORG", "O"]]
    document[1][1] = "Mr."
    assert tagger.tag_document(document)[0] == ["B-PER", "O"]
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.tag_document(document)[0] == ["B-PER", "O"]


class Stop:
    """Ends training in the n-th model, at its second iteration: False, or an exception."""

    def __init__(self, model: int, exception: BaseException | None = None) -> None:
        self.left = model
        self.exception = exception

    def __call__(self, iteration: dropchain.Iteration) -> bool:
        self.left -= iteration.number == 2
        if self.left == 0 and self.exception is not None:
            raise self.exception
        return self.left > 0


def test_who_ends_training_in_a_fold_gets_the_first_pass() -> None:
    template = dropchain.Template(TEMPLATE)
    data = corpus(range(40))
    options = {"template": template, "dropout": 0, "l2": 0.01}
    whole = dropchain.train(data, **options)
    result = dropchain.train(data, observer=Stop(3), **options)
    assert result.is_first_pass and result.end_reason == "observer"
    assert result.history[-1].number == result.iterations == result.best_iteration
    assert result.data["sentences"] == 80  # not those of the folds
    assert result.tagger.tag(["then", "Mr.", "Ford", "left"]) == ["O", "O", "B-PER", "O"]
    both = dropchain.train(data, observer=Stop(7), **options)
    assert not both.is_first_pass and both.iterations == 2
    assert whole.iterations > 2


def test_the_first_pass_does_not_replace_both_that_are_continued(tmp_path: Path) -> None:
    template = dropchain.Template(TEMPLATE)
    data = corpus(range(40))
    path = tmp_path / "m"
    dropchain.train(data, template=template, dropout=0, model=path)
    old = path.read_bytes()
    more = {"init": path, "dropout": 0, "l2": 0.001}
    with pytest.raises(KeyboardInterrupt) as caught:
        stop = Stop(3, KeyboardInterrupt())
        dropchain.train(corpus(range(50)), model=path, observer=stop, **more)
    assert caught.value.result.is_first_pass
    assert path.read_bytes() == old
    other = tmp_path / "other"
    result = dropchain.train(corpus(range(50)), model=other, observer=Stop(3), **more)
    assert result.model == str(other) and other.exists()
