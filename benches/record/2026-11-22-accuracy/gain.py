"""Draws the table of docs/accuracy.md: test scores with L2, with dropout, with the best template.

    pip install matplotlib
    python3 gain.py ../../../docs/accuracy.md gain.svg
"""

import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

matplotlib.rcParams["svg.hashsalt"] = "dropchain"  # the same file every time
SHOWN = {"ner", "chunk", "pos"}


def rows(path):
    """Yields corpus, template, and the test scores with L2 and with dropout."""
    corpus = ""
    for line in open(path, encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 7 and cells[1].startswith("`"):
            corpus = cells[0] or corpus
            yield corpus, cells[1].strip("`"), float(cells[3]), float(cells[5])


def main():
    table = list(rows(sys.argv[1]))
    corpora = list(dict.fromkeys(corpus for corpus, *_ in table))
    figure, axes = pyplot.subplots(1, len(corpora), figsize=(10.5, 2.6))
    for axis, corpus in zip(axes, corpora):
        [(l2, dropout)] = [row[2:] for row in table if row[0] == corpus and row[1] in SHOWN]
        best = max(row[3] for row in table if row[0] == corpus)
        bars = [("L2", l2, "#9aa0a8"), ("dropout", dropout, "#1f6fb4")]
        if best > dropout:
            bars.append(("best\ntemplate", best, "#2e8b57"))
        values = [value for _, value, _ in bars]
        axis.bar([name for name, *_ in bars], values, color=[color for *_, color in bars])
        pad = max(values) - min(values) + 0.4
        axis.set_ylim(min(values) - pad, max(values) + 0.5 * pad)
        for i, value in enumerate(values):
            axis.annotate(f"{value:.2f}", (i, value), ha="center", va="bottom", fontsize=7.5)
        axis.set_title(corpus.replace(", ", "\n", 1), fontsize=8)
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None})


main()
