"""Scores and comparisons."""

import pickle

import numpy as np
import pytest
from refusals import refused

import dropchain
from dropchain import Corpus, Template, compare, evaluate, train

GOLD = [["B-PER", "O", "B-LOC"], ["O", "B-PER", "I-PER"]]
PREDICTED = [["B-PER", "O", "O"], ["O", "B-PER", "O"]]


def test_spans_are_scored_as_conlleval_does():
    evaluation = evaluate(GOLD, PREDICTED)
    assert (evaluation.precision, evaluation.recall, evaluation.f1) == (0.5, 1 / 3, 0.4)
    assert evaluation.accuracy == 4 / 6
    person = evaluation.types["PER"]
    assert (person.correct, person.gold, person.predicted) == (1, 2, 2)
    assert evaluation.labels["O"].recall == 1
    assert evaluation.confusions() == [("B-LOC", "O", 1), ("I-PER", "O", 1)]
    assert evaluation.confusions(1) == [("B-LOC", "O", 1)]
    assert str(evaluation) == evaluation.conlleval()
    assert str(evaluation).startswith("processed 6 tokens with 3 phrases; found: 2 phrases")
    fields = evaluation.to_dict()
    assert fields["types"]["PER"]["f1"] == 0.5 and fields["f1"] == 0.4
    assert repr(evaluation) == "<Evaluation F1 40.00, accuracy 66.67>"


def test_confusions_are_a_matrix_with_labels():
    matrix = evaluate(GOLD, PREDICTED).confusion_matrix()
    assert matrix.labels == ["B-LOC", "B-PER", "I-PER", "O"]
    assert matrix.counts == [[0, 0, 0, 1], [0, 2, 0, 0], [0, 0, 0, 1], [0, 0, 0, 2]]
    assert np.asarray(matrix).sum() == 6
    assert repr(matrix) == "<ConfusionMatrix of 4 labels, 2 errors>"


def test_calibration_is_that_of_a_tagger(tagger, dev):
    evaluation = evaluate(dev, tagger)
    plot = evaluation.plot("calibration")
    assert "tokens in predicted spans" in plot and "(ECE)" in plot
    for other in (evaluate(GOLD, PREDICTED), pickle.loads(pickle.dumps(evaluation))):
        refused("expected the evaluation of a Tagger", other.plot, "calibration")
    refused("expected 'scores' or 'calibration'", evaluation.plot, "roc")


def test_types_without_prefixes_are_spans_unless_they_are_tags():
    gold = [["PER", "PER", "O", "O"], ["LOC", "O", "O"]]
    predicted = [["PER", "O", "O", "O"], ["LOC", "O", "O"]]
    assert evaluate(gold, predicted).f1 == 0.5
    assert not evaluate(gold, predicted, plain_labels="tags").has_spans
    assert compare(gold, gold, predicted).f1.b == 0.5
    assert compare(gold, gold, predicted, plain_labels="tags").f1 is None
    assert evaluate([["N", "V"]], [["N", "N"]], plain_labels="spans").has_spans
    refused("expected auto, spans or tags", evaluate, gold, predicted, plain_labels="bio")
    corpus = Corpus.parse("Ann PER\nLee PER\nleft O\n. O\n", format="conll")
    trained = train(corpus, template="minimal")
    assert trained.tagger.info["corpus_scheme"] == "plain"
    assert evaluate(corpus, trained.tagger).has_spans


def test_tags_without_spans_have_an_accuracy_only():
    evaluation = evaluate([["N", "V"]], [["N", "N"]])
    assert not evaluation.has_spans and evaluation.accuracy == 0.5
    assert "f1" not in evaluation.to_dict()
    assert repr(evaluation) == "<Evaluation accuracy 50.00>"


