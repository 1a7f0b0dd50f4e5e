"""Training on all kinds of data."""

import os
import signal
import threading
import warnings

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from dropchain import Corpus, Features, Interrupted, Sentence, Tagger, Template, train, tune

X = [[{"word": "Ada", "upper": True, "length": 3}, {"word": "left"}], [{"word": "rain"}]]
Y = [["PER", "O"], ["O"]]
SMALL = {"dropout": 0, "max_iterations": 20}


def test_a_result_says_how_training_went(sample, dev, result):
    assert result.end_reason in ("patience", "max_iterations")
    assert result.metric == "f1" and result.dev_score > 0.68
    assert [iteration.number for iteration in result.history] == list(range(result.iterations + 1))
    best = result.history[result.best_iteration]
    assert best.dev_score == result.dev_score
    assert result.data["sentences"] == len(sample) and result.data["dev_sentences"] == len(dev)
    assert result.options["dropout"] == 0.3 and result.converged
    assert repr(result).startswith(f"<TrainResult: {result.iterations} iterations, ")
    fields = result.to_dict()
    assert fields["history"][3]["objective"] == result.history[3].objective
    assert "tagger" not in fields


def test_the_labels_choose_the_template(sample):
    assert sample.default_template() == "ner"
    result = train(sample[:20], max_iterations=2)
    assert result.messages[0] == "the labels chose the template ner"
    assert result.tagger.template.text == Template.shipped("ner").text
    tags = Corpus([["rain", "falls"]], [["NN", "VBZ"]])
    assert tags.default_template() == "pos"
    assert tags.default_template(plain_labels="spans") == "ner"
    assert Corpus([[{"a": 1}]], [["X"]]).default_template() is None
    search = tune(sample[:40], sample[40:60], dropout=[0, 0.3], l2=0.1, max_iterations=2)
    assert {trial.template for trial in search.trials} == {"ner"}


def test_files_and_sentences_in_memory_train_the_same_model(tmp_path, sample):
    path = tmp_path / "train.conll"
    lines = ("".join(map("{}\t{}\n".format, s.words, s.labels)) for s in sample)
    path.write_text("\n".join(lines), encoding="utf-8")
    words = (sample.words, sample.labels)
    sentences = [Sentence(s.words, s.labels) for s in sample]
    weights = [
        train(data, template="minimal", threads=threads, **SMALL).tagger.weights()
        for data in (path, str(path), [path], words, sentences, Corpus(*words))
        for threads in (1, 2)
    ]
    assert len(weights[0]) > 1000
    assert all(other == weights[0] for other in weights)


def test_labels_that_look_like_mistakes_are_warnings():
    words = [["Ann", "left"], ["Rome", "fell"]] * 60 + [["x", "y"]]
    labels = [["B-PER", "O"], ["B-LOC", "O"]] * 60 + [['"', "O"]]
    match = r"the label '\\\"' belongs to no scheme, unlike the others \(IOB2\)"
    features = [[{"word": word} for word in sentence] for sentence in words]
    for data, template in [((words, labels), "minimal"), ((features, labels), None)]:
        with pytest.warns(UserWarning, match=match) as found:
            train(data, template=template, **SMALL)
        assert len(found) == 1 and found[0].filename == __file__
    with warnings.catch_warnings(), pytest.raises(UserWarning, match=match):
        warnings.simplefilter("error")
        train((words, labels), template="minimal", **SMALL)


