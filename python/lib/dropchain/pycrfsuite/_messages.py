"""The log of CRFsuite, written from the events of training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from time import perf_counter
from typing import Any

from dropchain.pycrfsuite._logparser import LabelScore

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}

# The parameters of L-BFGS as the log has them, `=` those of another name.
_LBFGS = (
    "c1 c2 num_memories max_iterations epsilon stop=period delta linesearch "
    "linesearch.max_iterations=max_linesearch"
).split()

# How L-BFGS ends: among others with an error code of liblbfgs.
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

_LBFGS_ITERATION = """\
Error norm: {error_norm:f}
Active features: {active_features}
Line search trials: {linesearch_trials}
Line search step: {linesearch_step:f}
"""


class MessageWriter:
    """Sends the messages of a run, as CRFsuite words them, and after those of an event its name and
    numbers."""

    def __init__(self, trainer: Any, holdout: int, instances: int) -> None:
        self._send, self._happened = trainer.message, trainer._happened
        self._algorithm, self._parameters = trainer._algorithm, trainer._values
        self._holdout, self._instances = holdout, instances
        self._sizes: Mapping[str, int] = {"weights": 0, "attributes": 0}
        self._losses: list[float] = []
        self._evaluations = 1
        self._begun = self._started = self._iterated = perf_counter()

    def _write(self, text: str) -> None:
        for line in text.splitlines(keepends=True):
            self._send(line)

    def _write_parameters(self, items: Iterable[str]) -> None:
        for item in items:
            shown, _, name = item.partition("=")
            value = self._parameters[name or shown]
            value = f"{value:f}" if isinstance(value, float) else value
            self._write(f"{shown}: {value}\n")

    def begin(self) -> None:
        """Writes what precedes training."""
        group = f"Holdout group: {self._holdout + 1}\n"
        self._write(group if self._holdout >= 0 else "Feature generation\n")
        self._happened("start")
        self._write("\nFeature generation\n" if self._holdout >= 0 else "")
        self._write("type: CRF1d\n")
        self._write_parameters(name for name in self._parameters if name.startswith("feature."))
        self._write("0")
        self._happened("featgen_progress")

    def event(self, kind: str, fields: Any) -> None:
        """Writes what belongs to an event of training."""
        if kind != "message":
            getattr(self, "_on_" + kind)(fields)

    def without_data(self) -> None:
        """Writes the log of training without any instance."""
        self.begin()
        self._on_start(self._sizes)
        self._on_end("no_features")

    def _on_start(self, fields: Mapping[str, Any]) -> None:
        for percent in range(2, 101, 2):
            self._write("." if percent % 10 else str(percent // 10))
            self._happened("featgen_progress")
        self._sizes = fields
        self._started = self._iterated = perf_counter()
        count, seconds = fields["weights"], self._started - self._begun
        self._write(f"\nNumber of features: {count}\nSeconds required: {seconds:.3f}\n")
        self._happened("featgen_end", (count, seconds))
        self._write(f"\n{_TITLES[self._algorithm]}\n")
        own = [n for n in self._parameters if not n.startswith(("feature.", "calibration."))]
        self._write_parameters(_LBFGS if self._algorithm == "lbfgs" else own)
        self._write("\n")

    def _on_calibration(self, fields: Mapping[str, Any]) -> None:
        self._write("Calibrating the learning rate (eta)\n")
        self._write_parameters(["calibration.eta", "calibration.rate"])
        self._write(f"calibration.samples: {fields['sentences']}\n")
        self._write_parameters(["calibration.candidates", "calibration.max_trials"])
        initial = fields["initial"]
        self._write(f"Initial loss: {initial:f}\n")
        for number, (rate, loss) in enumerate(fields["trials"], 1):
            worse = "" if loss < initial else " (worse)"
            self._write(f"Trial #{number} (eta = {rate:f}): {loss:f}{worse}\n")
        self._iterated = perf_counter()
        self._write(f"Best learning rate (eta): {fields['rate']:f}\n")
        self._write(f"Seconds required: {self._iterated - self._started:.3f}\n\n")

    def _on_iteration(self, fields: Mapping[str, Any]) -> None:
        if fields["number"] == 0:
            return
        if not self._losses:
            self._happened("prepared")
        now = perf_counter()
        seconds, self._iterated = now - self._iterated, now
        number, loss, norm = fields["number"], fields["objective"], fields["weight_norm"]
        info = {"num": number, "scores": {}, "loss": loss, "feature_norm": norm, "time": seconds}
        unit = "Epoch" if self._algorithm == "l2sgd" else "Iteration"
        self._write(f"***** {unit} #{number} *****\nLoss: {loss:f}\n")
        if self._algorithm == "l2sgd":
            period = self._parameters["period"]
            if number > period:
                ratio = (self._losses[-period] - loss) / loss
                self._write(f"Improvement ratio: {ratio:f}\n")
            self._write(f"Feature L2-norm: {norm:f}\n")
            self._write(f"Learning rate (eta): {fields['learning_rate']:f}\n")
            self._write(f"Total number of feature updates: {number * self._instances}\n")
        else:
            self._write(f"Feature norm: {norm:f}\n")
        if self._algorithm == "lbfgs":
            info["error_norm"] = fields["gradient_norm"]
            info["active_features"] = fields["nonzero_weights"]
            info["linesearch_trials"] = fields["evaluations"] - self._evaluations
            info["linesearch_step"] = fields["step"]
            self._evaluations = fields["evaluations"]
            self._write(_LBFGS_ITERATION.format_map(info))
        self._losses.append(loss)
        self._write(f"Seconds required for this iteration: {seconds:.3f}\n")
        if "label_scores" in fields:
            self._write_scores(fields, info)
        self._write("\n")
        self._happened("iteration", info)

    def _write_scores(self, fields: Mapping[str, Any], info: dict[str, Any]) -> None:
        labels, sentences = fields["label_scores"], fields["sentences"]
        self._write("Performance by label (#match, #model, #ref) (precision, recall, F1):\n")
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
            self._write(f"    {name}: ({match}, {model}, {gold}) ({shown})\n")
        means = [round(total / len(labels), 6) for total in sums]
        info["avg_precision"], info["avg_recall"], info["avg_f1"] = means
        shown = ", ".join(f"{mean:f}" for mean in means)
        self._write(f"Macro-average precision, recall, F1: ({shown})\n")
        items = sum(match for _, match, _, _ in labels), sum(gold for *_, gold in labels)
        for kind, (correct, total) in (("Item", items), ("Instance", sentences)):
            accuracy = Fraction(correct, total or 1)
            key = kind.lower() + "_accuracy"
            info[key], info[key + "_float"] = accuracy, float(accuracy)
            self._write(f"{kind} accuracy: {correct} / {total} ({float(accuracy):.4f})\n")

    def _on_end(self, reason: str) -> None:
        if self._algorithm == "lbfgs":
            is_done = reason == "gradient" and not self._losses
            self._write(f"L-BFGS {_LBFGS_ENDS['at_minimum' if is_done else reason]}\n")
            if not self._losses:
                self._happened("prepare_error")
        elif self._algorithm == "l2sgd" and reason != "no_features":
            is_limit = reason == "max_iterations"
            criterion = "maximum number of iterations" if is_limit else "stopping criteria"
            loss = min(self._losses, default=0.0)
            self._write(f"SGD terminated with the {criterion}\nLoss: {loss:f}\n")
        elif reason in ("loss", "patience"):
            self._write("Terminated with the stopping criterion\n\n")
        seconds = perf_counter() - self._started
        self._write(f"Total seconds required for training: {seconds:.3f}\n\n")
        self._happened("optimization_end", seconds)

    def begin_storing(self, weights: int, attributes: int, labels: int) -> None:
        """Writes what precedes the model file."""
        self._begun = perf_counter()
        self._write("Storing the model\n")
        self._write(f"Number of active features: {weights} ({self._sizes['weights']})\n")
        self._write(f"Number of active attributes: {attributes} ({self._sizes['attributes']})\n")
        self._write(f"Number of active labels: {labels} ({labels})\n")

    def end_storing(self) -> None:
        """Writes what follows the model file."""
        self._write("Writing labels\nWriting attributes\n")
        self._write("Writing feature references for transitions\n")
        self._write("Writing feature references for attributes\n")
        seconds = perf_counter() - self._begun
        self._write(f"Seconds required: {seconds:.3f}\n\n")
        self._happened("end", seconds)
