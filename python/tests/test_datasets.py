"""Data sets in the form of HuggingFace's `datasets`."""

import pytest

import dropchain
from dropchain import Corpus, train

NAMES = ["O", "B-PER", "B-LOC"]
TOKENS = [["Ada", "left"], ["in", "London"]]
TAGS = [[1, 0], [0, 2]]
LABELS = [["B-PER", "O"], ["O", "B-LOC"]]


class ClassLabel:
    def __init__(self, names):
        self.names = names


class Sequence:
    def __init__(self, feature):
        self.feature = feature


class Value:
    pass


class Dataset:
    """What is used of `datasets.Dataset`."""

    def __init__(self, columns, features):
        self._columns = columns
        self.features = features

    @property
    def column_names(self):
        return list(self._columns)

    def __getitem__(self, name):
        return self._columns[name]


@pytest.fixture
def dataset():
    columns = {
        "id": ["0", "1"], "tokens": TOKENS, "ner_tags": TAGS, "chunks": [[0, 0], [0, 0]],
    }
    features = {
        "id": Value(), "tokens": Sequence(Value()), "ner_tags": Sequence(ClassLabel(NAMES)),
        "chunks": Sequence(Value()),
    }
    return Dataset(columns, features)


def test_tags_have_the_names_of_the_features(dataset):
    assert Corpus(dataset).labels == LABELS
    assert Corpus(dataset, label="ner_tags").words == TOKENS
    assert Corpus(dataset, unlabeled=True).labels == [None, None]


def test_columns_and_rows_are_data_sets_too():
    columns = {"tokens": TOKENS, "ner_tags": TAGS}
    rows = [{"tokens": t, "ner_tags": y} for t, y in zip(TOKENS, TAGS)]
    for data in (columns, rows, tuple(rows)):
        assert Corpus(data, names=NAMES).labels == LABELS
    named = {"words": TOKENS, "y": LABELS, "pos": LABELS}
    corpus = Corpus(named, label="y", columns=["pos"])
    assert corpus.labels == LABELS and corpus[0].column("pos") == LABELS[0]


def test_training_takes_data_sets(dataset):
    tagger = train(dataset, dataset, template="minimal", dropout=0).tagger
    assert tagger.tag_batch(TOKENS) == LABELS
    assert dropchain.evaluate(dataset, tagger).f1 == 1
    assert train(dataset, template="minimal", label="ner_tags", dropout=0).tagger.labels
    assert train(dataset, template="minimal", unlabeled=dataset, max_iterations=2).tagger.labels


def test_ignored_tags_are_unknown_labels():
    data = {"tokens": TOKENS, "ner_tags": [[1, -100], [None, 2]]}
    assert Corpus(data, names=NAMES).labels == [["B-PER", None], [None, "B-LOC"]]


@pytest.mark.parametrize(
    ("data", "arguments", "message"),
    [
        ({"tokens": TOKENS, "ner_tags": TAGS}, {}, "row 0, token 0: found the number 1 as"),
        ({"tokens": TOKENS, "ner_tags": [[9, 0], [0, 0]]}, {"names": NAMES},
         r"row 0, token 0: found the tag 9; there are 3 names"),
        ({"tokens": TOKENS, "ner_tags": [["O", 0.5], [0, 0]]}, {"names": NAMES},
         r"row 0, token 1: found 0.5 \(float\) as a tag"),
        ({"tokens": TOKENS, "ner_tags": [["O", 0], [{}, 0]]}, {"names": NAMES},
         r"row 1, token 0: found \{\} \(dict\) as a tag"),
        ({"tokens": TOKENS, "ner_tags": [[1], [0, 0]]}, {"names": NAMES},
         "row 0: found 1 values in 'ner_tags' for 2 tokens"),
        ({"tokens": [["a", None]], "ner_tags": [[0, 0]]}, {"names": NAMES},
         "row 0, token 1: found None"),
        ({"tokens": TOKENS}, {}, "column of the tags is not clear"),
        ({"tokens": TOKENS, "y": TAGS}, {"label": "z"}, "no column 'z'; the columns are tokens, y"),
        ({"a": TOKENS, "ner_tags": TAGS}, {}, "column of the words is not clear"),
        ([{"tokens": TOKENS[0], "ner_tags": [0, 0]}, {"tokens": TOKENS[1]}], {"names": NAMES},
         "row 1 has no 'ner_tags'"),
    ],
)
def test_unfit_data_sets_are_errors(data, arguments, message):
    with pytest.raises(ValueError, match=message):
        Corpus(data, **arguments)


def test_the_real_package_has_this_form():
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({
        "tokens": datasets.Sequence(datasets.Value("string")),
        "ner_tags": datasets.Sequence(datasets.ClassLabel(names=NAMES)),
    })
    data = datasets.Dataset.from_dict({"tokens": TOKENS, "ner_tags": TAGS}, features=features)
    assert Corpus(data).labels == LABELS
    assert Corpus(data.with_format("numpy")).labels == LABELS
