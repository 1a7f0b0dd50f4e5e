"""The component for spaCy."""

import pytest

spacy = pytest.importorskip("spacy", reason="skipped: spaCy is not installed")

from dropchain import Corpus, Template, sample_corpus, train  # noqa: E402

TEXT = "She lives in London. He left Nairobi."


@pytest.fixture(scope="module")
def path(tagger, tmp_path_factory):
    file = tmp_path_factory.mktemp("spacy") / "ner.model"
    tagger.save(file)
    return str(file)


def entities(doc):
    return [(entity.text, entity.label_) for entity in doc.ents]


def test_the_component_is_found_by_its_entry_point_and_sets_entities(path):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("dropchain", config={"model": path})
    doc = nlp(TEXT)
    assert entities(doc) == [("London", "LOC"), ("Nairobi", "LOC")]
    assert component.labels == ("LOC", "MISC", "ORG", "PER")
    assert entities(nlp("")) == []


def test_sentences_are_tagged_one_by_one(path, tagger):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("dropchain", config={"model": path, "sets": "tag"})
    doc = nlp(TEXT)
    expected = [label for s in doc.sents for label in tagger.tag([token.text for token in s])]
    assert [token.tag_ for token in doc] == expected


def test_the_tagger_gets_sentences_or_a_whole_document():
    seen = []

    class Recorder:
        columns = ["word"]

        def tag_batch(self, sentences, *, threads):
            seen.extend(list(sentence) for sentence in sentences)
            return [["O"] * len(sentence) for sentence in seen]

    nlp = spacy.blank("en")
    nlp.add_pipe("dropchain").tagger = Recorder()
    nlp("She left. He did.")
    assert seen == [["She", "left", ".", "He", "did", "."]]
    seen.clear()
    nlp.add_pipe("sentencizer", first=True)
    nlp("She left. He did.")
    assert seen == [["She", "left", "."], ["He", "did", "."]]


def test_documents_are_tagged_in_batches(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("dropchain", config={"model": path, "threads": 2})
    texts = [TEXT, "", "She left."] * 100
    docs = list(nlp.pipe(texts, batch_size=7))
    assert [entities(doc) for doc in docs] == [entities(nlp(text)) for text in texts]
    assert [doc.text for doc in docs] == texts


def test_entities_are_added_where_there_are_none(path):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "CITY", "pattern": "London"}])
    nlp.add_pipe("dropchain", config={"model": path, "overwrite": False})
    assert entities(nlp(TEXT)) == [("London", "CITY"), ("Nairobi", "LOC")]
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "CITY", "pattern": "London"}])
    nlp.add_pipe("dropchain", config={"model": path})
    assert entities(nlp(TEXT)) == [("London", "LOC"), ("Nairobi", "LOC")]


def test_spans_go_to_a_group(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("dropchain", config={"model": path, "sets": "spans", "spans_key": "names"})
    doc = nlp(TEXT)
    assert [span.text for span in doc.spans["names"]] == ["London", "Nairobi"]
    assert entities(doc) == []


def test_parts_of_speech_are_set_and_read(path):
    sample = sample_corpus(label="upos")
    tagger = train(sample, template="pos", max_iterations=20, dropout=0).tagger
    nlp = spacy.blank("en")
    component = nlp.add_pipe("dropchain", config={"sets": "pos"})
    component.tagger = tagger
    assert [token.pos_ for token in nlp("She left .")] == ["PRON", "VERB", "PUNCT"]
    # A second model reads the tags of the first.
    corpus = Corpus([[("x", "PRON"), ("y", "VERB")]], [["B-A", "O"]], columns=["word", "upos"])
    reader = nlp.add_pipe("dropchain", name="second")
    reader.tagger = train(corpus, template=Template("upos\n"), dropout=0).tagger
    assert entities(nlp("She left .")) == [("She", "A")]


def test_pipelines_are_saved_with_their_model(path, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("dropchain", config={"model": path})
    nlp.to_disk(tmp_path / "pipeline")
    nlp.to_disk(tmp_path / "pipeline")
    config = spacy.util.load_config(tmp_path / "pipeline" / "config.cfg")
    config["components"]["dropchain"]["model"] = None  # wherever it was
    config.to_disk(tmp_path / "pipeline" / "config.cfg")
    assert entities(spacy.load(tmp_path / "pipeline")(TEXT))[0] == ("London", "LOC")
    other = spacy.blank("en")
    other.add_pipe("dropchain")
    other.from_bytes(nlp.to_bytes())
    assert entities(other(TEXT)) == entities(nlp(TEXT))


def test_unfit_models_and_options_are_errors(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("dropchain")
    with pytest.raises(ValueError, match="the component 'dropchain' has no model"):
        nlp(TEXT)
    with pytest.raises(FileNotFoundError):
        nlp.add_pipe("dropchain", name="b", config={"model": str(tmp_path / "missing.model")})
    with pytest.raises(ValueError, match="sets 'x'; expected one of ents, spans, tag, pos"):
        nlp.add_pipe("dropchain", name="c", config={"sets": "x"})
    of_features = train(([[{"a": 1}]], [["X"]]), dropout=0).tagger
    with pytest.raises(ValueError, match="expected one with a template"):
        nlp.get_pipe("dropchain").tagger = of_features


def test_displacy_renders_the_output_of_a_tagger(tagger):
    html = spacy.displacy.render(tagger.displacy(TEXT), style="ent", manual=True)
    assert "London" in html and "LOC" in html