def test_files_have_options(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("# weight = 2\nAda NNP B-PER|B-ORG\nleft VBD _\n\nrain NN O\n", "utf-8")
    result = train(
        path, template=Template("word\npos\n"), columns=["word", "pos", "ner"], label="ner",
        comments=True, partial_labels=True, **SMALL,
    )
    assert result.data["partial_tokens"] == 2
    assert result.tagger.columns == ["word", "pos"]
    assert result.tagger.tag([("rain", "NN")]) == ["O"]


def test_models_say_what_they_were_trained_on(tmp_path, sample):
    path = tmp_path / "train.conll"
    path.write_text("Ada B-PER\nleft O\n", encoding="utf-8")
    names = tmp_path / "names.txt"
    names.write_text("Ada\n", encoding="utf-8")
    options = {"template": "minimal", "gazetteers": names, "note": "by hand", **SMALL}
    tagger = train(path, columns="word,ner", **options).tagger
    info = tagger.info
    files = [(file["role"], file["name"], file["bytes"]) for file in info["files"]]
    assert files == [("train", str(path), 17), ("resource", str(names), 4)]
    recorded = info["config"]["options"]
    assert recorded["input"] == [str(path)] and recorded["columns"] == ["word", "ner"]
    assert (recorded["note"], recorded["max-iterations"]) == ("by hand", "20")
    pairs = [(sample[:n].words, sample[:n].labels) for n in (4, 4, 5)]
    frames = [train(pair, template="minimal", dev=0.5, **SMALL).tagger for pair in pairs]
    files = [frame.info["files"] for frame in frames]
    assert [(file["role"], file["name"]) for file in files[0]] == [
        ("train", "in memory"), ("dev", "in memory")
    ]
    assert files[0] == files[1] != files[2]
    assert frames[0].info["config"]["options"]["dev"] == ["50%"]


def test_features_are_dicts_or_lists_of_strings():
    tagger = train((X, Y), **SMALL).tagger
    assert tagger.template is None and tagger.columns is None
    names = {name for name, _ in tagger.weights()}
    assert names == {"word:Ada", "upper", "length", "word:left", "word:rain"}
    assert [tagger.tag(x) for x in X] == Y == tagger.tag_batch(X)
    lists = [[["w=a", "upper"], ("w=b",)], [{"w=c"}]]
    assert train((lists, Y), **SMALL).tagger.tag_batch(lists) == Y
    nested = [[{"a": {"b": {"c": 2}, "d": ["e", "f"]}}, {}]]
    weights = train((nested, [["N", "O"]]), **SMALL).tagger.weights()
    assert {name for name, _ in weights} == {"a:b:c", "a:d:e", "a:d:f"}


def test_features_as_objects_are_the_same_model():
    compact = train((X, Y), **SMALL).tagger
    corpus = train(Corpus(X, Y), **SMALL).tagger
    sentences = [Sentence.from_features(x, y) for x, y in zip(X, Y)]
    assert compact.weights() == corpus.weights() == train(sentences, **SMALL).tagger.weights()
    mixed = train((X, Y), Corpus(X, Y), **SMALL)
    assert mixed.dev_score == 1


def test_features_are_matrices():
    dense = [np.array([[1.0, 0, 3], [0, 1, 0]]), np.array([[0, 2.0, 0]])]
    names = ["upper", "lower", "length"]
    one = np.concatenate(dense)
    dicts = [
        [{name: value for name, value in zip(names, row) if value} for row in matrix]
        for matrix in dense
    ]
    expected = train((dicts, Y), **SMALL).tagger
    for data in (
        ([Features(matrix, names) for matrix in dense], Y),
        ([Features(sparse.csr_matrix(matrix), names) for matrix in dense], Y),
        (Features(one, names, lengths=[2, 1]), Y),
        (Features(sparse.coo_array(one), names, [2, 1]), Y),
        (Features(one.astype("float32"), names, [2, 1]), Y),
    ):
        tagger = train(data, **SMALL).tagger
        assert tagger.weights() == expected.weights()
        assert tagger.tag_batch(data[0]) == Y
    unnamed = train((dense, Y), **SMALL).tagger
    assert {name for name, _ in unnamed.weights()} == {"f0", "f1", "f2"}
    assert unnamed.tag(sparse.csc_matrix(dense[0])) == unnamed.tag(dense[0].astype(int)) == Y[0]
    assert unnamed.tag(np.asfortranarray(dense[0])) == unnamed.tag(dense[0][:, ::1]) == Y[0]
    assert train((dense, Y), ([d[::-1][::-1] for d in dense], Y), **SMALL).dev_score == 1


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((X, [["PER", float("nan")], ["O"]]), ValueError, r"y\[0\]\[1\]: found nan \(float\)"),
        (([X[0], [{"a": 1e40}]], Y), ValueError, r"X\[1\]\[0\]: .* at most 1e30"),
        (([X[0], [{"": 1}]], Y), ValueError, r"X\[1\]\[0\]: a feature has no name"),
        (([X[0], None], Y), ValueError, r"X\[1\]: found None \(NoneType\) as a sentence"),
        (([np.ones((2, 2)), np.ones(3)], Y), ValueError, r"X\[1\]: found an array of 1 dimensions"),
        ((np.ones((3, 2)), Y), ValueError, r"X is one matrix; .*Features\(X, lengths=…\)"),
        (([[["a"]]], [[None]]), ValueError, "no token of the training data has a label"),
        ((X, None), ValueError, "found no label column; training needs labels"),
        (([], []), ValueError, "no sentences to train on"),
        (3, TypeError, r"found 3 \(int\) as data; expected one of"),
        (None, TypeError, "found None"),
        ("missing.conll", FileNotFoundError, "missing.conll"),
        (["missing.conll"], FileNotFoundError, "missing.conll"),
    ],
)
def test_malformed_data_are_errors_that_name_index_and_value(data, error, message):
    template = None if isinstance(data, tuple) and data[0] is not None else "ner"
    refused(message, train, data, template=template, dropout=0, error=error)


