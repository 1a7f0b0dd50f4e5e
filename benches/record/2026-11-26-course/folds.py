#!/usr/bin/env python3
"""The defaults and L2 alone, compared over five folds of the training data of every corpus.

    python3 folds.py PROGRAM CORPORA OUT [--only NAME…] [--minutes N] > table.md

That of 2026-11-22-folds, with the courses of this record; the score of a run is that of the weights
that are kept.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../2026-11-22-folds"))
import folds

NAMES = ("L2 0.1", "L2 0.3", folds.DEFAULT)
POS = ("L2 0.03", folds.DEFAULT)
TWEETS = ("wnut17/train.conll", "")


class Measurement(folds.Measurement):
    """Scores the weights that are kept."""

    counts = ("kept", "iterations")

    def found(self, scores, events):
        kept = events[-1]["best_iteration"]
        return {"score": scores[kept], "kept": kept}


if __name__ == "__main__":
    folds.Measurement = Measurement
    folds.CASES = [
        folds.case("W-NUT 2017, ner", TWEETS, "ner", NAMES),
        folds.case("Dutch, ner", folds.DUTCH, "ner", NAMES, "--document", "sentence"),
        folds.case("EWT UPOS, pos", folds.EWT, "pos", POS, "--label", "upos"),
        folds.case("Spanish, ner", folds.SPANISH, "ner", NAMES),
        folds.case("CoNLL-2000, chunk", folds.CHUNKS, "chunk", NAMES),
    ]
    folds.main()
