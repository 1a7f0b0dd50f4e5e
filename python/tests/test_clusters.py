"""Word clusters."""

import pytest

import dropchain
from dropchain import Template, cluster, train

TEXT = "the cat sat .\nthe dog sat .\na cat ran .\na dog ran .\n" * 3


def test_words_of_files_and_sentences_have_the_same_clusters(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    words = [line.split() for line in TEXT.splitlines()]
    clusters = cluster(path, 3)
    assert clusters.to_dict() == cluster(words, 3).to_dict() == cluster([path], 3).to_dict()
    assert clusters["cat"] == clusters["dog"] != clusters["sat"]
    assert "cat" in clusters and "cow" not in clusters and len(clusters) == 7
    assert clusters.count == 3 and clusters.mutual_information > 0
    path, word, count = clusters.words[0]
    assert clusters[word] == path and count in (3, 6, 12)
    with pytest.raises(KeyError):
        clusters["cow"]
    rows = [{"tokens": sentence} for sentence in words]
    assert cluster(rows, 3).to_dict() == clusters.to_dict()
    assert repr(clusters) == "<Clusters of 7 words: 3>"


def test_templates_read_clusters(tmp_path, sample):
    output = tmp_path / "paths.txt"
    clusters = cluster(sample, 8, output=output)
    assert output.read_text("utf-8") == clusters.text
    text = 'cluster("paths.txt", 2)\n'
    file = tmp_path / "my.tpl"
    file.write_text(text, encoding="utf-8")
    for template in (Template.read(file), Template(text, files={"paths.txt": clusters.text})):
        [features] = template.features(["London"])
        assert any(clusters["London"][:2] in name for name in features)
        assert train(sample[:20], template=template, max_iterations=2).tagger.labels
    assert Template.read(file).file_names == ["paths.txt"]
    assert [p.name for p in Template.read(file).paths] == ["my.tpl", "paths.txt"]


def test_progress_is_shown(sample):
    totals = []

    class Bar:
        def __init__(self, total, desc, unit):
            totals.append((desc, total))
            self.n = 0

        def update(self, n):
            self.n += n

        def close(self):
            totals.append(self.n)

    words = len(cluster(sample, 4, progress=Bar))
    assert totals == [("words", words), words]


def test_unfit_texts_are_errors(tmp_path, sample):
    with pytest.raises(ValueError, match="clusters 1; expected 2 or more"):
        cluster(sample, 1)
    with pytest.raises(ValueError, match="found features; expected words"):
        cluster([[{"a": 1}, {"b": 1}]], 2)
    with pytest.raises(ValueError, match="different words"):
        cluster([["a"]], 2)
    with pytest.raises(FileNotFoundError):
        cluster(tmp_path / "missing.txt")
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    with pytest.raises(ValueError, match="this is the input file"):
        cluster(text, 3, output=text)
    other = tmp_path / "notes.txt"
    other.write_text("mine\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not a cluster file"):
        cluster(text, 3, output=other)
    clusters = cluster(text, 3)
    with pytest.raises(ValueError, match="not a cluster file"):
        clusters.save(other)
    clusters.save(other, force=True)
    clusters.save(other)
    assert other.read_text("utf-8") == clusters.text
    assert dropchain.Clusters is type(clusters)