def test_matrices_must_be_numbers_with_a_name_for_each_column():
    values = np.array([[np.nan, 1.0]])
    refused(r"X\[0\]\[0\]: feature 'f0' has the value NaN", train, ([values], [["O"]]))
    refused(r"X\[0\]: found a matrix of <U1", train, ([np.array([["a", "b"]])], [["O"]]))
    refused("found 1 names for 2 columns", Features, values, ["a"])
    refused("the lengths sum up to 2; expected 1", Features, values, lengths=[2])
    refused("found 3 as the name of a feature", Features, values, ["a", 3])
    refused("array of 1 dimensions", Features, [1.0])


def test_unknown_labels_are_summed_over():
    y = [["PER", None], [["O", "PER"]]]
    result = train((X, y), **SMALL)
    assert result.data["partial_tokens"] == 2
    assert sorted(result.tagger.labels) == ["O", "PER"]
    words = ([["Ada", "left"], ["rain"]], y)
    assert train(words, template="minimal", **SMALL).data["partial_tokens"] == 2


def test_sentences_have_weights():
    twice = train((X + X[1:], Y + Y[1:]), **SMALL).tagger
    weighted = train((X, Y), weights=[1, 2], **SMALL).tagger
    assert weighted.weights() == pytest.approx(twice.weights(), rel=1e-5)
    refused(r"weights\[1\]: .*-2", train, (X, Y), weights=[1, -2])
    refused("expected \\(X, y\\) as data", train, Corpus(X, Y), weights=[1, 2])


def test_unlabeled_text_enters_the_noise_term(tmp_path, sample):
    text = tmp_path / "text.txt"
    text.write_text("Ada left London. She met Grace.\n", encoding="utf-8")
    options = {"template": "minimal", "max_iterations": 5, "warm_up": 0}
    words = [["Ada", "left", "London", "."], ["She", "met", "Grace", "."]]
    alone = train(sample, **options)
    results = [train(sample, unlabeled=u, **options) for u in (text, [text], words, Corpus(words))]
    assert [r.data["unlabeled_sentences"] for r in results] == [2] * 4
    objectives = {r.history[-1].objective for r in results}
    assert len(objectives) == 1 and alone.history[-1].objective not in objectives
    features = train((X, Y), unlabeled=X, max_iterations=3)
    assert features.data["unlabeled_sentences"] == 2
    with pytest.raises(ValueError, match="expected dropout above 0"):
        train(sample, template="minimal", unlabeled=words, dropout=0)
    with pytest.raises(ValueError, match="algorithm ap learns from labels alone"):
        train(sample, template="minimal", unlabeled=words, algorithm="ap")


def test_training_continues_from_models(tmp_path, sample):
    first = train(sample[:200], template="minimal", **SMALL).tagger
    path = tmp_path / "a.model"
    first.save(path)
    for init in (first, path, str(path)):
        result = train(sample[200:], init=init, **SMALL)
        assert set(first.weights()) <= set(result.tagger.weights())
        assert result.messages and "labels" in result.messages[0]
    pulled = train(sample[200:], towards=first, dropout=0, l2=1e6, max_iterations=5).tagger
    weights = pulled.weights()
    assert all(abs(weights[key] - w) < 1e-3 for key, w in first.weights().items())
    refused(r"found 3 \(int\) as init", train, sample, init=3, error=TypeError)
    refused("order 0, but", train, sample, init=first, order=0)


