"""Hyperparameter search."""

import os
import signal

import pytest
from refusals import refused

import dropchain
from dropchain import Interrupted, Tagger, train, tune

SMALL = {"template": "minimal", "dropout": [0, 0.3], "l2": [0.1, 1]}
X = [[{"word": "Ada", "upper": True}, {"word": "left"}], [{"word": "rain"}]] * 4
Y = [["PER", "O"], ["O"]] * 4


@pytest.fixture(scope="module")
def parts():
    return dropchain.sample_corpus()[:80], dropchain.sample_corpus("dev")[:40]


def test_the_best_of_a_grid_is_trained(parts, tmp_path):
    path = tmp_path / "best.model"
    result = tune(*parts, model=path, **SMALL)
    assert len(result.trials) == 4 and not result.interrupted
    scores = [trial.score for trial in result.trials]
    assert scores[0] == max(scores) and result.best is result.trials[0]
    assert Tagger.open(path).to_bytes() == result.tagger.to_bytes()
    evaluation = result.tagger.evaluate(parts[1])
    assert evaluation.f1 == pytest.approx(result.best.score)
    assert result.options["dropout"] == result.best.options["dropout"]
    assert set(result.best.options) == {"dropout", "l2"}
    assert str(result).splitlines()[0].split()[:3] == ["dropout", "L2", "dev"]
    assert result.to_dict()["trials"][0]["number"] == result.best.number
    assert repr(result) == f"<TuneResult: 4 configurations, best F1 {100 * scores[0]:.2f}>"
    trained = train(*parts, template="minimal", **result.best.options)
    assert trained.dev_score == pytest.approx(result.best.score, abs=0.1)


def test_labels_that_look_like_mistakes_are_warnings():
    words = [["Ann", "left"], ["Rome", "fell"]] * 60 + [["x", "y"]]
    labels = [["B-PER", "O"], ["B-LOC", "O"]] * 60 + [['"', "O"]]
    with pytest.warns(UserWarning, match="belongs to no scheme, unlike the others") as found:
        tune((words, labels), folds=2, max_iterations=2, **SMALL)
    assert len(found) == 1 and found[0].filename == __file__


def test_folds_score_without_development_data(parts):
    result = tune(parts[0], folds=3, **SMALL)
    assert result.refit_iterations > 0
    assert all(len(trial.fold_scores) == 3 for trial in result.trials)
    assert result.best.standard_deviation == pytest.approx(3**0.5 * result.best.standard_error)
    assert "±" in str(result)
    gain = result.noise_gain
    pair = [
        next(trial for trial in result.trials if (trial.options["dropout"] > 0) == noisy)
        for noisy in (True, False)
    ]
    assert [gain["first"], gain["second"]] == [trial.number for trial in pair]
    assert gain["mean"] == pytest.approx(pair[0].score - pair[1].score)
    assert len(gain["fold_differences"]) == 3
    assert 0 <= gain["p_value"] <= 1
    assert result.to_dict()["noise_gain"] == gain
    assert [result.runner_up[name] for name in ("first", "second")] == [
        trial.number for trial in result.trials[:2]
    ]


def test_one_configuration_is_cross_validated(parts):
    result = tune(parts[0], folds=3, only_defaults=True, template="minimal", max_iterations=8)
    assert [trial.options for trial in result.trials] == [{}]
    assert result.notes[0].startswith("mean F1 ") and result.runner_up is None
    scores = dropchain.evaluate(parts[0], result.predictions)
    assert result.evaluation.f1 == scores.f1
    assert result.evaluation.confusions(None) == scores.confusions(None)
    assert result.to_dict()["evaluation"]["f1"] == scores.f1
    assert "processed " in str(result) and "By type" in result._repr_html_()


def test_values_are_drawn_from_ranges(parts):
    result = tune(*parts, template="minimal", dropout="0.1:0.6", l2=["0.01:1"], trials=3, seed=5)
    assert len(result.trials) == 3
    drawn = [trial.options for trial in result.trials]
    assert all(0.1 <= one["dropout"] <= 0.6 and 0.01 <= one["l2"] <= 1 for one in drawn)


