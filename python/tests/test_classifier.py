"""dropchain.sklearn.DropoutClassifier."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from refusals import refused

pytest.importorskip("sklearn", reason="skipped: no scikit-learn")
sparse = pytest.importorskip("scipy.sparse", reason="skipped: no scipy")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import dropchain  # noqa: E402
from dropchain.sklearn import DropoutClassifier  # noqa: E402


def documents(count, classes=2, seed=1):
    """Binary features; some of them are more frequent in a class."""
    random = np.random.RandomState(seed)
    y = np.arange(count) % classes
    X = random.uniform(size=(count, 60)) < 0.1
    for row, label in zip(X, y):
        own = 10 * label + np.arange(10)
        row[own] |= random.uniform(size=10) < 0.3
    return X.astype(float), y


@parametrize_with_checks([DropoutClassifier()])
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


class TestFitting:
    def test_without_noise_it_is_logistic_regression(self):
        X, y = documents(150)
        ours = DropoutClassifier(0, l2=0.05, tol=1e-9).fit(X, y)
        # The penalty l2 * 2 * (w / 2)² is w² / (2 C).
        theirs = LogisticRegression(C=1 / 0.05, tol=1e-9, max_iter=10_000).fit(X, y)
        assert ours.coef_[0] == pytest.approx(theirs.coef_[0], abs=1e-3)
        assert ours.intercept_[0] == pytest.approx(theirs.intercept_[0], abs=1e-3)

    def test_sparse_and_dense_data_give_the_same_weights(self):
        X, y = documents(80, 3)
        dense = DropoutClassifier().fit(X, y)
        for matrix in (sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_matrix(X)):
            model = DropoutClassifier().fit(matrix, y)
            assert (model.coef_ == dense.coef_).all()
            assert (model.intercept_ == dense.intercept_).all()
            assert np.allclose(model.predict_proba(matrix), dense.predict_proba(X), rtol=1e-12)

    def test_shapes_and_classes(self):
        for count in (2, 3, 4):
            X, numbers = documents(60, count)
            y = np.array(["c", "a", "d", "b"])[numbers]
            model = DropoutClassifier().fit(X, y)
            assert model.classes_.tolist() == sorted(set(y))
            rows = 1 if count == 2 else count
            assert model.coef_.shape == (rows, 60) and model.intercept_.shape == (rows,)
            assert model.decision_function(X).shape == ((60,) if count == 2 else (60, count))
            proba = model.predict_proba(X)
            assert proba.shape == (60, count) and np.allclose(proba.sum(axis=1), 1)
            assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()
            assert np.allclose(np.log(proba), model.predict_log_proba(X))
            assert model.score(X, y) > 0.9

    def test_weights_of_documents_are_copies(self):
        X, y = documents(60)
        counts = np.random.RandomState(0).randint(0, 4, size=60)
        weighted = DropoutClassifier().fit(X, y, counts)
        copies = DropoutClassifier().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        assert np.allclose(weighted.coef_, copies.coef_, rtol=1e-5, atol=1e-7)

    def test_unlabeled_documents_change_the_weights(self):
        X, y = documents(40)
        more, _ = documents(100, seed=2)
        alone = DropoutClassifier().fit(X, y)
        both = DropoutClassifier(unlabeled_weight=0.5).fit(X, y, X_unlabeled=more)
        mixed = DropoutClassifier(unlabeled_weight=0.5).fit(
            sparse.csr_matrix(X), y, X_unlabeled=more
        )
        assert np.abs(both.coef_ - alone.coef_).max() > 0.01
        assert (mixed.coef_ == both.coef_).all()

    def test_development_data_end_training(self):
        X, y = documents(80)
        dev = documents(40, seed=5)
        full = DropoutClassifier(0, l2=1e-6).fit(X, y)
        stopped = DropoutClassifier(0, l2=1e-6, patience=2).fit(X, y, X_dev=dev[0], y_dev=dev[1])
        assert stopped.n_iter_ < full.n_iter_
        assert stopped.score(*dev) > 0.8
        # Classes that training has not seen are errors, not an exception.
        DropoutClassifier(patience=2).fit(X, y, X_dev=dev[0], y_dev=dev[1] + 5)

    def test_threads_seeds_and_noises(self):
        X, y = documents(60)
        one, two = (DropoutClassifier(n_jobs=n).fit(X, y).coef_ for n in (1, 2))
        assert (one == two).all()
        for noise in ("gaussian", "additive", "gaussian-scores"):
            assert (DropoutClassifier(0.2, noise=noise).fit(X, y).coef_ != one).any()
        assert (DropoutClassifier(masks="inputs").fit(X, y).coef_ != one).any()
        sampled = [
            DropoutClassifier(noise="monte-carlo", max_iter=10, random_state=seed).fit(X, y).coef_
            for seed in (1, 1, 2)
        ]
        assert (sampled[0] == sampled[1]).all() and (sampled[0] != sampled[2]).any()

    def test_verbose_prints_a_line_for_each_iteration(self, capsys):
        X, y = documents(40)
        model = DropoutClassifier(verbose=True, max_iter=3).fit(X, y)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(":")[0] for line in lines] == [f"iteration {i}" for i in range(4)]
        assert model.n_iter_ == 3


class TestErrors:
    X, Y = documents(20)

    @pytest.mark.parametrize(
        "options, data, message",
        [
            ({}, {"X_dev": X}, "only one of X_dev and y_dev"),
            ({"dropout": 0}, {"X_unlabeled": X}, "X_unlabeled without dropout"),
            ({"dropout": 1.5}, {}, "dropout"),
            ({"l2": -1.0}, {}, "L2 strength -1"),
            ({"max_iter": -1}, {}, "max_iterations"),
            ({"noise": "rain"}, {}, "noise 'rain'"),
            ({"n_jobs": 0}, {}, "n_jobs=0"),
            ({}, {"sample_weight": np.full(20, -1.0)}, r"sample_weight\[0\] is -1"),
            ({}, {"sample_weight": np.full(20, np.nan)}, r"sample_weight\[0\] is nan"),
            ({}, {"sample_weight": np.zeros(20)}, "all weights are zero"),
            ({}, {"sample_weight": np.ones(3)}, "inconsistent"),
            ({}, {"X_unlabeled": X[:, :5]}, "5 features"),
        ],
    )
    def test_options_and_data_are_checked(self, options, data, message):
        refused(message, DropoutClassifier(**options).fit, self.X, self.Y, **data)

    def test_values_that_are_too_large_have_a_place(self):
        X = self.X.copy()
        X[3, 2] = 1e40
        refused(r"X\[3\]: the feature f2 .* at most 1e30", DropoutClassifier().fit, X, self.Y)
        for value in (np.nan, np.inf):
            X[3, 2] = value
            refused("NaN|infinity", DropoutClassifier().fit, X, self.Y)

    def test_one_class_is_refused(self):
        refused("found one class.*expected 2", DropoutClassifier().fit, self.X, np.zeros(20))

    def test_it_must_be_fitted(self):
        with pytest.raises(NotFittedError):
            DropoutClassifier().predict(self.X)


class TestInPipelines:
    TEXTS = ["a great , funny film", "great fun", "a dull film", "dull , not funny"] * 5
    CLASSES = ["pos", "pos", "neg", "neg"] * 5

    def test_texts_are_vectorized(self):
        vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True)
        model = make_pipeline(vectorizer, DropoutClassifier()).fit(self.TEXTS, self.CLASSES)
        assert model.predict(["great film", "dull film"]).tolist() == ["pos", "neg"]

    def test_searches_and_wrappers_take_it(self):
        X, y = documents(90, 3)
        grid = GridSearchCV(DropoutClassifier(), {"dropout": [0.0, 0.5], "l2": [0.01, 1.0]}, cv=3)
        assert grid.fit(X, y).best_score_ > 0.6
        rest = OneVsRestClassifier(DropoutClassifier()).fit(X, y)
        assert len(rest.estimators_) == 3 and rest.score(X, y) > 0.9

    def test_clones_and_pickles(self):
        X, y = documents(40)
        model = DropoutClassifier(0.4, l2=0.2).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert (copy.predict_proba(X) == model.predict_proba(X)).all()
        again = clone(model).fit(X, y)
        assert (again.coef_ == model.coef_).all()


def test_an_interrupt_keeps_the_weights_so_far(monkeypatch):
    X, y = documents(60)
    model = DropoutClassifier(verbose=True)

    def stop(number, objective, accuracy):
        if number == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("dropchain.sklearn.classifier._print", stop)
    with pytest.raises(dropchain.Interrupted):
        model.fit(X, y)
    assert 0 < model.n_iter_ <= 4 and model.score(X, y) > 0.7