def test_every_option_has_a_name():
    from dropchain import _options

    values = {
        "algorithm": "lbfgs", "dropout": 0.1, "edge_dropout": 0.2, "l2": 0.1, "l1": 0.1, "seed": 2,
        "max_iterations": 2, "patience": 3, "min_count": 1, "noise": "gaussian",
        "gradient": "window=2", "warm_up": 1, "unlabeled_weight": 0.1, "warm_start": "online",
        "scheme": "bioes", "order": 1, "boundary": False, "states": "observed",
        "transitions": "all", "precision": "f64", "prune": 1e-9, "recall_bias": 0.1,
        "epsilon": 1e-4, "min_frequency": 0.5,
    }
    online = {
        "sgd=0.2": {},
        "pa=2.0": {},
        "arow=3.0": {"epsilon": 0.1},
        "ap": {"epsilon": 0.1},
    }
    given = set(values)
    y = [["B-PER", "O"], ["O"]]
    result = train((X, y), **values)
    assert result.options["scheme"] == "bioes"
    assert {name: result.options[name] for name in values} == values
    for algorithm, more in online.items():
        result = train((X, y), algorithm=algorithm, max_iterations=2, **more)
        assert {name: result.options[name] for name in more} == more
        assert result.options["algorithm"] == algorithm
    # Only a template can see text without case.
    words = Corpus.parse("Ada PER\nleft O\n", format="conll")
    assert train(words, template="minimal", caseless=0.5).options["caseless"] == 0.5
    trained = train(words, template="minimal", plain_labels="tags")
    assert trained.options["plain_labels"] == "tags"
    assert train(words, template="minimal", outside="O").options["outside"] == "O"
    assert given | {"caseless", "plain_labels", "outside"} == set(_options.NAMES)


def test_options_of_a_result_train_the_same_model():
    first = train((X, Y), l1=0.01, precision="f64", algorithm="lbfgs", epsilon=1e-3)
    assert train((X, Y), **first.options).tagger.weights() == first.tagger.weights()
    second = train((X, Y), algorithm="pa=2", max_iterations=3)
    assert train((X, Y), **second.options).tagger.weights() == second.tagger.weights()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"droput": 0.1}, TypeError, "unknown option 'droput'; did you mean 'dropout'"),
        ({"c2": 0.1}, TypeError, "unknown option 'c2'; did you mean 'l2'"),
        ({"dropout": "a"}, TypeError, r"found 'a' \(str\) as dropout; expected a number"),
        ({"dropout": True}, TypeError, r"found True \(bool\) as dropout"),
        ({"dropout": 1.5}, ValueError, "dropout 1.5; expected a rate"),
        ({"dropout": float("nan")}, ValueError, "dropout NaN"),
        ({"max_iterations": -1}, ValueError, "max_iterations -1; expected an integer that is not"),
        ({"max_iterations": 1.5}, TypeError, r"found 1.5 \(float\) as max_iterations"),
        ({"order": 2}, ValueError, "order .2.; expected one of 0, 1"),
        ({"scheme": "x"}, ValueError, "scheme 'x'; expected one of raw, io, iob1, iob2, bioes"),
        ({"algorithm": "x"}, ValueError, "algorithm 'x'; expected lbfgs, sgd"),
        ({"algorithm": "sgd", "l1": 1}, ValueError, r"expected no L1 penalty \(l1 0\)"),
        ({"algorithm": "sgd", "epsilon": 1}, ValueError, "epsilon has no meaning for algorithm sg"),
        ({"boundary": 3}, TypeError, r"found 3 \(int\) as boundary; expected True or False"),
        ({"threads": 0}, ValueError, "threads 0; expected 1 or more"),
        ({"threads": -1}, ValueError, "threads -1"),
        ({"memory": 1}, ValueError, "about .* MB of memory needed; the limit is 1 MB"),
        ({"observer": 3}, TypeError, "found 3 as observer"),
        ({"template": "nothing"}, FileNotFoundError, "no such file or template"),
        ({"template": "word\n"}, ValueError, r"expected Template\(text\)"),
        ({"template": 3}, TypeError, r"found 3 \(int\) as template"),
        ({"template": "ner"}, ValueError, "the data have features of their own"),
        ({"resume": True}, ValueError, "resume without checkpoint"),
        ({"word": "w"}, ValueError, r"word: columns of tables; found \["),
        ({"dev": ([["a"]], [["O"]])}, ValueError, "dev has words, data has features"),
    ],
)
def test_wrong_options_are_errors(options, error, message):
    refused(message, train, (X, Y), **options, error=error)