def test_corpora_taggers_and_files_are_scored(tmp_path, tagger):
    test = dropchain.sample_corpus("test")
    expected = evaluate(test, tagger).to_dict()
    assert expected["f1"] > 0.6
    assert tagger.evaluate(test, threads=1).to_dict() == expected
    labels = tagger.tag_batch(test)
    assert evaluate(test.labels, labels).to_dict() == expected
    assert evaluate(test, Corpus(test.words, labels)).to_dict() == expected
    assert evaluate((test.words, test.labels), tagger).to_dict() == expected
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    lines = ["".join(map("{}\t_\t{}\n".format, s.words, s.labels)) for s in test]
    gold.write_text("\n".join(lines), encoding="utf-8")
    lines = ["".join(map("{}\t_\t{}\n".format, s.words, y)) for s, y in zip(test, labels)]
    predicted.write_text("\n".join(lines), encoding="utf-8")
    assert tagger.evaluate(gold).to_dict() == expected
    assert evaluate(gold, predicted).to_dict() == expected


def test_document_boundaries_are_tokens_but_no_sentences(tagger):
    text = "-DOCSTART- O\n\nShe O\nleft O\nLondon B-LOC\n. O\n"
    corpus = Corpus.parse(text, format="conll")
    labels = ["O", "O", "B-LOC", "O"]
    for predicted in (tagger, corpus, [labels], [[], labels]):
        evaluation = evaluate(corpus, predicted)
        assert (evaluation.sentences, evaluation.tokens, evaluation.f1) == (1, 5, 1)


def test_features_are_evaluated():
    data = ([[{"a": 1}, {"b": 1}]], [["X", "Y"]])
    assert train(data, dropout=0).tagger.evaluate(data).accuracy == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (GOLD, PREDICTED[:1], "gold has 2 sentences, but predicted has 1"),
        (GOLD, [["O"], ["O"]], r"predicted\[0\]: found 1 labels; expected 3"),
        (GOLD, [GOLD[0], ["O", 3, "O"]], r"predicted\[1\]: found 3 \(int\) as item 1 of"),
        ([["O", None]], [["O", "O"]], r"gold\[0\]: found None"),
        ("OO", [["O"]], r"found 'OO' \(str\) as gold|OO"),
        (3, [["O"]], r"found 3 \(int\) as gold"),
        (GOLD, 3, r"found 3 \(int\) as predicted"),
        (Corpus([["a"]]), [["O"]], "found no label column"),
        (Corpus([["a"]], [[None]]), [["O"]], "sentence 0: found the partial label"),
        (GOLD, Corpus([["a"]], [["O"]]), "gold has 2 sentences, but predicted has 1"),
    ],
)
def test_unfit_labels_are_errors(gold, predicted, message):
    refused(message, evaluate, gold, predicted, error=(ValueError, OSError))


def test_two_taggers_are_compared(tagger, sample):
    test = dropchain.sample_corpus("test")
    weak = train(sample, template=Template("word\n"), max_iterations=10).tagger
    comparison = compare(test, weak, tagger, samples=500, seed=3)
    assert comparison.f1.a == pytest.approx(evaluate(test, weak).f1)
    assert comparison.f1.b == pytest.approx(evaluate(test, tagger).f1)
    low, high = comparison.f1.interval
    assert 0 < low < comparison.f1.difference < high and comparison.f1.p_value < 0.05
    assert (comparison.samples, comparison.seed, comparison.sentences) == (500, 3, 311)
    assert "significant" in str(comparison)
    fields = comparison.to_dict()
    assert fields["f1"]["p_value"] == comparison.f1.p_value
    again = compare(test, weak.tag_batch(test), tagger.tag_batch(test), samples=500, seed=3)
    assert again.to_dict() == fields
    one = compare(test, weak, tagger, samples=500, seed=3, threads=1)
    assert one.to_dict() == fields
    assert repr(comparison).startswith("<Comparison F1 difference +")


def test_unfit_comparisons_are_errors(tagger):
    refused("gold has 2 sentences, but b has 1", compare, GOLD, PREDICTED, PREDICTED[:1])
    refused("a is a tagger; expected a Corpus", compare, GOLD, tagger, PREDICTED, error=TypeError)
    refused("samples 0", compare, GOLD, PREDICTED, PREDICTED, samples=0)
    refused("at least one sentence", compare, [], [], [])
