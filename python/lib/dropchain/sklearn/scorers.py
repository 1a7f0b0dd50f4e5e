"""Scorers for `cross_val_score`, `GridSearchCV`, `RandomizedSearchCV` and their like."""

from sklearn.metrics import make_scorer

from dropchain.sklearn import metrics

flat_accuracy = make_scorer(metrics.flat_accuracy_score)
sequence_accuracy = make_scorer(metrics.sequence_accuracy_score)
span_precision = make_scorer(metrics.span_precision_score)
span_recall = make_scorer(metrics.span_recall_score)
span_f1 = make_scorer(metrics.span_f1_score)