def test_observers_see_every_iteration_and_may_stop():
    seen = []
    result = train((X, Y), observer=seen.append, **SMALL)
    assert seen == result.history and len(seen) > 2
    stopped = train((X, Y), dropout=0, observer=lambda i: i.number < 2)
    assert (stopped.iterations, stopped.end_reason) == (2, "observer")
    stopped = train((X, Y), dropout=0, observer=lambda i: np.bool_(i.number < 2))
    assert stopped.end_reason == "observer"


def test_an_exception_of_an_observer_keeps_the_model(tmp_path):
    path = tmp_path / "a.model"

    def fail(iteration):
        if iteration.number == 3:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        train((X, Y), dropout=0, observer=fail, model=path)
    assert caught.value.result.iterations >= 3
    assert Tagger.open(path).tag(X[0]) == Y[0]


def test_ctrl_c_saves_the_best_model(tmp_path, sample, dev):
    path = tmp_path / "a.model"

    def press(iteration):
        if iteration.number == 30:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="interrupted; .*a.model") as caught:
        train(sample, dev, template="minimal", observer=press, model=path)
    result = caught.value.result
    assert result.end_reason == "interrupted" and 30 <= result.iterations < 40
    assert result.model == str(path)
    assert Tagger.open(path).to_bytes() == result.tagger.to_bytes()
    assert isinstance(caught.value, KeyboardInterrupt)


def test_ctrl_c_without_an_observer_ends_training():
    # Of two labels for the same token one is always wrong: the perceptron never ends.
    endless = ([[["a"]]] * 4000, [["O"], ["B"]] * 2000)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Interrupted) as caught:
        train(endless, algorithm="ap", max_iterations=2**31 - 1, epsilon=0)
    assert caught.value.result is None or caught.value.result.end_reason == "interrupted"


def test_progress_is_that_of_a_class_or_tqdm(capfd):
    calls = []

    class Bar:
        def __init__(self, **arguments):
            calls.append(arguments["total"])

        def update(self, n):
            calls.append(n)

        def set_postfix_str(self, text, refresh):
            calls.append(text.split()[0])

        def close(self):
            calls.append("close")

    train((X, Y), progress=Bar, **SMALL)
    assert calls[0] == 20 and calls[-1] == "close" and calls.count(1) > 1
    train((X, Y), progress=True, **SMALL)
    assert "training" in capfd.readouterr().err


