"""Clusters, vectors and gazetteers for templates, and text without case."""

import pytest

import dropchain

TEXT = "Ann left Rome. Bob left York. The bank of Rome closed. Eve met Ann in York.\n"
DATA = (
    [["Ann", "left", "Rome"], ["Bob", "met", "Ann"], ["The", "bank", "of", "York"]],
    [["B-PER", "O", "B-LOC"], ["B-PER", "O", "B-PER"], ["O", "O", "O", "B-LOC"]],
)


@pytest.fixture
def files(tmp_path):
    contents = {"raw.txt": TEXT, "v.txt": "Ann 1 0.5\nRome -1 0.5\n", "g.txt": "New York\nRome\n"}
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in contents}


def test_files_add_lines_to_the_template(files):
    result = dropchain.train(
        DATA,
        template="minimal",
        clusters=files["raw.txt"],
        vectors=[files["v.txt"]],
        gazetteers=files["g.txt"],
        cluster_count=4,
        max_iterations=3,
    )
    text = result.tagger.template.text
    for line in ('cluster("raw.txt", 4, 6, 10, 20)[-1]', 'first(50000)', 'lexicon("g.txt", lower)'):
        assert line in text
    again = dropchain.train(DATA, clusters=files["raw.txt"], template="minimal", cluster_count=3,
                            max_iterations=3)
    assert "3 clusters" in again.tagger.template.text


def test_a_search_adds_them_to_every_template(files):
    result = dropchain.tune(
        DATA, folds=2, template=["minimal", "ner"], dropout=0, l2=1, gazetteers=files["g.txt"]
    )
    assert 'lexicon("g.txt")' in result.tagger.template.text


def test_errors_name_what_is_expected(files, tmp_path):
    with pytest.raises(ValueError, match="expected template"):
        dropchain.train(([[{"a": 1}]], [["X"]]), gazetteers=files["g.txt"])
    with pytest.raises(FileNotFoundError):
        dropchain.train(DATA, template="minimal", clusters=tmp_path / "none.txt")
    with pytest.raises(ValueError, match="input"):
        dropchain.train(DATA, template="minimal", clusters=files["raw.txt"], model=files["raw.txt"])
    assert files["raw.txt"].read_text() == TEXT


def test_text_without_case_has_weights_of_its_own():
    result = dropchain.train(DATA, template="minimal", caseless=1, dropout=0, l2=0.01)
    tag = result.tagger.tag
    assert tag(["ann", "left", "rome"]) == tag(["ANN", "LEFT", "ROME"]) == ["B-PER", "O", "B-LOC"]
    assert tag(["Ann", "left", "Rome"]) == ["B-PER", "O", "B-LOC"]
