"""The log of CRFsuite, written from the events of training."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dropchain.pycrfsuite._logparser import LabelScore

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}

#: The parameters of L-BFGS in the order of the log, and their names there where they differ.
_LBFGS = ("c1", "c2", "num_memories", "max_iterations", "epsilon", "period", "delta", "linesearch",
          "max_linesearch")  # fmt: skip
_LBFGS_NAMES = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}

#: How L-BFGS ends: among others with an error code of liblbfgs.
_LBFGS_ENDS = {
    "gradient": "resulted in convergence",
    "improvement": "terminated with the stopping criteria",
    "patience": "terminated with the stopping criteria",
    "max_iterations": "terminated with the maximum number of iterations",
    "line_search": "terminated with error code (-1001)",
    "interrupted": "terminated with error code (-1021)",
    "non_finite": "terminated with error code (-1001)",
    "no_features": "terminated with error code (-1020)",
    "at_minimum": "terminated with error code (2)",
}


def _shown(value: object) -> str:
    return f"{value:f}" if isinstance(value, float) else str(value)


class MessageWriter:
    """Sends the messages of a training run, as CRFsuite words them, and after those of an event
    its name and numbers to `happened`."""

    def __init__(
        self,
        send: Callable[[str], None],
        happened: Callable[..., None],
        algorithm: str,
        parameters: Mapping[str, Any],
        holdout: int,
        instances: int,
    ) -> None:
        self._send = send
        self._happened = happened
        self._algorithm = algorithm
        self._parameters = parameters
        self._holdout = holdout
        self._instances = instances
        self._sizes = {"weights": 0, "attributes": 0}
        self._losses: list[float] = []
        self._evaluations = 1
        self._begun = self._started = self._iterated = time.perf_counter()

    def _write(self, *lines: str) -> None:
        for line in lines:
            self._send(line + "\n")

    def _progress(self, text: str) -> None:
        self._send(text)
        self._happened("featgen_progress")

    def begin(self) -> None:
        """Writes what precedes training."""
        first, *others = [f"Holdout group: {self._holdout + 1}", ""] * (self._holdout >= 0) + [
            "Feature generation",
            "type: CRF1d",
        ]
        self._write(first)
        self._happened("start")
        self._write(*others)
        for name, value in self._parameters.items():
            if name.startswith("feature."):
                self._write(f"{name}: {_shown(value)}")
        self._progress("0")

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Writes what belongs to an event of training."""
        getattr(self, "_on_" + kind)(fields)

    def without_data(self) -> None:
        """Writes the log of training without any instance."""
        self.begin()
        self._on_start(self._sizes)
        self._on_end({"reason": "no_features"})

    def _on_start(self, fields: Mapping[str, Any]) -> None:
        for percent in range(2, 101, 2):
            self._progress("." if percent % 10 else str(percent // 10))
        self._sizes = dict(fields)
        self._started = self._iterated = time.perf_counter()
        seconds = self._started - self._begun
        features = fields["weights"]
        self._write("", f"Number of features: {features}", f"Seconds required: {seconds:.3f}")
        self._happened("featgen_end", (features, seconds))
        self._write("", _TITLES[self._algorithm])
        if self._algorithm == "lbfgs":
            logged = [(_LBFGS_NAMES.get(name, name), name) for name in _LBFGS]
        else:
            own = (n for n in self._parameters if not n.startswith(("feature.", "calibration.")))
            logged = [(name, name) for name in own]
        self._write(*(f"{shown}: {_shown(self._parameters[name])}" for shown, name in logged), "")

    def _on_calibration(self, fields: Mapping[str, Any]) -> None:
        self._write("Calibrating the learning rate (eta)")
        for name in ("eta", "rate", "samples", "candidates", "max_trials"):
            value = self._parameters["calibration." + name]
            value = fields["sentences"] if name == "samples" else value
            self._write(f"calibration.{name}: {_shown(value)}")
        initial = fields["initial"]
        self._write(f"Initial loss: {initial:f}")
        for number, (rate, loss) in enumerate(fields["trials"], 1):
            self._send(f"Trial #{number} (eta = {rate:f}): ")
            self._write(f"{loss:f}" if loss < initial else f"{loss:f} (worse)")
        self._iterated = time.perf_counter()
        seconds = self._iterated - self._started
        self._write(f"Best learning rate (eta): {fields['rate']:f}")
        self._write(f"Seconds required: {seconds:.3f}", "")

    def _on_iteration(self, fields: Mapping[str, Any]) -> None:
        if not self._losses:
            self._happened("prepared")
        now = time.perf_counter()
        seconds, self._iterated = now - self._iterated, now
        number, loss, norm = fields["number"], fields["loss"], fields["weight_norm"]
        info = {"num": number, "scores": {}, "loss": loss, "feature_norm": norm, "time": seconds}
        unit = "Epoch" if self._algorithm == "l2sgd" else "Iteration"
        self._write(f"***** {unit} #{number} *****", f"Loss: {loss:f}")
        if self._algorithm == "l2sgd":
            period = self._parameters["period"]
            if number > period:
                ratio = (self._losses[-period] - loss) / loss
                self._write(f"Improvement ratio: {ratio:f}")
            self._write(
                f"Feature L2-norm: {norm:f}",
                f"Learning rate (eta): {fields['learning_rate']:f}",
                f"Total number of feature updates: {number * self._instances}",
            )
        else:
            self._write(f"Feature norm: {norm:f}")
        if self._algorithm == "lbfgs":
            trials = fields["evaluations"] - self._evaluations
            self._evaluations = fields["evaluations"]
            info["error_norm"] = fields["gradient_norm"]
            info["active_features"] = fields["nonzero"]
            info["linesearch_trials"] = trials
            info["linesearch_step"] = fields["step"]
            self._write(
                f"Error norm: {fields['gradient_norm']:f}",
                f"Active features: {fields['nonzero']}",
                f"Line search trials: {trials}",
                f"Line search step: {fields['step']:f}",
            )
        self._losses.append(loss)
        self._write(f"Seconds required for this iteration: {seconds:.3f}")
        if "label_scores" in fields:
            self._write_scores(fields["label_scores"], fields["sentences"], info)
        self._write("")
        self._happened("iteration", info)

    def _write_scores(
        self,
        labels: list[tuple[str, int, int, int]],
        sentences: tuple[int, int],
        info: dict[str, Any],
    ) -> None:
        self._write("Performance by label (#match, #model, #ref) (precision, recall, F1):")
        sums = [0.0, 0.0, 0.0]
        for name, match, model, gold in labels:
            shown, numbers = "******, ******, ******", (None, None, None)
            if gold:
                precision = match / model if model else 0.0
                recall = match / gold
                f1 = 2 * precision * recall / (precision + recall) if match else 0.0
                sums = [s + x for s, x in zip(sums, (precision, recall, f1), strict=True)]
                shown = f"{precision:.4f}, {recall:.4f}, {f1:.4f}"
                numbers = tuple(round(x, 4) for x in (precision, recall, f1))
            info["scores"][name] = LabelScore(match, model, gold, *numbers)
            self._write(f"    {name}: ({match}, {model}, {gold}) ({shown})")
        means = [round(total / len(labels), 6) for total in sums]
        info["avg_precision"], info["avg_recall"], info["avg_f1"] = means
        shown = ", ".join(f"{mean:f}" for mean in means)
        self._write(f"Macro-average precision, recall, F1: ({shown})")
        items = sum(match for _, match, _, _ in labels), sum(gold for *_, gold in labels)
        for kind, (correct, total) in (("Item", items), ("Instance", sentences)):
            accuracy = Fraction(correct, total or 1)
            key = kind.lower() + "_accuracy"
            info[key], info[key + "_float"] = accuracy, float(accuracy)
            self._write(f"{kind} accuracy: {correct} / {total} ({float(accuracy):.4f})")

    def _on_end(self, fields: Mapping[str, Any]) -> None:
        reason = fields["reason"]
        if self._algorithm == "lbfgs":
            if reason == "gradient" and not self._losses:
                reason = "at_minimum"
            self._write("L-BFGS " + _LBFGS_ENDS[reason])
            if not self._losses:
                self._happened("prepare_error")
        elif reason == "no_features":
            pass
        elif self._algorithm == "l2sgd":
            is_limit = reason == "max_iterations"
            criterion = "maximum number of iterations" if is_limit else "stopping criteria"
            loss = min(self._losses, default=0.0)
            self._write(f"SGD terminated with the {criterion}", f"Loss: {loss:f}")
        elif reason in ("loss", "patience"):
            self._write("Terminated with the stopping criterion", "")
        seconds = time.perf_counter() - self._started
        self._write(f"Total seconds required for training: {seconds:.3f}", "")
        self._happened("optimization_end", seconds)

    def begin_storing(self, weights: int, attributes: int, labels: int) -> None:
        """Writes what precedes the model file."""
        self._begun = time.perf_counter()
        self._write(
            "Storing the model",
            f"Number of active features: {weights} ({self._sizes['weights']})",
            f"Number of active attributes: {attributes} ({self._sizes['attributes']})",
            f"Number of active labels: {labels} ({labels})",
        )

    def end_storing(self) -> None:
        """Writes what follows the model file."""
        for what in ("labels", "attributes", "feature references for transitions",
                     "feature references for attributes"):  # fmt: skip
            self._write("Writing " + what)
        seconds = time.perf_counter() - self._begun
        self._write(f"Seconds required: {seconds:.3f}", "")
        self._happened("end", seconds)
