"""Tagging."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from refusals import refused

import dropchain
from dropchain import Corpus, ModelError, Sentence, Span, Tagger, Template, train

WORDS = ["She", "lives", "in", "London", "."]
LABELS = ["O", "O", "O", "B-LOC", "O"]
X = [[{"word": "Ada", "upper": True}, {"word": "left"}], [{"word": "rain"}]]
Y = [["PER", "O"], ["O"]]


@pytest.fixture(scope="module")
def of_features():
    return train((X, Y), dropout=0).tagger


def test_words_in_any_iterable_are_tagged(tagger):
    for words in (WORDS, tuple(WORDS), iter(WORDS), np.array(WORDS), Sentence(WORDS)):
        assert tagger.tag(words) == LABELS
    assert tagger.tag([]) == [] == tagger.tag_batch([])


def test_batches_are_tagged_in_parallel_with_the_same_labels(tagger, sample):
    one = [tagger.tag(sentence.words) for sentence in sample]
    for threads in (None, 1, 2, 5):
        assert tagger.tag_batch(sample.words, threads=threads) == one
    assert tagger.tag_batch(sample) == one == tagger.tag_batch(iter(sample))
    many = [WORDS] * 5000
    assert tagger.tag_batch(many) == [LABELS] * 5000


def test_document_boundaries_have_no_labels(tagger):
    corpus = Corpus.parse("-DOCSTART- O\n\n" + " O\n".join(WORDS) + " O\n", format="conll")
    assert tagger.tag_batch(corpus) == [[], LABELS]


def test_features_are_tagged_as_they_were_trained(of_features):
    assert of_features.tag_batch(X) == Y
    assert of_features.tag(Sentence.from_features(X[0])) == Y[0]
    assert of_features.tag([token] for token in ["upper", "x"]) == Y[0]
    refused("text does not have", of_features.tag_text, "Ada left")
    refused("found words; expected features", of_features.tag, Sentence(["Ada"]))


def test_columns_are_those_of_the_training_data():
    corpus = Corpus([[("Ada", "N"), ("left", "V")]], [["P", "O"]], columns=["word", "pos"])
    tagger = train(corpus, template=Template("pos\n"), dropout=0).tagger
    assert tagger.columns == ["word", "pos"]
    assert tagger.tag([("x", "N"), ["y", "V"]]) == ["P", "O"]
    assert tagger.tag(Sentence(["x"], pos=["N"])) == ["P"]
    refused(r"sentence\[0\]: found 1 values; expected 2", tagger.tag, [("x",)])
    refused("pos", tagger.tag, ["x"])
    refused(r"sentence\[0\]: .*expected a tuple .*; tag_batch takes", tagger.tag, [["x", "N"]])


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("Ada left", r"sentence: found 'Ada left' \(str\) as a sentence"),
        (3, r"sentence: found 3 \(int\) as a sentence; expected a list of tokens"),
        (None, "sentence: found None"),
        ({"a": 1}, r"sentence: found \{'a': 1\} \(dict\) as a sentence"),
        (["Ada", 3], r"sentence\[1\]: found 3 \(int\) as a token; expected a word"),
        ([["Ada"], 3], r"sentence"),
        (["a\ud800"], "surrogates not allowed"),
    ],
)
def test_malformed_sentences_are_errors(tagger, sentence, message):
    refused(message, tagger.tag, sentence)


def test_errors_in_batches_name_the_sentence(tagger, of_features):
    with pytest.raises(ValueError, match=r"sentences\[1\]\[1\]: found 3 \(int\) as a token"):
        tagger.tag_batch([WORDS, ["Ada", 3]])
    with pytest.raises(ValueError, match=r"sentences\[1\]\[0\]: found None \(NoneType\) as "):
        of_features.tag_batch([X[0], [{"a": None}]])
    with pytest.raises(ValueError, match=r"sentences\[1\]\[0\]: feature 'a' has the value inf"):
        of_features.tag_batch([X[0], [{"a": float("inf")}]])
    refused(r"sentences\[0\]: found 'London' \(str\) as a sentence", tagger.tag_batch, ["London"])
    refused(r"found 'London' \(str\) as sentences", tagger.tag_batch, "London")
    refused("threads 0", tagger.tag_batch, [], threads=0)

    def broken():
        yield WORDS
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tagger.tag_batch(broken())


def test_marginals_are_arrays_that_sum_to_one(tagger):
    tagging = tagger.analyze(WORDS, marginals=True)
    assert tagging.marginals.shape == (5, len(tagger.labels))
    assert tagging.marginals.dtype == np.float64 and tagging.marginals.flags.c_contiguous
    assert tagging.marginals.flags.writeable and not tagging.marginals.flags.owndata
    assert np.allclose(tagging.marginals.sum(axis=1), 1)
    assert [tagger.labels[i] for i in tagging.marginals.argmax(axis=1)] == LABELS
    empty = tagger.analyze([], marginals=True)
    assert empty.marginals.shape == (0, len(tagger.labels))
    alone = tagger.analyze(WORDS)
    assert alone.marginals is None and alone.probability is None and alone.nbest == []
    marginals = tagging.marginals
    del tagging
    assert np.allclose(marginals.sum(), 5)


def test_the_best_sequences_are_in_order(tagger):
    tagging = tagger.analyze(WORDS, nbest=4, probability=True)
    assert [path.labels for path in tagging.nbest][0] == tagging.labels == LABELS
    probabilities = [path.probability for path in tagging.nbest]
    assert probabilities == sorted(probabilities, reverse=True) and len(probabilities) == 4
    assert tagging.probability == probabilities[0]
    assert tagger.probability(WORDS, LABELS) == pytest.approx(probabilities[0])
    assert repr(tagging.nbest[0]).startswith("Path(labels=['O', 'O', 'O', 'B-LOC', 'O'], score=")
    assert repr(tagging) == f"<Tagging {LABELS}>"


def test_known_labels_and_spans_are_kept(tagger):
    tagging = tagger.analyze(WORDS, known={3: "B-PER"}, probability=True, marginals=True)
    assert tagging.labels[3] == "B-PER"
    assert tagging.marginals[3, tagger.labels.index("B-PER")] == pytest.approx(1)
    tagging = tagger.analyze(WORDS, spans=[(0, 2, "ORG")])
    assert tagging.spans == [Span(0, 2, "ORG"), Span(3, 4, "LOC")]
    again = tagger.analyze(WORDS, spans=tagging.spans)
    assert again.labels == tagging.labels
    assert tagger.analyze(WORDS, known={0: ["B-PER", "B-ORG"]}).labels[0] in ("B-PER", "B-ORG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"known": {"a": "O"}}, r"found 'a' \(str\) as a token of `known`"),
        ({"known": {9: "O"}}, "a known label for token 9.* of a sentence of 5 tokens"),
        ({"known": {0: 3}}, r"known\[0\]: found 3 \(int\) as a label"),
        ({"known": {0: "X"}}, "'X'"),
        ({"spans": [(0, 0, "PER")]}, "is empty"),
        ({"spans": [(0, 9, "PER")]}, "ends after the sentence, which has 5 tokens"),
        ({"spans": [(0, 2, "PER"), (1, 3, "LOC")]}, "overlaps"),
        ({"spans": ["PER"]}, r"found 'PER' \(str\) as spans\[0\]"),
        ({"known": {0: "O", 1: "I-PER"}}, "no legal label sequence"),
        ({"nbest": 0}, "nbest 0; expected 1 or more"),
    ],
)
def test_unfit_conditions_are_errors(tagger, arguments, message):
    refused(message, tagger.analyze, WORDS, **arguments)


def test_illegal_sequences_are_predicted_without_constraint():
    corpus = Corpus([["a", "b", "c"], ["c", "a"]], [["B-X", "I-X", "O"], ["O", "B-X"]])
    model = train(corpus, template=Template("word\n"), order=0, boundary=False, dropout=0).tagger
    illegal, legal = ["O", "I-X"], model.tag(["c", "b"])
    assert legal != illegal and legal == model.analyze(["c", "b"]).labels
    assert model.tag(["c", "b"], constrain=False) == illegal
    assert model.analyze(["c", "b"], constrain=False).labels == illegal
    assert model.tag_batch([["c", "b"]], constrain=False) == [illegal]


def test_labels_are_in_the_scheme_of_the_corpus(sample):
    model = train(sample, template="ner", scheme="bioes", max_iterations=30).tagger
    assert model.info["scheme"] == "bioes" and model.info["corpus_scheme"] == "iob2"
    assert "S-LOC" in model.labels
    assert model.tag(WORDS) == LABELS == model.tag_batch([WORDS])[0]
    assert model.analyze(WORDS, nbest=2).nbest[0].labels == LABELS
    assert model.analyze(WORDS).spans == [Span(3, 4, "LOC")]


def test_text_has_sentences_tokens_and_spans_with_offsets(tagger):
    text = "😀 Ada lives in London.\nShe’s in Paris."
    sentences = tagger.tag_text(text)
    assert [text[s.start : s.end] for s in sentences][-1] == "She’s in Paris."
    for sentence in sentences:
        assert [text[t.start : t.end] for t in sentence.tokens] == sentence.words
        assert sentence.labels == [token.label for token in sentence.tokens]
        for span in sentence.spans:
            assert text[span.start : span.end] == span.text
            words = sentence.words[span.token_start : span.token_end]
            assert words == span.text.split()
    [place] = [span for s in sentences[:-1] for span in s.spans if span.text == "London"]
    assert (place.start, place.end, place.type) == (15, 21, "LOC")
    assert repr(place) == (
        "TextSpan(start=15, end=21, type='LOC', text='London', token_start=4, token_end=5)"
    )
    for offsets, encoding, size in [("bytes", "utf-8", 1), ("utf16", "utf-16-le", 2)]:
        units = text.encode(encoding)
        for sentence in tagger.tag_text(text, offsets=offsets):
            for part in [*sentence.tokens, *sentence.spans]:
                assert units[part.start * size : part.end * size].decode(encoding) == part.text
    refused("expected chars, bytes or utf16", tagger.tag_text, text, offsets="utf8")
    assert tagger.tag_text("") == [] and len(tagger.tag_text("a b")[0]) == 2


def test_text_of_unknown_words_is_a_warning(tagger):
    with pytest.warns(UserWarning, match="0 of 6 words are known to the model; the training data"):
        tagger.tag_text("zq qz zzq qqz zqz qzq")


def test_displacy_gets_its_form(tagger):
    text = "She lives in London."
    expected = {"text": text, "ents": [{"start": 13, "end": 19, "label": "LOC"}], "title": None}
    assert tagger.displacy(text) == expected
    assert tagger.displacy("", title="a") == {"text": "", "ents": [], "title": "a"}


def test_a_tagger_is_shared_by_threads(tagger, sample):
    words = sample.words
    expected = tagger.tag_batch(words)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.tag, words)) == expected
        batches = [pool.submit(tagger.tag_batch, words, threads=2) for _ in range(4)]
        assert all(batch.result() == expected for batch in batches)


def test_a_tagger_is_pickled_with_its_model(tagger):
    for other in (pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert other.to_bytes() == tagger.to_bytes()
        assert other.tag(WORDS) == LABELS


def test_models_are_saved_and_opened(tmp_path, tagger):
    path = tmp_path / "a.model"
    tagger.save(path)
    tagger.save(str(path))
    assert Tagger.open(path).to_bytes() == Tagger.open(str(path)).to_bytes() == path.read_bytes()
    assert Tagger.from_bytes(path.read_bytes()).tag(WORDS) == LABELS
    other = tmp_path / "notes.txt"
    other.write_text("mine", encoding="utf-8")
    refused("not a model", tagger.save, other)
    assert other.read_text("utf-8") == "mine"
    tagger.save(other, force=True)
    assert Tagger.open(other).labels == tagger.labels
    with pytest.raises(OSError):
        tagger.save(tmp_path / "no" / "a.model")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.model", "notes.txt"]


def test_missing_and_damaged_models_are_errors(tmp_path, tagger):
    with pytest.raises(FileNotFoundError):
        Tagger.open(tmp_path / "missing.model")
    refused("is a directory", Tagger.open, tmp_path, error=OSError)
    refused(r"expected Tagger\.open\(path\)", Tagger, "a.model", error=TypeError)
    refused("not a dropchain model", Tagger.from_bytes, b"", error=ModelError)
    with pytest.raises(ModelError):
        Tagger.from_bytes(b"x" * 1000)
    with pytest.raises(ModelError):
        Tagger.from_bytes(tagger.to_bytes()[:1000])
    with pytest.raises(TypeError):
        Tagger.from_bytes("text")
    assert issubclass(ModelError, ValueError)


def test_weights_and_facts_are_dicts(tagger, of_features, sample):
    info = tagger.info
    assert info["sentences"] == len(sample) and info["options"]["dropout"] == 0.3
    assert info["labels"] == tagger.labels and info["label"] == "ner"
    assert info["training"]["iterations"] > 0 and "result" not in info["options"]
    weights = tagger.weights()
    assert len({name for name, _ in weights}) == info["attributes"]
    transitions = tagger.transitions()
    assert set(transitions) <= {(a, b) for a in tagger.labels for b in tagger.labels}
    assert set(tagger.start_weights()) == set(tagger.end_weights()) == set(tagger.labels)
    assert of_features.weights()["upper", "PER"] > 0
    edges = train(sample[:50], template=Template("edge: word\n"), max_iterations=5).tagger
    assert edges.edge_weights() and all(len(key) == 3 for key in edges.edge_weights())
    assert repr(tagger) == f"<Tagger with 9 labels and {info['attributes']} attributes>"
    assert tagger.template.text == Template.shipped("ner").text


@pytest.mark.parametrize("known", [None, {1: "I-PER"}])
def test_explanations_sum_to_margins(tagger, known):
    explained = tagger.explain(WORDS, top=10_000, known=known)
    assert [token["label"] for token in explained] == tagger.analyze(WORDS, known=known).labels
    few = tagger.explain(WORDS, top=2, known=known)
    for token, other in zip(explained, few, strict=True):
        if "margin" not in token:  # known, or the only label before what is known
            assert known and "runner_up" not in token and "parts" not in token
            continue
        total = sum(part["contribution"] for part in token["parts"])
        assert total == pytest.approx(token["margin"], abs=1e-9) and token["others"]["parts"] == 0
        assert token["runner_up"]["label"] != token["label"]
        assert other["parts"] == token["parts"][:2]
        total = sum(part["contribution"] for part in other["parts"])
        total += other["others"]["contribution"]
        assert total == pytest.approx(token["margin"], abs=1e-9)


def test_features_are_explained_by_name(of_features):
    explained = of_features.explain([{"upper": 1.0, "nothing": 2.0}, {"upper": 0.5}])
    names = {part.get("attribute") for token in explained for part in token["parts"]}
    assert "upper" in names and "nothing" not in names


def test_spans_are_values():
    assert Span(0, 2, "PER") == Span(0, 2, "PER") != Span(0, 2, "LOC")
    assert len({Span(0, 2, "PER"), Span(0, 2, "PER")}) == 1
    start, end, kind = Span(0, 2, "PER")
    assert (start, end, kind) == (0, 2, "PER")
    assert pickle.loads(pickle.dumps(Span(0, 2, "PER"))) == Span(0, 2, "PER")
    assert dropchain.spans(["B-PER", "I-PER", "O"]) == [Span(0, 2, "PER")]
    assert json.dumps(Span(0, 2, "PER", "Ada L.", 0.5).to_dict()) == (
        '{"token_start": 0, "token_end": 2, "type": "PER", "text": "Ada L.", "probability": 0.5}'
    )
    assert dataclasses.asdict(Span(0, 2, "PER"))["type"] == "PER"  # as FastAPI does
    refused("item 1 of labels", dropchain.spans, ["O", None])


def test_spans_below_a_threshold_are_left_out(tagger):
    [span] = tagger.analyze(WORDS).spans
    assert span.text == "London" and 0.5 < span.probability < 1
    [exact] = tagger.tag_text(" ".join(WORDS), probability=True).spans
    assert span.probability == pytest.approx(exact.probability)
    above, below = span.probability + 1e-6, span.probability - 1e-6
    for given in (below, {"LOC": below}, {"PER": 1.0}, f"1,LOC={below}"):
        assert tagger.tag(WORDS, threshold=given) == LABELS
    for given in (above, {"LOC": above}, f"PER=0,LOC={above}"):
        outside = ["O"] * len(WORDS)
        assert tagger.tag(WORDS, threshold=given) == outside
        assert tagger.tag_batch([WORDS] * 2, threshold=given) == [outside] * 2
        assert tagger.tag_document([WORDS], threshold=given) == [outside]
        assert tagger.analyze(WORDS, threshold=given).spans == []
        assert tagger.tag_text(" ".join(WORDS), threshold=given).spans == []
    corpus = Corpus([WORDS], [LABELS])
    assert tagger.evaluate(corpus).recall == 1 > tagger.evaluate(corpus, threshold=above).recall
    faults = ((1.5, "1.5; expected a"), ({"X": 0.5}, "no type 'X'"), ([], r"found \[\]"))
    for wrong, message in faults:
        refused(message, tagger.tag, WORDS, threshold=wrong)


def test_any_model_is_loaded(tagger, tmp_path):
    tagger.save(tmp_path / "ner.model")
    assert dropchain.load(tmp_path / "ner.model").tag(WORDS) == LABELS
    (tmp_path / "texts.jsonl").write_text(
        '{"text": "great fun", "label": "pos"}\n{"text": "a dull film", "label": "neg"}\n' * 3
    )
    program = [sys.executable, "-m", "dropchain", "classify", "train", "texts.jsonl"]
    program += ["--model", "classify.model"]
    subprocess.run(program, cwd=tmp_path, check=True, capture_output=True)
    model = dropchain.load(tmp_path / "classify.model")
    assert repr(model) == "<DocumentModel of 2 classes>" and sorted(model.classes) == ["neg", "pos"]
    assert model.predict(["great fun", "a dull film"]) == ["pos", "neg"]
    assert model.predict_proba(["great fun", "dull"]).sum(axis=1) == pytest.approx([1, 1])
    refused(r"documents\[1\]: found 3 ", model.predict, ["a", 3])
    with pytest.raises(ModelError):
        dropchain.load(tmp_path / "texts.jsonl")
    assert copy.deepcopy(tagger) is tagger is copy.copy(tagger)
