"""The trainer of the estimator."""

from __future__ import annotations

from typing import Any

from dropchain import pycrfsuite


class LinePerIterationTrainer(pycrfsuite.Trainer):
    """Prints a line for each iteration, and at the end the scores of labels on held-out data."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        parts = [f"Iter {info['num']:<3} ", f"time={info['time']:<5.2f} "]
        parts.append(f"loss={info['loss']:<8.2f} ")
        if "active_features" in info:
            parts.append(f"active={info['active_features']:<5} ")
        if "avg_precision" in info:
            parts.append(f"precision={info['avg_precision']:0.3f}  ")
            parts.append(f"recall={info['avg_recall']:0.3f}  F1={info['avg_f1']:0.3f}  ")
            parts.append(f"Acc(item/seq)={info['item_accuracy_float']:0.3f} ")
            parts.append(f"{info['instance_accuracy_float']:0.3f}  ")
        if "feature_norm" in info:
            parts.append(f"feature_norm={info['feature_norm']:<8.2f}")
        print("".join(parts).strip())

    def on_optimization_end(self, log: str) -> None:
        assert self.logparser is not None
        last = self.logparser.last_iteration
        if last and last["scores"]:
            print_scores(last["scores"])
        super().on_optimization_end(log)


def print_scores(scores: dict[str, Any]) -> None:
    """Prints a table of the scores of labels."""
    width = max(len("Label"), *map(len, scores))
    head = f"{'Label':<{width}}  Precision  Recall     F1  Support"
    print("=" * len(head))
    print(head)
    print("-" * len(head))
    for label, score in sorted(scores.items()):
        precision, recall, f1 = (
            "" if x is None else f"{x:.3f}" for x in (score.precision, score.recall, score.f1 or 0)
        )
        print(f"{label:<{width}}  {precision:>9}  {recall:>6}  {f1:>5}  {score.ref:>7}")
    print("-" * len(head))
