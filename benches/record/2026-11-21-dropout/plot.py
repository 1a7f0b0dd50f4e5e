#!/usr/bin/env python3
"""Tables and plots of the runs of run.sh, with nothing but Python.

python3 plot.py LOGS > table.md        (writes rate.svg and course.svg beside it)
"""

import glob, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
from svg import svg

PLOTTED = {"ewt": "EWT, UPOS", "esp": "Spanish names", "wnut17": "W-NUT 2017, names"}
OTHERS = {
    "ewt-3000": "EWT, UPOS, 3,000 sentences",
    "ewt-pos": "EWT, UPOS, `pos`",
    "esp-ner": "Spanish names, `ner`",
    "wnut17-ner": "W-NUT 2017, names, `ner`",
    "conll2000": "CoNLL-2000, `chunk`",
}


def read(path):
    name, dropout, edge, l2 = os.path.basename(path).split(".", 1)[0], None, None, None
    rows, end = [], {}
    for line in open(path):
        record = json.loads(line)
        if record["event"] == "start":
            dropout, edge, l2 = (record["parameters"][name] for name in ("dropout", "edge_dropout", "l2"))
        elif record["event"] == "iteration":
            rows.append(100 * record.get("dev_f1", record.get("dev_accuracy")))
        else:
            end = record
    return {"corpus": name, "dropout": dropout, "edge": edge, "l2": l2, "course": rows, "end": end, "best": max(rows)}


def main():
    logs = sys.argv[1]
    runs = [read(path) for path in sorted(glob.glob(os.path.join(logs, "*.jsonl")))]
    print(
        "| corpus | `--dropout` | `--edge-dropout` | `--l2` | iterations | best at | recall bias | best score | last score |\n|---|---|---|---|---|---|---|---|---|"
    )
    rates, courses = [], []
    for corpus, title in (PLOTTED | OTHERS).items():
        mine = [run for run in runs if run["corpus"] == corpus]
        if not mine:
            continue
        mine.sort(key=lambda run: (run["dropout"] > 0, run["dropout"], run["l2"]))
        plain = max((run for run in mine if run["dropout"] == 0), key=lambda run: run["best"])
        noisy = max((run for run in mine if run["dropout"] > 0), key=lambda run: run["best"])
        for run in mine:
            end, mark = run["end"], "**" if run in (plain, noisy) else ""
            print(
                f"| {title} | {run['dropout']:g} | {run['edge']:g} | {run['l2']:g} | {end['iterations']} | {end['best_iteration']} "
                f"| {end['recall_bias']:g} | {mark}{run['best']:.2f}{mark} | {run['course'][-1]:.2f} |"
            )
        if corpus in OTHERS:
            continue
        # The other settings that have runs at most rates.
        settings = [(run["edge"], run["l2"]) for run in mine if run["dropout"] > 0]
        edge, l2 = max(set(settings), key=settings.count)
        line = [(run["dropout"], run["best"]) for run in mine if run["dropout"] > 0 and (run["edge"], run["l2"]) == (edge, l2)]
        best = [(0, plain["best"]), (max(x for x, _ in line), plain["best"])]
        rates.append((title, [("best L2", best), (f"dropout, edges {edge:g}, L2 {l2:g}", sorted(line))]))
        course = lambda run: [(i, y) for i, y in enumerate(run["course"]) if i >= 5 and y > 0.8 * run["best"]]
        courses.append(
            (
                title,
                [
                    (f"L2 {plain['l2']:g}", course(plain)),
                    (f"dropout {noisy['dropout']:g}, {noisy['edge']:g}, L2 {noisy['l2']:g}", course(noisy)),
                ],
            )
        )
    svg("rate.svg", rates, "rate of dropout")
    svg("course.svg", courses, "iteration")


main()
