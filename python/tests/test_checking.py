"""Checks, reports and explanations."""

import copy
import json
import multiprocessing
import pickle

import pytest
from refusals import refused

import dropchain
from dropchain import Corpus, Sentence

WORDS = ["She", "lives", "in", "London", "."]
REST = "left O\nfor O\nRome O\nyesterday O\n\n"
CONLL = f"Ada B-PER\n{REST}Ada O\n{REST}"


# Checks


def test_files_and_corpora_are_checked_alike(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text(CONLL)
    of_file = dropchain.check(path, dev=str(path))
    of_corpus = dropchain.check(Corpus.read(path), dev=(Corpus.read(path)))
    assert "sentences that occur with other labels, too" in str(of_file)
    kinds = [finding["kind"] for finding in of_file.findings]
    assert {"conflicting_labels", "shared_sentence"} <= set(kinds)
    assert kinds == [finding["kind"] for finding in of_corpus.findings]
    assert of_file.sizes[0]["files"] == 1 and of_file.sizes[0]["tokens"] == 10
    assert not of_file.errors and of_file.warnings
    json.dumps(of_file.to_dict())
    assert "inconsistent" not in of_file.to_dict()


def test_reading_options_are_those_of_corpora(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("Ada\tB-PER\tx\nleft\tO\ty\n\n")
    found = dropchain.check(path, format="conll", columns="word ner other".split(), label="ner")
    assert [label["label"] for label in found.labels["types"]] == ["PER"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colums'"):
        dropchain.check(path, colums=["word"])
    (tmp_path / "bad.conll").write_text("Ada B-PER\nleft\n\n")
    errors = dropchain.check(tmp_path / "bad.conll").errors
    assert [error["kind"] for error in errors] == ["malformed"]


def test_inconsistent_and_suspicious_annotation_is_listed():
    sample = dropchain.sample_corpus()
    found = dropchain.check(sample, inconsistent=3, suspicious=2, folds=2, threads=1)
    assert len(found.inconsistent) <= 3 and len(found.suspicious) == 2
    assert 0 <= found.suspicious[0]["suspicion"] <= 1
    assert "Suspicious annotation" in str(found)
    assert found.to_dict()["suspicious"] == found.suspicious


def test_places_in_frames_and_lists_are_rows_and_sentences():
    frame = dropchain.sample_corpus().to_frame()
    dev = dropchain.sample_corpus("dev").to_frame()
    dev.loc[27, "label"] = "I-PER"
    found = dropchain.check(frame, dev=dev, inconsistent=1, suspicious=1, folds=2)
    assert "  row 27 of dev: IOB2: 'I-PER' after 'O'" in str(found)
    assert " of train" in found.inconsistent[0]["labels"][0]["places"][0]
    assert found.suspicious[0]["data"] == "train" and found.suspicious[0]["file"] is None
    [illegal] = [one for one in found.findings if one["kind"] == "illegal_transition"]
    assert illegal["examples"][0]["row"] == 27 and "row 27 of dev" in found._repr_html_()
    dev["label"] = [None if i == 27 else label for i, label in enumerate(dev["label"])]
    with pytest.warns(UserWarning, match="empty in 1 of"):
        partial = Corpus(dev)
    refused("^row 27: found the partial label", dropchain.evaluate, partial, partial)
    lists = Corpus([["a"], ["b c"]], [["O"], ["O"]])
    assert "sentence 1 of train: 'b c'" in str(dropchain.check(lists))
    assert "-:" not in str(found) + str(dropchain.check([Sentence(["b c"], ["O"])]))


# Reports


def test_a_report_has_a_section_for_whatever_is_given(result, dev, tmp_path):
    output = tmp_path / "report.html"
    labels = result.tagger.tag_batch(dev)
    systems = {"model": result, "labels": labels}
    report = dropchain.report(
        result, output=output, gold=dev, predicted=systems, train=dropchain.sample_corpus(),
        title="A <page>",
    )
    assert str(report) == f"wrote {output}" and output.read_text("utf-8") == report.html
    assert "A &lt;page&gt;" in report.html and "<script src" not in report.html
    for section in ("summary", "training", "scores", "significance", "errors"):
        assert f'id="{section}"' in report.html
    for heading in ("F1 of spans by their rarest word", "Calibration"):
        assert heading in report.html
    log = tmp_path / "run.log"
    log.write_text(result.log)
    assert 'id="training"' in dropchain.report(log).html
    dropchain.report(log, output=output)  # replaces an old report
    log.with_suffix(".txt").write_text("notes")
    with pytest.raises(ValueError, match="the file exists and is not a report"):
        dropchain.report(log, output=log.with_suffix(".txt"))


def test_reports_without_anything_to_show_are_errors(result, dev):
    refused("nothing to report", dropchain.report, error=TypeError)
    refused("belong together", dropchain.report, result, gold=dev, error=TypeError)
    with pytest.raises(ValueError, match="gold has 311 sentences, but predicted has 1"):
        dropchain.report(gold=dev, predicted=[["O"]])


# Explanations


def test_explanations_have_the_text_of_the_command(result):
    explanation = result.tagger.explain("She lives in London.")
    assert explanation.words == WORDS and explanation.labels[3] == "B-LOC"
    assert str(explanation).startswith("She lives in [LOC London] .\n\n[LOC London]  p 0.")
    assert list(explanation) == list(result.tagger.explain(WORDS))
    assert json.loads(json.dumps(explanation.to_dict()))["labels"] == explanation.labels
    every = str(result.tagger.explain(WORDS, tokens="all"))
    assert all(f" {word}]  p " in every for word in WORDS)
    some = str(result.tagger.explain(WORDS, tokens=[0, "London"], against="PER"))
    assert "[O She]  p " in some and "as likely as B-PER" in some and " lives]" not in some
    refused("against XYZ: the model has no such label", result.tagger.explain, WORDS, against="XYZ")
    refused("found a text of 2 sentences", result.tagger.explain, "She left. He stayed.")
    again = pickle.loads(pickle.dumps(explanation))
    assert (again, str(again)) == (explanation, str(explanation))


# Copies


def lengths(corpus):
    return [len(sentence) for sentence in corpus]


def test_corpora_and_sentences_are_pickled_and_copied(dev):
    sentence = Sentence(["Ada", "left"], ["B-PER", None], weight=0.5, pos=["N", "V"])
    features = Sentence.from_features([{"a": 0.1}, ["b"]], [["X", "Y"], "X"])
    conll = "-DOCSTART- O\n\n# c\nAda B-PER\n\n-DOCSTART- O\n\nleft O\n"
    documents = Corpus.parse(conll, format="conll", comments=True)
    text = Corpus.parse("Ada left. 😀 Bob\nRome", format="text", unlabeled=True)
    for corpus in (dev, Corpus([sentence]), Corpus([features]), documents, text, Corpus([])):
        for again in (pickle.loads(pickle.dumps(corpus)), copy.copy(corpus), copy.deepcopy(corpus)):
            assert list(again) == list(corpus) and again.labels == corpus.labels
            found, expected = again.documents(), corpus.documents()
            assert [list(part) for part in found] == [list(part) for part in expected]
    for one in (sentence, features):
        again = pickle.loads(pickle.dumps(one))
        assert again == one == copy.deepcopy(one) and again.weight == one.weight
        assert again.features == one.features
    refused("a pickled corpus", Corpus._restore, b"{}")


def test_corpora_go_to_other_processes(dev):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(lengths, (dev,)) == lengths(dev)


def test_other_results_are_copied(result, dev):
    evaluation = dropchain.evaluate(dev, result.tagger)
    for again in (pickle.loads(pickle.dumps(evaluation)), copy.deepcopy(evaluation)):
        assert str(again) == str(evaluation) and again.types == evaluation.types
    template = result.tagger.template
    for again in (pickle.loads(pickle.dumps(template)), copy.copy(template)):
        assert again.text == template.text
    assert copy.deepcopy(template).text == template.text
