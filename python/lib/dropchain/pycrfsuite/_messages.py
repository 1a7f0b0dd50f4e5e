"""The log of CRFsuite, written from the events of training."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}

#: Parameters in the log: names there, and in `set` where they differ.
_LOGGED = {
    "lbfgs": [
        ("c1", "c1"),
        ("c2", "c2"),
        ("num_memories", "num_memories"),
        ("max_iterations", "max_iterations"),
        ("epsilon", "epsilon"),
        ("stop", "period"),
        ("delta", "delta"),
        ("linesearch", "linesearch"),
        ("linesearch.max_iterations", "max_linesearch"),
    ],
    "l2sgd": [(name, name) for name in ("c2", "max_iterations", "period", "delta")],
    "averaged-perceptron": [(name, name) for name in ("max_iterations", "epsilon")],
    "passive-aggressive": [
        (name, name)
        for name in ("type", "c", "error_sensitive", "averaging", "max_iterations", "epsilon")
    ],
    "arow": [(name, name) for name in ("variance", "gamma", "max_iterations", "epsilon")],
}

_LBFGS_ENDS = {
    "gradient": "L-BFGS resulted in convergence\n",
    "improvement": "L-BFGS terminated with the stopping criteria\n",
    "patience": "L-BFGS terminated with the stopping criteria\n",
    "max_iterations": "L-BFGS terminated with the maximum number of iterations\n",
    "line_search": "L-BFGS terminated with error code (-1001)\n",
    "interrupted": "L-BFGS terminated with error code (-1021)\n",
    "non_finite": "L-BFGS terminated with error code (-1001)\n",
}

#: Error codes of liblbfgs: nothing to optimize; the starting point is the minimum.
_NO_FEATURES = "L-BFGS terminated with error code (-1020)\n"
_AT_MINIMUM = "L-BFGS terminated with error code (2)\n"


def _shown(value: object) -> str:
    return f"{value:f}" if isinstance(value, float) else str(value)


class MessageWriter:
    """Sends the messages of a training run to `send`, as CRFsuite words them."""

    def __init__(
        self,
        send: Callable[[str], None],
        algorithm: str,
        parameters: Mapping[str, Any],
        holdout: int,
        instances: int,
    ) -> None:
        self._send = send
        self._algorithm = algorithm
        self._parameters = parameters
        self._holdout = holdout
        self._instances = instances
        self._features = 0
        self._attributes = 0
        self._losses: list[float] = []
        self._evaluations = 1
        self._begun = self._started = self._iterated = time.perf_counter()

    def begin(self) -> None:
        """Writes what precedes training."""
        if self._holdout >= 0:
            self._send(f"Holdout group: {self._holdout + 1}\n")
            self._send("\n")
        self._send("Feature generation\n")
        self._send("type: CRF1d\n")
        self._send(f"feature.minfreq: {self._parameters['feature.minfreq']:f}\n")
        for name in ("feature.possible_states", "feature.possible_transitions"):
            self._send(f"{name}: {self._parameters[name]}\n")
        self._send("0")

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Writes what belongs to an event of training."""
        getattr(self, "_on_" + kind)(fields)

    def without_data(self) -> None:
        """Writes the log of training without any instance."""
        self.begin()
        self._on_start({"weights": 0, "attributes": 0})
        if self._algorithm == "lbfgs":
            self._send(_NO_FEATURES)
        self._send("Total seconds required for training: 0.000\n")
        self._send("\n")

    def _on_start(self, fields: Mapping[str, Any]) -> None:
        for percent in range(2, 101, 2):
            self._send("." if percent % 10 else str(percent // 10))
        self._send("\n")
        self._features = fields["weights"]
        self._attributes = fields["attributes"]
        now = time.perf_counter()
        self._send(f"Number of features: {self._features}\n")
        self._send(f"Seconds required: {now - self._begun:.3f}\n")
        self._send("\n")
        self._started = self._iterated = now
        self._send(_TITLES[self._algorithm] + "\n")
        for shown, name in _LOGGED[self._algorithm]:
            self._send(f"{shown}: {_shown(self._parameters[name])}\n")
        self._send("\n")

    def _on_calibration(self, fields: Mapping[str, Any]) -> None:
        self._send("Calibrating the learning rate (eta)\n")
        for name in ("eta", "rate", "samples", "candidates", "max_trials"):
            value = self._parameters["calibration." + name]
            value = fields["sentences"] if name == "samples" else value
            self._send(f"calibration.{name}: {_shown(value)}\n")
        initial = fields["initial"]
        self._send(f"Initial loss: {initial:f}\n")
        for number, (rate, loss) in enumerate(fields["trials"], 1):
            self._send(f"Trial #{number} (eta = {rate:f}): ")
            self._send(f"{loss:f}\n" if loss < initial else f"{loss:f} (worse)\n")
        self._send(f"Best learning rate (eta): {fields['rate']:f}\n")
        now = time.perf_counter()
        self._send(f"Seconds required: {now - self._started:.3f}\n")
        self._send("\n")
        self._iterated = now

    def _on_iteration(self, fields: Mapping[str, Any]) -> None:
        now = time.perf_counter()
        seconds, self._iterated = now - self._iterated, now
        number, loss = fields["number"], fields["loss"]
        unit = "Epoch" if self._algorithm == "l2sgd" else "Iteration"
        self._send(f"***** {unit} #{number} *****\n")
        self._send(f"Loss: {loss:f}\n")
        if self._algorithm == "lbfgs":
            self._send(f"Feature norm: {fields['weight_norm']:f}\n")
            self._send(f"Error norm: {fields['gradient_norm']:f}\n")
            self._send(f"Active features: {fields['nonzero']}\n")
            self._send(f"Line search trials: {fields['evaluations'] - self._evaluations}\n")
            self._send(f"Line search step: {fields['step']:f}\n")
            self._evaluations = fields["evaluations"]
        elif self._algorithm == "l2sgd":
            period = self._parameters["period"]
            if number > period:
                self._send(f"Improvement ratio: {(self._losses[-period] - loss) / loss:f}\n")
            self._send(f"Feature L2-norm: {fields['weight_norm']:f}\n")
            self._send(f"Learning rate (eta): {fields['learning_rate']:f}\n")
            self._send(f"Total number of feature updates: {number * self._instances}\n")
        else:
            self._send(f"Feature norm: {fields['weight_norm']:f}\n")
        self._losses.append(loss)
        self._send(f"Seconds required for this iteration: {seconds:.3f}\n")
        if "label_scores" in fields:
            self._write_scores(fields["label_scores"], fields["sentences"])
        self._send("\n")

    def _write_scores(
        self, labels: list[tuple[str, int, int, int]], sentences: tuple[int, int]
    ) -> None:
        self._send("Performance by label (#match, #model, #ref) (precision, recall, F1):\n")
        sums = [0.0, 0.0, 0.0]
        for name, match, model, gold in labels:
            shown = "******, ******, ******"
            if gold:
                precision = match / model if model else 0.0
                recall = match / gold
                f1 = 2 * precision * recall / (precision + recall) if match else 0.0
                sums = [s + x for s, x in zip(sums, (precision, recall, f1), strict=True)]
                shown = f"{precision:.4f}, {recall:.4f}, {f1:.4f}"
            self._send(f"    {name}: ({match}, {model}, {gold}) ({shown})\n")
        means = ", ".join(f"{total / len(labels):f}" for total in sums)
        self._send(f"Macro-average precision, recall, F1: ({means})\n")
        items = sum(match for _, match, _, _ in labels), sum(gold for *_, gold in labels)
        for kind, (correct, total) in (("Item", items), ("Instance", sentences)):
            accuracy = correct / total if total else 0.0
            self._send(f"{kind} accuracy: {correct} / {total} ({accuracy:.4f})\n")

    def _on_end(self, fields: Mapping[str, Any]) -> None:
        reason = fields["reason"]
        if self._algorithm == "lbfgs":
            at_minimum = reason == "gradient" and not self._losses
            self._send(_AT_MINIMUM if at_minimum else _LBFGS_ENDS[reason])
        elif self._algorithm == "l2sgd":
            criterion = "stopping criteria"
            if reason == "max_iterations":
                criterion = "maximum number of iterations"
            self._send(f"SGD terminated with the {criterion}\n")
            self._send(f"Loss: {min(self._losses, default=0.0):f}\n")
        elif reason in ("loss", "patience"):
            self._send("Terminated with the stopping criterion\n")
            self._send("\n")
        seconds = time.perf_counter() - self._started
        self._send(f"Total seconds required for training: {seconds:.3f}\n")
        self._send("\n")

    def begin_storing(self, weights: int, attributes: int, labels: int) -> None:
        """Writes what precedes the model file."""
        self._begun = time.perf_counter()
        self._send("Storing the model\n")
        self._send(f"Number of active features: {weights} ({self._features})\n")
        self._send(f"Number of active attributes: {attributes} ({self._attributes})\n")
        self._send(f"Number of active labels: {labels} ({labels})\n")

    def end_storing(self) -> None:
        """Writes what follows the model file."""
        self._send("Writing labels\n")
        self._send("Writing attributes\n")
        self._send("Writing feature references for transitions\n")
        self._send("Writing feature references for attributes\n")
        self._send(f"Seconds required: {time.perf_counter() - self._begun:.3f}\n")
        self._send("\n")