def test_the_course_of_training_is_searched(parts):
    course = {"warm_up": [0, 3], "gradient": ["exact", "window=2"]}
    result = tune(*parts, template="minimal", dropout=[0, 0.3], l2=0.1, max_iterations=6, **course)
    noisy = [trial.options for trial in result.trials if trial.options["dropout"] > 0]
    found = sorted((one["warm_up"], one["gradient"]) for one in noisy)
    assert found == sorted((n, e) for n in course["warm_up"] for e in course["gradient"])
    assert {"dropout": 0, "l2": 0.1} in [trial.options for trial in result.trials]
    fixed = tune(*parts, template="minimal", dropout=0.3, l2=0.1, warm_up=3, gradient="window=2")
    assert fixed.options["warm_up"] == 3
    assert fixed.options["gradient"] == "window=2"
    assert fixed.best.options["warm_up"] == 3


def test_templates_are_compared(parts):
    templates = ["minimal", dropchain.Template("shape\n")]
    result = tune(*parts, template=templates, dropout=0, l2=0.3)
    assert {trial.template for trial in result.trials} == {"minimal", "template 2"}
    assert result.best.template == "minimal"


def test_features_are_searched_too():
    result = tune((X, Y), (X, Y), dropout=[0, 0.1], l2=0.1)
    assert result.best.score == 1 and result.best.metric == "f1"
    assert result.best.template is None
    assert result.tagger.tag(X[0]) == Y[0]


def test_observers_see_trials_and_may_stop(parts):
    seen = []
    result = tune(*parts, observer=seen.append, **SMALL)
    assert sorted(trial.number for trial in seen) == [1, 2, 3, 4]
    assert {trial.score for trial in seen} == {trial.score for trial in result.trials}
    stopped = tune(*parts, observer=lambda trial: False, **SMALL)
    assert stopped.interrupted and stopped.tagger.labels


def test_ctrl_c_saves_the_best_model(parts, tmp_path):
    path = tmp_path / "best.model"

    def press(trial):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="best.model") as caught:
        tune(*parts, observer=press, model=path, **SMALL)
    result = caught.value.result
    assert result.interrupted and result.best.score is not None
    assert Tagger.open(path).to_bytes() == result.tagger.to_bytes()


def test_an_exception_of_an_observer_keeps_the_model(parts, tmp_path):
    path = tmp_path / "best.model"

    def fail(trial):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        tune(*parts, observer=fail, model=path, **SMALL)
    assert Tagger.open(path).to_bytes() == caught.value.result.tagger.to_bytes()


def test_a_search_resumes_from_its_checkpoint(parts, tmp_path):
    path = tmp_path / "search.checkpoint"
    expected = tune(*parts, **SMALL)

    def press(trial):
        raise KeyboardInterrupt

    options = {"checkpoint": path, **SMALL}
    with pytest.raises(Interrupted):
        tune(*parts, observer=press, **options)
    assert path.exists()
    refused("resume=True", tune, *parts, **options)
    result = tune(*parts, resume=True, **options)
    assert result.tagger.to_bytes() == expected.tagger.to_bytes()
    assert not path.exists()


def test_progress_is_shown_by_phase(parts):
    phases = []

    class Bar:
        def __init__(self, total, desc, unit):
            phases.append(desc)
            self.n = 0

        def update(self, n):
            self.n += n

        def set_postfix_str(self, text, refresh):
            pass

        def close(self):
            pass

    tune(*parts, progress=Bar, **SMALL)
    assert phases == ["configurations"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "either dev or folds"),
        ({"folds": 1}, ValueError, "folds 1; expected 2 or more"),
        ({"folds": 2, "dropout": []}, ValueError, "dropout: found no values"),
        ({"folds": 2, "dropout": ["a"]}, ValueError, "dropout 'a': invalid float"),
        ({"folds": 2, "dropout": [None]}, TypeError, "dropout: found None"),
        ({"folds": 2, "dropout": 2}, ValueError, "dropout 2; expected a rate"),
        ({"folds": 2, "l2": "0.1:1"}, ValueError, "L2: a range has infinitely many values"),
        ({"folds": 2, "trials": 0}, ValueError, "trials 0; expected 1 or more"),
        ({"folds": 2, "droput": 1}, TypeError, "tune.. got an unknown option 'droput'"),
        ({"folds": 2, "template": "ner"}, ValueError, "the data have features of their own"),
        ({"folds": 99}, ValueError, "99 folds of 8 sentences"),
    ],
)
def test_unfit_searches_are_errors(arguments, error, message):
    refused(message, tune, (X, Y), **arguments, error=error)


def test_templates_are_different(parts):
    refused("a template is given twice", tune, *parts, template=["minimal", "minimal"])
