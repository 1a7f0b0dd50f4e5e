"""Trains python-crfsuite on a file in CRFsuite's format and prints the final objective.

Usage: crfsuite.py FILE C2 MODEL

Exits with status 3 if python-crfsuite is not installed.
"""

import re
import sys

try:
    import pycrfsuite
except ImportError:
    sys.exit(3)


def unescape(attribute):
    return re.sub(r"\\([:\\])", r"\1", attribute)


def sentences(path):
    with open(path, encoding="utf-8") as file:
        for sentence in file.read().split("\n\n"):
            rows = [line.split("\t") for line in sentence.splitlines()]
            if rows:
                labels = [row[0] for row in rows]
                yield [[unescape(a) for a in row[1:]] for row in rows], labels


def main():
    path, c2, model = sys.argv[1:]
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": float(c2)})
    for attributes, labels in sentences(path):
        trainer.append(attributes, labels)
    trainer.train(model)
    print(trainer.logparser.last_iteration["loss"])


if __name__ == "__main__":
    main()
