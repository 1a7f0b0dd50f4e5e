"""dropchain.pycrfsuite: what python-crfsuite's own tests do not ask."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from crf_data import corpus
from refusals import refused

import dropchain
from dropchain import pycrfsuite

X, Y = corpus(120)
ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]


def trained(path="", algorithm="lbfgs", params=None, module=pycrfsuite, holdout=-1, data=(X, Y)):
    trainer = module.Trainer(algorithm, params, verbose=False)
    for i, (items, labels) in enumerate(zip(*data)):
        trainer.append(items, labels, int(i % 4 == 3))
    trainer.train(str(path), holdout)
    return trainer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "lbfgs.model"
    trained(path)
    return path


@pytest.fixture
def tagger(model):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger


class TestAgainstPythonCrfsuite:
    """The same data and parameters in both."""

    @pytest.fixture(autouse=True)
    def real(self):
        return pytest.importorskip("pycrfsuite", reason="skipped: no python-crfsuite")

    @pytest.mark.parametrize(
        "params",
        [
            {},
            {"c2": 0.1, "max_iterations": 12},
            {"c1": 0.07, "c2": 0.01},
            {"feature.minfreq": 3, "c2": 0.5},
            {"feature.possible_states": True, "feature.possible_transitions": True},
            {"feature.possible_transitions": True, "feature.minfreq": 0.5},
        ],
        ids=str,
    )
    def test_lbfgs_takes_the_same_way(self, real, tmp_path, params):
        logs, infos, tags = [], [], []
        for module in (real, pycrfsuite):
            path = tmp_path / module.__name__
            log = trained(path, "lbfgs", params, module, holdout=1).logparser
            tagger = module.Tagger()
            tagger.open(str(path))
            logs.append(log)
            infos.append(tagger.info())
            tags.append([tagger.tag(items) for items in X])
        theirs, ours = logs
        # An attribute that is never anything but 0 is no feature here.
        assert 0 <= theirs.featgen_num_features - ours.featgen_num_features <= 1
        # Cubic interpolation between steps is not that of Moré and Thuente to the last digit.
        exact = 10
        if "c1" not in params:
            trials = [iteration["linesearch_trials"] for iteration in theirs.iterations]
            exact = next((i for i, n in enumerate(trials[:10]) if n > 1), 10)
        assert exact >= 3
        assert abs(len(ours.iterations) - len(theirs.iterations)) <= 2
        shown = ["loss", "feature_norm", "error_norm", "linesearch_step"]
        for a, b in zip(theirs.iterations[:exact], ours.iterations):
            assert [b[name] for name in shown] == pytest.approx(
                [a[name] for name in shown], rel=1e-4, abs=2e-6
            )
            for name in ("num", "active_features", "linesearch_trials", "scores", "avg_f1"):
                assert a[name] == b[name], name
            for name in ("item_accuracy", "instance_accuracy"):
                assert a[name] == b[name], name
        assert ours.last_iteration["loss"] == pytest.approx(theirs.last_iteration["loss"], rel=1e-4)
        theirs, ours = infos
        assert list(ours.labels.items()) == list(theirs.labels.items())
        for name in ("transitions", "state_features"):
            a, b = getattr(theirs, name), getattr(ours, name)
            large = {key for key, weight in a.items() if abs(weight) > 0.05}
            assert large and large <= set(b)
            for key in set(a) | set(b):
                assert b.get(key, 0) == pytest.approx(a.get(key, 0), abs=0.02), key
        assert tags[0] == tags[1]

    @pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
    def test_online_learners_agree_up_to_the_order_of_sentences(self, real, tmp_path, algorithm):
        params = {"max_iterations": 30}
        losses, predicted = [], []
        for module in (real, pycrfsuite):
            path = tmp_path / module.__name__
            log = trained(path, algorithm, params, module, holdout=1).logparser
            losses.append([iteration["loss"] for iteration in log.iterations])
            tagger = module.Tagger()
            tagger.open(str(path))
            predicted.append([label for items in X for label in tagger.tag(items)])
        assert abs(len(losses[0]) - len(losses[1])) <= (0 if algorithm != "arow" else 30)
        assert losses[1][0] == pytest.approx(losses[0][0], rel=0.5)
        same = sum(a == b for a, b in zip(*predicted))
        assert same > 0.98 * len(predicted[0])

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_logs_have_the_same_lines(self, real, tmp_path, algorithm):
        def kinds(module):
            class Recorder(module.BaseTrainer):
                def message(self, message):
                    self.messages.append(message)

            # Beyond its period, l2sgd logs the improvement; arow may end after a few.
            limit = 12 if algorithm == "l2sgd" else 2
            recorder = Recorder(algorithm, {"max_iterations": limit})
            recorder.messages = []
            for i, (items, labels) in enumerate(zip(X, Y)):
                recorder.append(items, labels, int(i % 4 == 3))
            recorder.train(str(tmp_path / "model"), holdout=1)
            log = "".join(recorder.messages).split("\n")
            # Numbers and trials of the learning rate differ.
            log = [line for line in log if not line.startswith("Trial #")]
            return [re.sub(r"-?\d+", "0", line) for line in log]

        assert kinds(pycrfsuite) == kinds(real)

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_parameters_have_the_same_names_types_and_defaults(self, real, algorithm):
        theirs, ours = real.Trainer(algorithm), pycrfsuite.Trainer(algorithm)
        assert ours.params() == theirs.params()
        for name, value in theirs.get_params().items():
            assert ours.get(name) == value and type(ours.get(name)) is type(value), name
            assert ours.help(name)
        for name, value in {"feature.minfreq": "2.5", "max_iterations": "7"}.items():
            theirs.set(name, value)
            ours.set(name, value)
        assert ours.get_params() == theirs.get_params()

    def test_models_of_crfsuite_are_opened(self, real, tmp_path):
        trained(tmp_path / "real", module=real)
        taggers = [real.Tagger(), pycrfsuite.Tagger(), pycrfsuite.Tagger()]
        for tagger in taggers[:2]:
            tagger.open(str(tmp_path / "real"))
        taggers[2].open_inmemory((tmp_path / "real").read_bytes())
        for items in X[:20]:
            labels = [tagger.tag(items) for tagger in taggers]
            assert labels[0] == labels[1] == labels[2]
            probabilities = [tagger.probability(labels[0]) for tagger in taggers]
            assert probabilities[1:] == pytest.approx([probabilities[0]] * 2, rel=1e-9)
            marginals = [tagger.marginal("O", len(items) - 1) for tagger in taggers]
            assert marginals[1:] == pytest.approx([marginals[0]] * 2, rel=1e-9)
        theirs, *ours = [tagger.info() for tagger in taggers]
        for info in ours:
            assert info.header == theirs.header
            assert info.labels == theirs.labels and info.attributes == theirs.attributes
            assert info.state_features == pytest.approx(theirs.state_features, abs=1e-6)
            assert info.transitions == pytest.approx(theirs.transitions, abs=1e-6)


class TestTraining:
    def test_held_out_data_change_nothing_and_their_labels_are_in_the_model(self, tmp_path):
        kept = [i for i in range(len(X)) if i % 4 != 3]
        items, labels = [X[i] for i in kept], [Y[i] for i in kept]
        trainer = pycrfsuite.Trainer(verbose=False)
        for xseq, yseq in zip(items, labels):
            trainer.append(xseq, yseq)
        trainer.train(str(tmp_path / "alone"))
        trainer.append([["new"]], ["B-NEW"], 1)
        trainer.append([["new"]], ["B-PER"], 2)
        trainer.clear()
        for xseq, yseq in zip(items, labels):
            trainer.append(xseq, yseq, 5)
        trainer.append([["new"], ["new"]], ["B-PER", "O"], 1)
        trainer.train(str(tmp_path / "held"), holdout=1)
        # What was held out is in the record alone.
        infos = []
        for name in ("alone", "held"):
            tagger = pycrfsuite.Tagger()
            tagger.open(str(tmp_path / name))
            infos.append(tagger.info())
        alone, held = infos
        assert alone.state_features == held.state_features != {}
        assert alone.transitions == held.transitions
        assert trainer.logparser.last_iteration["item_accuracy"].denominator in (1, 2)
        trainer.append([["new"]], ["B-NEW"], 1)
        trainer.train(str(tmp_path / "held"), holdout=1)
        tagger = pycrfsuite.Tagger()
        tagger.open(tmp_path / "held")
        assert tagger.labels()[-1] == "B-NEW"
        assert "B-NEW" in trainer.logparser.last_iteration["scores"]

    def test_without_data_no_model_is_written(self, tmp_path):
        for algorithm in ALGORITHMS:
            trainer = pycrfsuite.Trainer(algorithm, verbose=False)
            with pytest.warns(UserWarning, match="no training data"):
                trainer.train(str(tmp_path / "m"))
            trainer.append([], [])
            trainer.append([["a"]], ["X"], 3)
            with pytest.warns(UserWarning, match="no training data"):
                trainer.train(str(tmp_path / "m"), holdout=3)
        assert not (tmp_path / "m").exists()

    def test_an_empty_path_writes_nothing(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert trained("").logparser.iterations
        assert os.listdir() == []

    def test_a_model_that_cannot_be_written_is_an_error(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            trained(tmp_path / "missing" / "m")
        path = tmp_path / "m"
        path.write_bytes(b"old")
        trained(path)
        assert pycrfsuite.Tagger().open(path)
        assert os.listdir(tmp_path) == ["m"]

    def test_an_exception_of_a_callback_ends_training(self, tmp_path):
        class Stop(Exception):
            pass

        class Stopping(pycrfsuite.Trainer):
            seen = 0

            def on_iteration(self, log, info):
                self.seen += 1
                if info["num"] == 3:
                    raise Stop(info["num"])

        trainer = Stopping()
        trainer.append(X[0], Y[0])
        refused("3", trainer.train, str(tmp_path / "m"), error=Stop)
        assert trainer.seen == 3 and not (tmp_path / "m").exists()
        trainer.append(X[1], Y[1])  # in use no longer
        with pytest.raises(Stop):
            trainer.train(str(tmp_path / "m"))

    def test_events_have_the_log_between_them(self, capsys):
        trainer = pycrfsuite.Trainer(params={"max_iterations": 2})
        trainer.append(X[0], Y[0])
        trainer.train("")
        printed = capsys.readouterr().out
        parser = trainer.logparser
        assert "".join(parser.log) == printed
        assert [event for event, _, _ in parser.events if event != "featgen_progress"] == [
            "start", "featgen_end", "prepared", "iteration", "iteration", "optimization_end",
        ]  # fmt: skip
        assert parser.featgen_percent == 100
        assert "***** Iteration #2 *****" in printed

    def test_extensions_regularize(self):
        def loss(**extensions):
            trainer = pycrfsuite.Trainer(params={"c2": 0.01}, verbose=False)
            trainer.extensions.update(extensions)
            for items, labels in zip(X, Y):
                trainer.append(items, labels)
            trainer.train("")
            return trainer.logparser.last_iteration["loss"]

        assert loss(dropout=0.5, edge_dropout=0.5) > 1.2 * loss()
        assert loss(plain=False) == pytest.approx(loss(), rel=1e-3)
        refused("drop_out", loss, drop_out=0.5)
        refused("dropout 1.5; expected a rate", loss, dropout=1.5)

    def test_training_many_times_leaks_nothing(self):
        code = (
            "import resource, gc\n"
            "from dropchain import pycrfsuite\n"
            "def run(n):\n"
            "    for _ in range(n):\n"
            "        t = pycrfsuite.Trainer('ap', {'max_iterations': 2}, verbose=False)\n"
            "        for _ in range(30):\n"
            "            t.append([{'a': 'x' * 50, 'b': str(i)} for i in range(40)], ['L'] * 40)\n"
            "        t.train('')\n"
            "    gc.collect()\n"
            "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "run(30); before = run(20); after = run(300)\n"
            "print(after - before)\n"
        )
        pytest.importorskip("resource", reason="skipped: no getrusage")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        kilobytes = int(run.stdout) / (1024 if sys.platform == "darwin" else 1)
        assert kilobytes < 4000


class TestInterruption:
    @pytest.mark.skipif(os.name != "posix", reason="skipped: signals are of POSIX")
    def test_ctrl_c_saves_the_model_so_far(self, tmp_path):
        press = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

        class PressedDuringTraining(pycrfsuite.Trainer):
            def message(self, message):
                if message.startswith("***** Iteration #1 "):
                    press.start()

        # Of two labels for the same item one is always wrong: the perceptron never ends.
        trainer = PressedDuringTraining("ap", {"max_iterations": 2**31 - 1, "epsilon": 0.0})
        for label in ["O", "B"] * 2000:
            trainer.append(X[0][:1], [label])
        with pytest.raises(dropchain.Interrupted) as caught:
            trainer.train(str(tmp_path / "m"))
        assert isinstance(caught.value, KeyboardInterrupt)
        tagger = pycrfsuite.Tagger()
        tagger.open(tmp_path / "m")
        assert caught.value.result.tag(X[0]) == tagger.tag(X[0])

    def test_keyboard_interrupt_in_a_callback(self, tmp_path):
        class Interrupting(pycrfsuite.Trainer):
            def on_iteration(self, log, info):
                raise KeyboardInterrupt

        trainer = Interrupting()
        trainer.append(X[0], Y[0])
        with pytest.raises(dropchain.Interrupted, match="the model so far is in"):
            trainer.train(str(tmp_path / "m"))
        assert (tmp_path / "m").exists()


class TestMistakes:
    """Exceptions have the types of python-crfsuite."""

    @pytest.mark.parametrize(
        ("xseq", "yseq", "error", "message"),
        [
            ([["a"]], ["X", "Y"], ValueError, r"differ: \|xseq\| = 1, \|yseq\| = 2"),
            ([["a"], ["b"]], ["X"], ValueError, r"differ: \|xseq\| = 2, \|yseq\| = 1"),
            ([["a"], ["b"]], ["X", 5], TypeError, r"yseq\[1\]: found 5 \(int\) as a label"),
            ([["a"]], [None], TypeError, r"yseq\[0\]: found None"),
            ([["a"]], 5, TypeError, r"yseq: found 5 \(int\) as labels"),
            ([["a"]], [""], ValueError, r"yseq\[0\]: .*empty"),
            ("ab", ["X", "Y"], ValueError, "xseq: found 'ab'"),
            (["a"], ["X"], ValueError, r"xseq\[0\]: found 'a' \(str\)"),
            (7, ["X"], TypeError, r"xseq: found 7 \(int\)"),
            ([7], ["X"], TypeError, r"xseq\[0\]: found 7 \(int\)"),
            ([["a"], [["b"]]], ["X", "Y"], TypeError, r"xseq\[1\]: found \['b'\] \(list\)"),
            ([["a", None]], ["X"], TypeError, r"xseq\[0\]: found None"),
            ([[("a", 1.0)]], ["X"], TypeError, r"xseq\[0\]: found \('a', 1.0\) \(tuple\)"),
            ([{"a": None}], ["X"], TypeError, r"xseq\[0\]: found None .* feature 'a'"),
            ([{5: 1.0}], ["X"], TypeError, r"xseq\[0\]: found 5"),
            ([{"a": 1.0}, {"b": float("nan")}], ["X", "Y"], ValueError, r"xseq\[1\]: .*'b'.*NaN"),
            ([{"a": float("-inf")}], ["X"], ValueError, r"xseq\[0\]: .*'a'.*inf"),
            ([[""]], ["X"], ValueError, r"xseq\[0\]: an attribute has no name"),
        ],
    )
    def test_of_append(self, xseq, yseq, error, message):
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.append([["good"]], ["O"])
        refused(message, trainer.append, xseq, yseq, error=error)
        trainer.append([["good"]], ["O"])
        trainer.train("")
        assert trainer._instances == 2

    def test_of_taggers(self, tagger):
        refused(r"xseq\[1\]: .*NaN", tagger.tag, [["a"], {"b": float("nan")}])
        for bad in (5, [5], [[5]], [{"a": None}], [{5: 1.0}], [[("a", 1.0)]]):
            for call in (tagger.tag, tagger.set, pycrfsuite.ItemSequence):
                refused("found", call, bad)
        refused("found", tagger.tag, "abc")
        assert tagger.tag([]) == [] and tagger.probability([]) == 0 and tagger.marginal("O", 0) == 0
        tagger.set(X[0])
        labels = tagger.tag()
        assert 0 < tagger.probability(labels) <= 1
        assert sum(tagger.marginal(label, 0) for label in tagger.labels()) == pytest.approx(1)
        refused(r"differ: \|xseq\| = \d+, \|yseq\| = 99", tagger.probability, ["O"] * 99)
        with pytest.raises(RuntimeError, match=r"yseq\[0\]: the label 'NEW' is unknown"):
            tagger.probability(["NEW"] * len(labels))
        refused(r"yseq\[0\]: found 1 ", tagger.probability, [1], error=TypeError)
        refused("the label 'NEW' is unknown", tagger.marginal, "NEW", 0, error=RuntimeError)
        for position in (-1, len(labels)):
            refused(f"The position, {position}, is out of range", tagger.marginal, "O", position)
        with pytest.raises(TypeError):
            tagger.marginal("O", "0")

    def test_of_closed_taggers(self, tagger, tmp_path):
        tagger.tag(X[0])
        tagger.close()
        tagger.close()
        for call in (
            tagger.labels,
            tagger.tag,
            lambda: tagger.tag(X[0]),
            lambda: tagger.set(X[0]),
            lambda: tagger.probability(["O"]),
            lambda: tagger.marginal("O", 0),
        ):
            refused("not opened", call)
        for call in (tagger.info, tagger.dump, lambda: tagger.dump(tmp_path / "dump")):
            refused("closed", call, error=RuntimeError)

    def test_of_files(self, model, tmp_path):
        tagger = pycrfsuite.Tagger()
        refused("missing", tagger.open, str(tmp_path / "missing"), error=FileNotFoundError)
        with pytest.raises(TypeError):
            tagger.open(5.0)
        refused("bytearray", tagger.open_inmemory, bytearray(b"lCRF"), error=TypeError)
        contents = model.read_bytes()
        for damaged in (b"", b"lCRF", b"lCRF" * 99, contents[:100], contents[: len(contents) // 2]):
            (tmp_path / "damaged").write_bytes(damaged)
            with pytest.raises(ValueError):
                tagger.open(str(tmp_path / "damaged"))
            with pytest.raises(ValueError):
                tagger.open_inmemory(damaged)
        tagger.open(os.fsencode(model))
        assert tagger.labels()

    def test_of_parameters(self):
        trainer = pycrfsuite.Trainer()
        for name, value in (
            ("c3", 1),
            ("c2", "strong"),
            ("c2", float("nan")),
            ("max_iterations", 1.5),
            ("linesearch", "Wolfe"),
            ("calibration.eta", 1),
        ):
            refused(name, trainer.set, name, value)
        refused("lbfgs has", trainer.get, "type")
        refused("sgd", trainer.select, "sgd")
        refused("crf2d", trainer.select, "lbfgs", "crf2d")
        trainer.append([["a"]], ["X"])
        trainer.set("num_memories", 0)
        message = "num_memories 0: dropchain has no such parameter; expected 6"
        refused(message, trainer.train, "")
        trainer.select("pa")
        trainer.set("c", -1)
        refused("aggressiveness -1", trainer.train, "")

    def test_of_pickling(self, tagger):
        for thing in (pycrfsuite.Trainer(), tagger, pycrfsuite.ItemSequence([["a"]])):
            refused("pickle", pickle.dumps, thing, error=TypeError)
            refused("pickle", copy.copy, thing, error=TypeError)

    def test_of_features_that_call_back(self):
        trainer = pycrfsuite.Trainer(verbose=False)

        def items():
            yield ["a"]
            trainer.append([["b"]], ["X"])

        refused("in use", trainer.append, items(), ["X", "X"], error=RuntimeError)
        trainer.append([["b"]], ["X"])
        assert trainer._instances == 1


class TestTagger:
    def test_info_and_dump_agree(self, tagger, tmp_path, capsys):
        from dropchain.pycrfsuite._dumpparser import CRFsuiteDumpParser

        info = tagger.info()
        path = tmp_path / "dump"
        path.write_bytes(b"x" * 1_000_000)
        tagger.dump(path)
        tagger.dump()
        assert capsys.readouterr().out == path.read_text(encoding="utf-8")
        parser = CRFsuiteDumpParser()
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            parser.feed(line)
        assert parser.result.header == info.header
        assert parser.result.labels == info.labels
        assert parser.result.attributes == info.attributes
        assert parser.result.transitions == pytest.approx(info.transitions, abs=1e-6)
        assert parser.result.state_features == pytest.approx(info.state_features, abs=1e-6)
        assert int(info.header["num_attrs"]) == len(info.attributes) > 50
        assert int(info.header["num_features"]) == len(info.transitions) + len(info.state_features)

    def test_sequences_are_remembered(self, tagger):
        labels = tagger.tag(X[0])
        assert tagger.tag() == labels
        first = tagger.probability(labels)
        tagger.set(X[1])
        assert tagger.tag() == tagger.tag(pycrfsuite.ItemSequence(X[1])) != labels
        tagger.set(X[0])
        assert tagger.probability(labels) == first

    def test_decoding_has_no_constraints(self):
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.append([["a"], ["b"], ["a"]], ["O", "I-X", "O"])
        trainer.append([["c"], ["d"]], ["B-X", "I-X"])
        model = trainer._train_model("")
        tagger = pycrfsuite.Tagger()._open_trained(model)
        assert tagger.tag([["a"], ["b"], ["a"]]) == ["O", "I-X", "O"]

    def test_context_managers_close(self, model):
        with pycrfsuite.Tagger() as tagger:
            tagger.open(model)
            assert tagger.labels()
        with pytest.raises(ValueError):
            tagger.labels()

    def test_opening_another_model_forgets_the_sequence(self, tagger, model):
        tagger.tag(X[0])
        tagger.open(model)
        assert tagger.tag() == []


class TestThreads:
    def test_threads_share_a_tagger(self, tagger):
        expected = [tagger.tag(items) for items in X]
        wrong = []

        def work():
            for _ in range(20):
                found = [tagger.tag(items) for items in X]
                tagger.set(X[0])
                tagger.marginal("O", 0)
                wrong.extend(i for i, labels in enumerate(found) if labels != expected[i])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_threads_append_to_a_trainer(self):
        trainer = pycrfsuite.Trainer(verbose=False)

        def items():  # runs Python code, so that threads take turns in the middle
            for item in X[0]:
                yield dict(item)
                time.sleep(0)

        def work():
            for _ in range(50):
                trainer.append(items(), Y[0])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert trainer._instances == 200

    def test_appending_while_training_is_an_error(self):
        errors = []

        class Appending(pycrfsuite.Trainer):
            def on_iteration(self, log, info):
                for call in (lambda: self.append([["a"]], ["X"]), self.clear):
                    try:
                        call()
                    except RuntimeError as error:
                        errors.append(str(error))

        trainer = Appending(params={"max_iterations": 1})
        trainer.append(X[0], Y[0])
        trainer.train("")
        assert len(errors) == 2 and all("in use" in error for error in errors)
        assert trainer._instances == 1


def test_item_sequences_are_sequences_of_attributes():
    items = pycrfsuite.ItemSequence(iter([["a", "b"], {"c": {"d": 2}, "e": "f", "g": True}]))
    assert items.items() == [{"a": 1, "b": 1}, {"c:d": 2, "e:f": 1, "g": 1}]
    assert len(items) == 2 and repr(items) == "<ItemSequence of size 2>"
    assert pycrfsuite.ItemSequence(items).items() == items.items()
    refused(r"pyseq\[0\]: .*NaN or infinity", pycrfsuite.ItemSequence, [{"a": float("inf")}])
    gc.collect()


def test_the_error_of_crfsuite_has_its_code():
    error = pycrfsuite.CRFSuiteError(0x80000001)
    assert error.code == 0x80000001 and "memory" in str(error)
