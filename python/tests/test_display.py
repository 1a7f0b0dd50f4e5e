"""How objects look in notebooks, as text, and as frames."""

import copy
import json
import pickle
import re
import sys
import types
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import dropchain
from dropchain import Corpus, Sentence, Template, train, tune

TEXT = "Ada lives in London & <b>Paris</b>."
WORDS = ["<i>", "Ada", "left", "London"]


@pytest.fixture(scope="module")
def shown(result, sample, dev):
    """Everything that notebooks show, by name."""
    tagger = result.tagger
    minimal = train(sample[:100], dev, template="minimal", max_iterations=10).tagger
    search = tune(sample[:60], dev[:60], template="minimal", dropout=[0, 0.3], l2=[0.1, 1])
    return {
        "text": tagger.tag_text(TEXT, probability=True),
        "plain text": tagger.tag_text(TEXT),
        "sentence": tagger.tag_text(TEXT)[0],
        "tagging": tagger.analyze(WORDS, marginals=True, nbest=2, probability=True),
        "explanation": tagger.explain(WORDS),
        "evaluation": tagger.evaluate(dev),
        "comparison": dropchain.compare(dev, minimal, tagger, samples=50),
        "training": result,
        "check": dropchain.check(Corpus([["<b> c", "a"]] * 2, [["O", "I-X"]] * 2)),
        "search": search,
        "corpus": Corpus([WORDS], [["O", "B-<x>", "O", "B-LOC"]]),
        "features": Corpus([[{"<a>": 1.0}]], [["<b>"]]),
        "labeled": Sentence(WORDS, [None, ["B-PER", "B-LOC"], "O", "B-LOC"]),
        "tagger": tagger,
        "template": Template("# <b>\nword\n"),
    }