def test_progress_without_tqdm_is_lines(capfd, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    train((X, Y), progress=True, dropout=0, max_iterations=3)
    assert capfd.readouterr().err.splitlines()[-1].startswith("training: ")


def test_models_are_written_whole_and_never_over_other_files(tmp_path, sample):
    corpus = tmp_path / "train.conll"
    corpus.write_text("Ada B-PER\nleft O\n", encoding="utf-8")
    before = corpus.read_bytes()
    options = {"template": "minimal", **SMALL}
    refused("this is the input file", train, corpus, model=corpus, **options)
    link = tmp_path / "link"
    link.symlink_to(corpus)
    refused("this is the input file", train, corpus, model=link, force=True, **options)
    refused("the file exists and is not a model", train, sample, model=corpus, **options)
    assert corpus.read_bytes() == before
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        train(sample, model=tmp_path / "no" / "a.model", **options)
    with pytest.raises(IsADirectoryError):
        train(sample, model=tmp_path, **options)
    template = tmp_path / "my.tpl"
    template.write_text("word\n", encoding="utf-8")
    refused("this is the input file", train, sample, template=template, model=template)
    result = train(sample, model=tmp_path / "a.model", **options)
    again = train(sample, model=tmp_path / "a.model", init=tmp_path / "a.model", **SMALL)
    assert Tagger.open(result.model).to_bytes() == again.tagger.to_bytes()
    names = ["a.model", "link", "my.tpl", "train.conll"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    train(sample, model=corpus, force=True, **options)
    assert Tagger.open(corpus).labels


def test_a_model_that_cannot_be_written_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "gone"
    directory.mkdir()

    def remove(iteration):
        if iteration.number == 1:
            directory.rmdir()

    with pytest.raises(OSError, match="saved to") as caught:
        train((X, Y), model=directory / "a.model", observer=remove, **SMALL)
    assert Tagger.open(tmp_path / "a.model.saved").tag(X[0]) == Y[0]
    assert caught.value.result.tagger.tag(X[0]) == Y[0]


def test_training_resumes_from_a_checkpoint_to_the_same_model(tmp_path, sample):
    path = tmp_path / "a.checkpoint"
    options = {"template": "minimal", "max_iterations": 40, "checkpoint": path}
    expected = train(sample, template="minimal", max_iterations=40).tagger

    def press(iteration):
        if iteration.number == 30:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        train(sample, observer=press, checkpoint_every=5, **options)
    assert path.exists()
    refused("resume=True", train, sample, **options)
    result = train(sample, resume=True, **options)
    assert "resumed after" in result.messages[0]
    assert result.tagger.weights() == expected.weights()
    assert not path.exists()


def test_other_threads_run_while_training_does(sample):
    count = 0
    done = threading.Event()

    def work():
        train(sample, template="minimal", max_iterations=20, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        count += 1
    thread.join()
    assert count > 1000


def test_the_same_seed_gives_the_same_bits(sample):
    options = {"template": "minimal", "algorithm": "sgd", "max_iterations": 3, "dropout": 0}
    a, b, c = (train(sample, seed=seed, **options).tagger.to_bytes() for seed in (1, 1, 2))
    assert a == b != c


def test_weights_of_few_bits(sample, dev):
    exact = train(sample, template="ner", precision="f64", **SMALL).tagger.tag_batch(dev.words)
    result = train(sample, dev, template="ner", precision="f16", patience=0, **SMALL)
    assert result.tagger.info["precision"] == "f16"
    message = result.messages[-1]
    assert message.startswith("weights rounded to ") and "; on development data: F1" in message
    found = result.tagger.tag_batch(dev.words)
    differ = [a != b for x, y in zip(exact, found, strict=True) for a, b in zip(x, y)]
    assert sum(differ) <= 0.01 * len(differ)


def test_a_share_of_the_data_is_held_out(sample):
    result = train(sample, dev=0.1, template="minimal", **SMALL)
    held_out, kept = result.data["dev_sentences"], result.data["sentences"]
    assert held_out + kept == len(sample)
    line = result.data["reading"][-1]
    assert line.startswith(f"development data: {held_out} of {len(sample)} sentences, 10 % of the")
    assert result.tagger.info["training"]["held_out"] == line
    assert result.dev_score > 0
    assert train((X * 20, Y * 20), dev=0.25, **SMALL).data["dev_sentences"] == 11
    refused("expected a share between 0 and 1", train, sample, dev=1.5, template="minimal", **SMALL)


def test_a_model_without_the_noise_that_was_asked_for_is_warned_of(sample, dev):
    options = {"template": "minimal", "l2": 0.1, "warm_up": 9, "max_iterations": 6}
    with pytest.warns(UserWarning, match="before the noise began: dropout has no part"):
        result = train(sample, dev, dropout=0.99, **options)
    assert (result.noise_iterations, result.regularization) == (0, "L2 0.1")
    assert "dropout 0 with the same penalties" in result.messages[-1]
    assert result.tagger.info["training"]["noise"]["iterations"] == 0
    result = train(sample, template="minimal", warm_up=2, max_iterations=5)
    assert result.noise_iterations == 3
    assert result.regularization == "dropout 0.3, L2 0.1"
