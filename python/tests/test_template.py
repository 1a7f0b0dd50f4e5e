"""Templates."""

import pickle

import pytest
from refusals import refused

from dropchain import Sentence, Template


def test_templates_come_along_by_name():
    assert {"ner", "pos", "chunk", "minimal"} <= set(Template.shipped_names())
    for name in Template.shipped_names():
        assert Template.shipped(name).text
    assert repr(Template.shipped("ner")) == "<Template 'ner'>"
    refused("there is no template 'x'; expected one of", Template.shipped, "x")


def test_features_are_those_of_the_lines():
    template = Template("word\nprefix(1)\npos[-1]\n")
    sentence = Sentence(["in", "Rome"], pos=["IN", "NNP"])
    expected = {"word[0]=Rome": 1, "prefix(1)[0]=R": 1, "pos[-1]=IN": 1}
    assert template.features(sentence)[1] == expected
    tuples = [("in", "IN"), ("Rome", "NNP")]
    assert template.features(tuples, columns=["word", "pos"])[1] == expected
    assert template.columns == ["word", "pos"]
    refused("pos", template.features, ["in", "Rome"])
    refused("the sentence has features", template.features, [{"a": 1}])


def test_malformed_templates_are_errors_with_their_place(tmp_path):
    refused("template:2:", Template, "word\nword[\n")
    refused("expected its contents in files", Template, 'lexicon("names.txt")\n')
    path = tmp_path / "a.tpl"
    path.write_text('lexicon("names.txt")\n', encoding="utf-8")
    refused("names.txt", Template.read, path, error=(ValueError, OSError))
    with pytest.raises(FileNotFoundError):
        Template.read(tmp_path / "missing.tpl")
    (tmp_path / "names.txt").write_text("Ada\n", encoding="utf-8")
    assert Template.read(path).file_names == ["names.txt"]
    refused("not allowed", Template.read, path, files=False)


def test_templates_can_be_pickled(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("London\nNew York\n")
    file = tmp_path / "t.tpl"
    file.write_text('word\nlexicon("names.txt")\n')
    template = Template.read(file)
    names.unlink()
    copy = pickle.loads(pickle.dumps(template))
    assert repr(copy) == repr(template) and copy.text == template.text
    assert copy.paths == template.paths
    words = Sentence(["in", "New", "York"])
    assert copy.features(words) == template.features(words)
