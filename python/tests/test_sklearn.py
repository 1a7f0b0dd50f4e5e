"""dropchain.sklearn: what sklearn-crfsuite's own tests do not ask."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading

import numpy as np
import pytest
from crf_data import corpus
from refusals import refused

import dropchain

sklearn = pytest.importorskip("sklearn", reason="skipped: no scikit-learn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

from dropchain import pycrfsuite  # noqa: E402
from dropchain.sklearn import CRF, metrics, scorers  # noqa: E402
from dropchain.sklearn.trainer import LinePerIterationTrainer  # noqa: E402

X, Y = corpus(120)
X_DEV, Y_DEV = corpus(40, seed=7)


@pytest.fixture(scope="module")
def crf():
    return CRF(c2=0.1, max_iterations=40).fit(X, Y)


class TestAgainstSklearnCrfsuite:
    @pytest.fixture
    def real(self):
        return pytest.importorskip("sklearn_crfsuite", reason="skipped: no sklearn-crfsuite")

    def test_estimators_agree(self, real, crf):
        theirs = real.CRF(c2=0.1, max_iterations=40).fit(X, Y)
        for sequences in (X_DEV, X_DEV[:1], [X_DEV[0]] * 3, []):
            a, b = theirs.predict(sequences), crf.predict(sequences)
            assert a.dtype == b.dtype == object and a.shape == b.shape
            assert a.tolist() == b.tolist()
        assert crf.predict_single(X_DEV[0]) == theirs.predict_single(X_DEV[0])
        for a, b in (
            (theirs.predict_marginals(X_DEV[:3]), crf.predict_marginals(X_DEV[:3])),
            (
                [theirs.predict_marginals_single(X_DEV[0])],
                [crf.predict_marginals_single(X_DEV[0])],
            ),
        ):
            for items, own in zip(a, b):
                assert [list(item) for item in items] == [list(item) for item in own]
                for item, mine in zip(items, own):
                    assert mine == pytest.approx(item, abs=1e-3)
        assert crf.score(X_DEV, Y_DEV) == theirs.score(X_DEV, Y_DEV)
        assert crf.classes_ == theirs.classes_
        assert sorted(crf.attributes_) == sorted(theirs.attributes_)
        assert crf.num_attributes_ == theirs.num_attributes_
        assert crf.state_features_ == pytest.approx(theirs.state_features_, abs=0.02)
        assert crf.transition_features_ == pytest.approx(theirs.transition_features_, abs=0.02)
        logs = [log.training_log_.iterations for log in (theirs, crf)]
        assert [sorted(log) for log in logs[0]] == [sorted(log) for log in logs[1]]

    def test_parameters_come_first_and_have_the_same_defaults(self, real):
        theirs, ours = real.CRF().get_params(), CRF().get_params()
        assert {name: ours[name] for name in theirs} == theirs
        names = list(CRF.__init__.__code__.co_varnames)
        assert (
            names[1 : 1 + len(theirs)]
            == list(real.CRF.__init__.__code__.co_varnames)[1 : 1 + len(theirs)]
        )

    @pytest.mark.parametrize("dev", [False, True])
    def test_verbose_output_has_the_same_lines(self, real, capsys, dev):
        printed = []
        for module in (real.CRF, CRF):
            data = (X_DEV, Y_DEV) if dev else ()
            module(verbose=True, max_iterations=3).fit(X, Y, *data)
            lines = capsys.readouterr().out.splitlines()
            heads = [line.split()[0] for line in lines if line.startswith(("Iter", "Label"))]
            printed.append(heads)
        assert printed[0] == printed[1] and len(printed[0]) == 3 + dev


class TestFitting:
    def test_dev_data_only_report_unless_patience_is_set(self):
        alone = CRF(max_iterations=30).fit(X, Y)
        reported = CRF(max_iterations=30).fit(X, Y, X_DEV, Y_DEV)
        assert reported.state_features_ == alone.state_features_
        assert "avg_f1" in reported.training_log_.last_iteration
        stopped = CRF(patience=2, c2=1e-4).fit(X, Y, X_dev=X_DEV, y_dev=Y_DEV)
        unlimited = CRF(c2=1e-4).fit(X, Y)
        assert (
            stopped.training_log_.last_iteration["num"]
            < (unlimited.training_log_.last_iteration["num"])
        )
        refused("patience=2 without X_dev", CRF(patience=2).fit, X, Y)

    def test_dropout_and_unlabeled_data_change_the_model(self, crf):
        params = {"c2": 0.1, "max_iterations": 40, "dropout": 0.3, "warm_up": 5}
        noisy = CRF(**params).fit(X, Y)
        assert noisy.state_features_ != crf.state_features_
        unlabeled = CRF(**params).fit(X, Y, X_unlabeled=X_DEV)
        assert unlabeled.state_features_ != noisy.state_features_
        edges = CRF(**params, edge_dropout=0.1).fit(X, Y)
        assert edges.transition_features_ != noisy.transition_features_
        assert min(c.score(X_DEV, Y_DEV) for c in (noisy, unlabeled, edges)) > 0.8
        refused("X_unlabeled without dropout", CRF().fit, X, Y, X_unlabeled=X_DEV)
        with pytest.raises(TypeError, match=r"X_unlabeled\[1\]\[0\]: found 5"):
            CRF(dropout=0.2).fit(X, Y, X_unlabeled=[[["a"]], [5]])
        refused("algorithm ap with dropout", CRF("ap", dropout=0.2).fit, X, Y)

    def test_training_starts_at_the_weights_of_another_model(self, crf, tmp_path):
        first = CRF(c2=0.1, max_iterations=1, init=crf).fit(X, Y)
        cold = CRF(c2=0.1, max_iterations=1).fit(X, Y)
        losses = [c.training_log_.last_iteration["loss"] for c in (first, cold)]
        assert losses[0] < losses[1]
        crf._model.save(tmp_path / "a.model")
        of_file = CRF(c2=0.1, max_iterations=1, init=tmp_path / "a.model").fit(X, Y)
        assert of_file.state_features_ == first.state_features_
        copied = clone(CRF(c2=0.1, max_iterations=1, init=crf))
        assert copied.get_params()["init"] is crf._model
        assert copied.fit(X, Y).state_features_ == first.state_features_
        search = GridSearchCV(CRF(max_iterations=2, init=crf), {"c2": [0.1, 1]}, cv=2).fit(X, Y)
        assert search.best_estimator_.init is crf._model
        refused("as init; expected a Tagger", CRF(init=3).fit, X, Y, error=TypeError)
        refused("init is not fitted", CRF(init=CRF()).fit, X, Y, error=NotFittedError)
        assert not hasattr(crf, "partial_fit")
        with pytest.raises(AttributeError, match=r"expected CRF\(init=crf\).fit\(X, y\)"):
            crf.partial_fit(X, Y)

    def test_spans_have_probabilities(self):
        labels = [["B-PER" if label == Y[0][0] else "O" for label in labels] for labels in Y]
        crf = CRF(c2=0.1, max_iterations=20).fit(X, labels)
        found = crf.predict_spans(X_DEV, probability=True)
        assert [[*map(tuple, one)] for one in found] == [
            [*map(tuple, dropchain.spans(one))] for one in crf.predict(X_DEV)
        ]
        all_spans = [span for one in found for span in one]
        assert all(0 < span.probability <= 1 for span in all_spans)
        kept = crf.predict_spans(X_DEV, threshold={"PER": 0.9})
        sure = [span for span in all_spans if span.probability >= 0.9]
        assert [span for one in kept for span in one] == sure
        assert crf.predict_spans(X_DEV)[0] == dropchain.spans(crf.predict_single(X_DEV[0]))

    def test_threads_and_seeds(self):
        one, two = (CRF("l2sgd", max_iterations=3, n_jobs=n).fit(X, Y) for n in (1, 2))
        assert one.state_features_ == two.state_features_
        again = CRF("l2sgd", max_iterations=3, random_state=5).fit(X, Y)
        assert again.state_features_ != one.state_features_
        rng = np.random.RandomState(3)
        assert CRF("l2sgd", max_iterations=3, random_state=rng).fit(X, Y).classes_
        refused("n_jobs=0", CRF(n_jobs=0).fit, X, Y)
        refused("random_state=-1", CRF(random_state=-1).fit, X, Y)
        for wrong in ("x", 1.5, [1], np.random.default_rng(1)):
            with pytest.raises(ValueError, match="random_state=.*; expected None, an integer or"):
                CRF(random_state=wrong).fit(X, Y)

    def test_fitting_again_forgets_the_first_model(self):
        crf = CRF().fit([[["a"]]], [["X"]])
        assert crf.classes_ == ["X"] and ("a", "X") not in crf.transition_features_
        crf.fit([[["b"], ["c"]]], [["Y", "Z"]])
        assert crf.classes_ == ["Y", "Z"] and crf.predict_single([["b"]]) == ["Y"]
        assert set(crf.attributes_) == {"b", "c"}

    def test_item_sequences_and_arrays_are_sequences(self, crf):
        items = [pycrfsuite.ItemSequence(xseq) for xseq in X]
        labels = np.array(Y, dtype=object)
        found = CRF(c2=0.1, max_iterations=40).fit(items, labels)
        assert found.state_features_ == crf.state_features_
        assert found.predict(iter(items)).tolist() == crf.predict(np.array(X, object)).tolist()

    def test_trainers_may_be_extended(self):
        class Counting(LinePerIterationTrainer):
            appended = 0

            def append(self, xseq, yseq, group=0):
                Counting.appended += 1
                super().append(xseq, yseq, group)

        CRF(trainer_cls=Counting, max_iterations=2).fit(X, Y, X_DEV, Y_DEV)
        assert Counting.appended == len(X) + len(X_DEV)
        refused("trainer_cls", CRF(trainer_cls=dict).fit, X, Y, error=TypeError)

    @pytest.mark.skipif(os.name != "posix", reason="skipped: signals are of POSIX")
    def test_ctrl_c_leaves_the_model_so_far(self):
        # Of two labels for the same item one is always wrong: the perceptron never ends.
        crf = CRF("ap", max_iterations=2**31 - 1, epsilon=0.0)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(dropchain.Interrupted):
            crf.fit([X[0][:1]] * 4000, [["O"], ["B"]] * 2000)
        check_is_fitted(crf)
        assert crf.predict_single(X[0]) == pickle.loads(pickle.dumps(crf)).predict_single(X[0])


class TestMistakes:
    @pytest.mark.parametrize(
        ("x", "y", "error", "message"),
        [
            (X, Y[:-1], ValueError, "X has more sequences than y, which has 119"),
            (X[:-1], Y, ValueError, "y has more sequences than X, which has 119"),
            ([X[0], [["a"]]], [Y[0], ["O", "O"]], ValueError, r"\|X\[1\]\| = 1, \|y\[1\]\| = 2"),
            ([[["a"], 5]], [["O", "O"]], TypeError, r"X\[0\]\[1\]: found 5"),
            ([[{"a": float("nan")}]], [["O"]], ValueError, r"X\[0\]\[0\]: .*'a'.*NaN"),
            ([[["a"]]], [[3]], TypeError, r"y\[0\]\[0\]: found 3"),
            ([["a"]], [["O"]], ValueError, r"X\[0\]\[0\]: found 'a'"),
            (["a"], [["O"]], ValueError, r"X\[0\]: found 'a'"),
            ([], [], ValueError, "X has no sequences"),
            ([[]], [[]], ValueError, "they have no items"),
        ],
    )
    def test_of_fit(self, x, y, error, message):
        refused(message, CRF().fit, x, y, error=error)

    def test_of_dev_data(self):
        for dev in ({"X_dev": X}, {"y_dev": Y}):
            refused("only one of X_dev and y_dev", CRF().fit, X, Y, **dev)
        refused(r"y_dev\[0\]\[0\]: found 3", CRF().fit, X, Y, [[["a"]]], [[3]], error=TypeError)

    def test_of_parameters(self):
        refused("Parameter not found: c1", CRF("ap", c1=0.1).fit, X, Y)
        refused("foo", CRF("foo").fit, X, Y)

    def test_of_predict(self, crf):
        refused(r"X\[2\]\[0\]: found 5", crf.predict, [X[0], [], [5]])
        for call in (CRF().predict, CRF().predict_marginals, CRF().predict_single):
            refused("not fitted", call, X, error=NotFittedError)
        with pytest.raises(NotFittedError):
            check_is_fitted(CRF())


class TestModels:
    def test_pickles_have_the_model(self, crf, tmp_path):
        copy = pickle.loads(pickle.dumps(crf))
        assert copy.predict(X_DEV).tolist() == crf.predict(X_DEV).tolist()
        assert copy.training_log_.last_iteration == crf.training_log_.last_iteration
        path = tmp_path / "m"
        saved = CRF(c2=0.1, max_iterations=40, model_filename=str(path)).fit(X, Y)
        data = pickle.dumps(saved)
        opened = CRF(model_filename=path)
        check_is_fitted(opened)
        data_opened = pickle.dumps(opened)
        path.unlink()
        for contents in (data, data_opened):
            assert pickle.loads(contents).predict(X_DEV).tolist() == crf.predict(X_DEV).tolist()
        with pytest.raises(FileNotFoundError):
            CRF(model_filename=str(path)).predict(X)

    def test_unfitted_estimators_are_pickled_and_cloned(self, crf):
        assert pickle.loads(pickle.dumps(CRF(c1=0.5))).get_params()["c1"] == 0.5
        copy = clone(crf)
        assert copy.get_params() == crf.get_params() and copy.tagger_ is None

    def test_there_are_no_files(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr("tempfile.tempdir", None)
        monkeypatch.chdir(tmp_path)
        pickle.loads(pickle.dumps(CRF(keep_tempfiles=True).fit(X, Y))).predict(X)
        assert list(tmp_path.iterdir()) == []


class TestModelSelection:
    def test_searches_run_in_processes(self):
        search = RandomizedSearchCV(
            CRF(max_iterations=10),
            {"c1": [0.0, 0.05, 0.5], "c2": [0.01, 0.1], "dropout": [None, 0.2]},
            n_iter=4,
            cv=3,
            n_jobs=2,
            random_state=1,
            scoring=scorers.span_f1,
        )
        search.fit(X, Y)
        assert search.best_score_ > 0.5
        assert search.predict(X_DEV).tolist() == search.best_estimator_.predict(X_DEV).tolist()

    def test_grids_have_several_scores(self):
        scoring = {"items": scorers.flat_accuracy, "all": scorers.sequence_accuracy}
        search = GridSearchCV(
            CRF(), {"algorithm": ["ap", "arow"]}, cv=2, scoring=scoring, refit="items"
        ).fit(X, Y)
        assert search.cv_results_["mean_test_all"].min() > 0.2

    def test_scores_and_predictions_of_folds(self):
        scores = cross_val_score(CRF(max_iterations=5), X, Y, cv=4, n_jobs=2)
        assert len(scores) == 4 and scores.min() > 0.6
        predicted = cross_val_predict(CRF(max_iterations=5), X, np.array(Y, object), cv=4)
        assert metrics.flat_accuracy_score(Y, predicted) > 0.6

    def test_dev_data_are_routed(self):
        with sklearn.config_context(enable_metadata_routing=True):
            crf = CRF(max_iterations=5).set_fit_request(X_unlabeled=True)
            routing = crf.get_metadata_routing()
            assert routing.fit.requests == {
                "X_dev": None, "y_dev": None, "X_unlabeled": True,
            }  # fmt: skip

    @pytest.mark.skipif(
        "fork" not in multiprocessing.get_all_start_methods(), reason="skipped: no fork"
    )
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_forked_processes_fit_and_predict(self, crf):
        crf.predict(X)  # starts threads, which a fork does not have
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(_fit_and_predict, [crf] * 4).get(timeout=120)
        assert found == [crf.predict(X_DEV).tolist()] * 4


def _fit_and_predict(crf):
    clone(crf).fit(X[:20], Y[:20])
    return crf.predict(X_DEV).tolist()


#: Checks of scikit-learn that make no arrays: the others pass arrays of two dimensions as X or
#: numbers as y, where this estimator needs sequences of features and of strings.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", CHECKS)
def test_checks_of_scikit_learn_pass(name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"skipped: this version of scikit-learn has no {name}")
    check("CRF", CRF())


class TestMetrics:
    TRUE = [["B-PER", "I-PER", "O"], ["O", "B-LOC"], ["B-PER"]]
    FOUND = [["B-PER", "I-PER", "O"], ["O", "O"], ["B-LOC"]]

    def test_of_items(self):
        assert metrics.flat_accuracy_score(self.TRUE, self.FOUND) == 4 / 6
        assert metrics.flat_precision_score(self.TRUE, self.FOUND, average="micro") == 4 / 6
        report = metrics.flat_classification_report(self.TRUE, self.FOUND, zero_division=0)
        assert "I-PER" in report
        only = metrics.flat_classification_report(
            self.TRUE, self.FOUND, labels=["I-PER"], zero_division=0
        )
        assert "I-PER" in only and "B-LOC" not in only

    def test_of_spans(self):
        assert metrics.span_precision_score(self.TRUE, self.FOUND) == 0.5
        assert metrics.span_recall_score(self.TRUE, self.FOUND) == pytest.approx(1 / 3)
        assert metrics.span_f1_score(self.TRUE, self.FOUND) == pytest.approx(0.4)
        assert "PER" in metrics.span_report(self.TRUE, np.array(self.FOUND, dtype=object))

    def test_of_sequences(self):
        assert metrics.sequence_accuracy_score(self.TRUE, self.FOUND) == 1 / 3
        # sklearn-crfsuite counts items here, since numpy makes one array of the sequences.
        assert metrics.sequence_accuracy_score([["a", "b"]] * 2, [["a", "b"], ["a", "c"]]) == 0.5

    def test_lengths_are_checked(self):
        for score in (metrics.flat_accuracy_score, metrics.span_f1_score):
            refused("y_true has 1 sequences, y_pred 2", score, [["O"]], [["O"], ["O"]])
            refused(r"y_true\[0\] has 1 labels, y_pred\[0\] 2", score, [["O"]], [["O", "O"]])
        refused("y_true has 0", metrics.sequence_accuracy_score, [], [["O"]])
