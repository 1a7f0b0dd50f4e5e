"""Labels that join columns: ``label="upos+feats"``."""

import pytest

import dropchain
from dropchain import Corpus

COLUMNS = ["word", "upos", "feats"]
TEXT = "dogs NOUN Plur\nbark VERB _\n\na DET _\ndog NOUN Sing\n\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_models_know_the_columns_and_scores_have_them(file, tmp_path):
    corpus = Corpus.read(file, columns=COLUMNS, label="upos+feats")
    template = dropchain.Template("word\nword[-1]\n")
    tagger = dropchain.train(corpus, template=template, dropout=0, l2=0.001).tagger
    assert tagger.info["label"] == "upos+feats"
    assert tagger.info["joined_columns"] == ["upos", "feats"]
    assert tagger.tag(["dog"]) == ["NOUN+Sing"]
    tagger.save(tmp_path / "m.model")
    tagger = dropchain.Tagger.open(tmp_path / "m.model")
    predicted = [tagger.tag(sentence.words) for sentence in corpus]
    evaluation = dropchain.evaluate(corpus, [["NOUN+Sing", "VERB+_"], predicted[1]])
    assert evaluation.accuracy == 0.75
    assert evaluation.columns == {"upos": 1.0, "feats": 0.75}
    assert evaluation.to_dict()["columns"] == evaluation.columns
    assert not evaluation.has_spans
