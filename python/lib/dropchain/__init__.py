"""Linear-chain CRF sequence tagging (names, parts of speech, chunks) for small labeled corpora.

>>> import dropchain
>>> result = dropchain.train(dropchain.sample_corpus(), template="ner", max_iterations=30)
>>> result.tagger.tag(["She", "lives", "in", "London", "."])
['O', 'O', 'O', 'B-LOC', 'O']

================================  ===========================================================
:func:`train`                     from labeled sentences to a model
:func:`load`                      a model from its file
:class:`Tagger`                   words, text, batches: labels, spans, probabilities
:class:`Corpus`                   sentences from files, lists, frames, documents of spaCy
:class:`Template`                 which features a token has
:func:`evaluate`, :func:`compare` scores of predictions; whether a difference is significant
:func:`tune`                      search for the best training options
:func:`learning_curve`            whether more data would help
:func:`check`                     mistakes in labeled data, before training
:func:`explain`, :func:`report`   why a label; training and errors in one page
:func:`tag_frame`                 a column of a pandas frame: also for Spark, Dask and Ray
================================  ===========================================================

``dropchain.pycrfsuite`` and ``dropchain.sklearn`` stand in for python-crfsuite and
sklearn-crfsuite.
"""

from __future__ import annotations

from dropchain._checking import CheckResult, Report, check, explain, report
from dropchain._data import sample_corpus
from dropchain._dropchain import (
    Corpus, DocumentModel, Interrupted, ModelError, Sentence, Tagger, Template, __version__, load,
    spans,
)
from dropchain._evaluation import compare, evaluate
from dropchain._features import Features
from dropchain._frames import tag_frame
from dropchain._learning_curve import LearningCurve, LearningRun, learning_curve
from dropchain._options import TrainOptions
from dropchain._records import Svg
from dropchain._results import Iteration, TrainResult, Trial, TuneResult
from dropchain._scores import Comparison, ConfusionMatrix, Difference, Evaluation, Score
from dropchain._training import train
from dropchain._tuning import tune
from dropchain._values import (
    Explanation, Path, Span, TaggedSentence, TaggedText, Tagging, TextSpan, TextToken,
)

__all__ = [
    "CheckResult", "Comparison", "ConfusionMatrix", "Corpus", "Difference", "DocumentModel",
    "Evaluation", "Explanation", "Features", "Interrupted", "Iteration", "LearningCurve",
    "LearningRun", "ModelError", "Path", "Report", "Score", "Sentence", "Span", "Svg",
    "TaggedSentence", "TaggedText", "Tagger", "Tagging", "Template", "TextSpan", "TextToken",
    "TrainOptions", "TrainResult", "Trial", "TuneResult", "__version__", "check", "compare",
    "evaluate", "explain", "learning_curve", "load", "report", "sample_corpus", "spans",
    "tag_frame", "train", "tune",
]
