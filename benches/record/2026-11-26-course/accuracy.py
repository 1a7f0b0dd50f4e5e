#!/usr/bin/env python3
"""Accuracy on every corpus: L2 alone and dropout with the defaults, dev and test.

    python3 accuracy.py PROGRAM CORPORA OUT [--only CORPUS…] [--dev-only] [--minutes N] > table.md

That of 2026-11-22-accuracy, with one or two templates for each corpus, and W-NUT 2017 in its own
scheme.
"""

import dataclasses
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../2026-11-22-accuracy"))
import run

TEMPLATES = ("ner", "pos", "pos-sancl", "chunk")


def case(old):
    """Returns a case with the templates and the labels of this record."""
    templates = [template for template in old.templates if template in TEMPLATES]
    options = [] if old.name == "wnut17" else old.options
    return dataclasses.replace(old, templates=templates, options=options)


if __name__ == "__main__":
    run.CASES = [case(old) for old in run.CASES if old.name != "ewt-xpos"]
    run.main()
