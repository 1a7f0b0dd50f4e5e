"""Two passes against one, by fold of the Dutch training data: folds.py PROGRAM CORPORA.

Fold k has the documents k, k + 5, k + 10, … The first score of a fold is that of the first pass,
the template ner-document, and the second that of ner-two-passes.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDS = 5

program, corpora = sys.argv[1:]
documents: list[list[str]] = []
text = (Path(corpora) / "conll2002-ned" / "ned.train").read_text(encoding="utf-8")
for line in text.split("\n"):
    if line.startswith("-DOCSTART-"):
        documents.append([])
    documents[-1].append(line)
with tempfile.TemporaryDirectory() as folder:
    train, dev, model = (Path(folder) / name for name in ("train", "dev", "model"))
    for fold in range(FOLDS):
        for path, is_dev in ((train, False), (dev, True)):
            part = [d for i, d in enumerate(documents) if (i % FOLDS == fold) == is_dev]
            path.write_text("\n".join("\n".join(d) for d in part) + "\n", encoding="utf-8")
        command = [program, "train", train, "--columns", "word,pos,ner", "--dev", dev]
        command += ["--template", "ner-two-passes", "--model", model, "--force"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        print(fold, *re.findall(r"kept iteration \d+: F1 ([\d.]+)", run.stderr), flush=True)