class Page(HTMLParser):
    """Checks that tags are closed, and collects them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_well_formed_and_escaped_and_needs_nothing(shown):
    for name, thing in shown.items():
        text = thing._repr_html_()
        page = Page(text)
        assert page.open == [], name
        found = {tag for tag, _ in page.tags}
        assert not found & {"script", "link", "img", "iframe", "i", "x", "a"}, name
        attributes = [key for _, attributes in page.tags for key in attributes]
        assert not any(key.startswith("on") or key in ("src", "href") for key in attributes), name
        assert "url(" not in text and "@import" not in text, name
        heads = [attributes for tag, attributes in page.tags if tag == "th"]
        assert all(attributes.get("scope") in ("row", "col") for attributes in heads), name


def test_marks_have_names_and_low_probabilities(shown):
    text = shown["text"]._repr_html_()
    spans = shown["text"].spans
    low = [span for span in spans if span.probability < 0.9]
    assert text.count("<mark") == len(spans) > 0
    assert text.count("%</b>") == text.count('<mark class="unsure"') == len(low)
    assert "&lt;<" in text or "&lt;b" in text
    assert "%</b>" not in shown["plain text"]._repr_html_()
    labeled = shown["labeled"]._repr_html_()
    assert "B-LOC or B-PER" in labeled and "<b>LOC</b>" in labeled


def test_probabilities_of_text_are_those_of_its_sentences(tagger):
    [sentence] = tagger.tag_text("She lives in London.", probability=True)
    words = sentence.words
    marginals = tagger.analyze(words, marginals=True)
    expected = marginals.label_probabilities
    assert [token.probability for token in sentence.tokens] == pytest.approx(expected)
    [span] = sentence.spans
    given = tagger.analyze(words, spans=[(3, 4, "LOC")], probability=True)
    both = tagger.probability(words, given.labels)
    assert span.probability == pytest.approx(both / given.probability)
    assert "probability=0." in repr(span)
    [plain] = tagger.tag_text("She lives in London.")
    assert plain.spans[0].probability is None and plain.labels == sentence.labels


@pytest.mark.parametrize("name", ["training", "search", "evaluation"])
def test_plots_are_pictures_that_say_what_they_are(shown, name, tmp_path):
    plot = shown[name].plot()
    root = ElementTree.fromstring(plot)
    assert plot._repr_svg_() == plot and repr(plot).startswith("<Svg of ")
    assert root.get("role") == "img" and root[0].tag.endswith("title") and root[0].text
    # Readable where style sheets are removed.
    bare = ElementTree.fromstring(re.sub(r"<style>.*?</style>", "", plot, flags=re.DOTALL))
    texts = [e for e in bare.iter() if e.tag.endswith("text")]
    assert texts and all(e.get("fill") and e.get("text-anchor") for e in texts)
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text("utf-8") == plot


def test_plots_show_where_noise_begins(shown):
    result = shown["training"]
    assert result.warm_up > 0 and f"after iteration {result.warm_up}" in result.plot()
    assert result.plot().count('class="shade"') == 2


def test_a_learning_curve_says_what_the_last_step_gave(sample, dev):
    options = {"template": "minimal", "max_iterations": 15, "dropout": 0}
    curve = dropchain.learning_curve(sample[:200], dev, fractions=[0.5, 0.1], seeds=[2], **options)
    assert [(run.fraction, run.seed) for run in curve.runs] == [(0.1, 2), (0.5, 2)]
    small, large = (run.sentences for run in curve.runs)
    assert 10 < small < 30 and 80 < large < 120
    assert re.search(rf"from {small} to {large} sentences gave \+\d+\.\d\d points", str(curve))
    assert str(curve) in curve.plot() and Page(curve._repr_html_()).open == []
    with pytest.raises(TypeError, match="expected sentences, the same for all parts"):
        dropchain.learning_curve(sample[:20], dev=0.1)


def test_options_with_the_same_values_are_plotted_once(shown):
    result = shown["search"]
    twice = [
        replace(t, options={**t.options, "edge_dropout": t.options["dropout"]})
        for t in result.trials
    ]
    assert replace(result, trials=twice).plot().count("Score by") == 2 * 2


def test_alike_configurations_cannot_be_plotted(sample, dev):
    result = tune(sample[:30], dev[:30], template="minimal", dropout=0, l2=0.1)
    with pytest.raises(ValueError, match="all configurations are alike"):
        result.plot()
    assert "<svg" not in result._repr_html_()


def test_text_says_what_there_is(shown):
    text, explanation = shown["text"], shown["explanation"]
    assert repr(text) == f"<TaggedText of {len(text)} sentences, {len(text.spans)} spans>"
    assert "London/B-LOC" in str(text)
    assert repr(explanation) == "<Explanation of 4 tokens>"
    assert explanation.words == WORDS and "[LOC London]" in str(explanation).splitlines()[0]


RESULTS = ["text", "sentence", "tagging", "explanation", "evaluation", "comparison", "training"]


@pytest.mark.parametrize("name", [*RESULTS, "search"])
def test_results_are_dicts_and_frames(shown, name):
    assert json.loads(json.dumps(shown[name].to_dict()))
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    frame = shown[name].to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) > 0


def test_scores_are_dicts_with_attributes(shown):
    evaluation = shown["evaluation"]
    score = evaluation.types["LOC"]
    assert score.f1 == score["f1"] and isinstance(score.gold, int)
    assert pickle.loads(pickle.dumps(score)) == copy.deepcopy(score) == score.to_dict()
    with pytest.raises(AttributeError, match="a score has no 'f2'"):
        score.f2  # noqa: B018
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    table = pandas.DataFrame(evaluation.types)
    assert list(table.index[:3]) == ["precision", "recall", "f1"]
    assert table["LOC"]["f1"] == score.f1
    assert evaluation.to_frame().loc["LOC", "recall"] == score.recall


def test_frames_need_pandas(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas, which is not installed"):
        shown["training"].to_frame()


def test_progress_in_a_notebook_is_one_display(sample, monkeypatch, capfd):
    displays, updates = [], []

    class Handle:
        def update(self, shown):
            updates.append((repr(shown), shown._repr_html_()))

    def display(shown, display_id):
        displays.append(display_id)
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    options = {"template": "minimal", "dropout": [0, 0.3], "max_iterations": 10}
    tune(sample[:60], sample[60:90], progress=True, **options)
    assert displays == [True] and updates
    assert any("best F1 " in line for line, _ in updates)
    line, page = updates[-1]
    assert line in page and "<progress" not in page
    assert capfd.readouterr() == ("", "")
