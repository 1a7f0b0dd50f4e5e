#!/usr/bin/env python3
"""Makes tables and plots of the runs of run.sh, without dependencies.

python3 plot.py LOGS > table.md        (also writes rate.svg and course.svg)
"""

import glob, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
from figure import draw

PLOTTED = {"ewt": "EWT, UPOS", "esp": "Spanish names", "wnut17": "W-NUT 2017, names"}
TABLE_ONLY = {
    "ewt-3000": "EWT, UPOS, 3,000 sentences",
    "ewt-pos": "EWT, UPOS, `pos`",
    "esp-ner": "Spanish names, `ner`",
    "wnut17-ner": "W-NUT 2017, names, `ner`",
    "conll2000": "CoNLL-2000, `chunk`",
}


def read(path):
    """Returns a run's parameters, its score at each iteration, and its end event."""
    run = {"corpus": os.path.basename(path).split(".", 1)[0], "scores": [], "end": {}}
    for line in open(path):
        event = json.loads(line)
        if event["event"] == "start":
            parameters = event["parameters"]
            run["dropout"], run["l2"] = parameters["dropout"], parameters["l2"]
            run["edge"] = parameters["edge_dropout"]
        elif event["event"] == "iteration":
            run["scores"].append(100 * event.get("dev_f1", event.get("dev_accuracy")))
        else:
            run["end"] = event
    run["best"] = max(run["scores"])
    return run


def table_row(title, run, bold):
    end, mark = run["end"], "**" if bold else ""
    cells = [title, f"{run['dropout']:g}", f"{run['edge']:g}", f"{run['l2']:g}"]
    cells += [end["iterations"], end["best_iteration"], f"{end['recall_bias']:g}"]
    cells += [f"{mark}{run['best']:.2f}{mark}", f"{run['scores'][-1]:.2f}"]
    return f"| {' | '.join(map(str, cells))} |"


def rate_panel(title, runs, best_l2):
    """Scores by dropout rate, with the other settings fixed to those of the most runs."""
    noisy = [run for run in runs if run["dropout"] > 0]
    settings = [(run["edge"], run["l2"]) for run in noisy]
    edge, l2 = max(set(settings), key=settings.count)
    fixed = [run for run in noisy if (run["edge"], run["l2"]) == (edge, l2)]
    line = [(run["dropout"], run["best"]) for run in fixed]
    baseline = [(0, best_l2["best"]), (max(x for x, _ in line), best_l2["best"])]
    label = f"dropout, edges {edge:g}, L2 {l2:g}"
    return title, [("best L2", baseline), (label, sorted(line))]


def iteration_panel(title, best_l2, best_dropout):
    """Scores by iteration of the best run of each kind."""

    def line(run):
        scores = enumerate(run["scores"])
        return [(i, y) for i, y in scores if i >= 5 and y > 0.8 * run["best"]]

    run = best_dropout
    label = f"dropout {run['dropout']:g}, {run['edge']:g}, L2 {run['l2']:g}"
    return title, [(f"L2 {best_l2['l2']:g}", line(best_l2)), (label, line(run))]


def main():
    logs = sys.argv[1]
    runs = [read(path) for path in sorted(glob.glob(os.path.join(logs, "*.jsonl")))]
    print("| corpus | `--dropout` | `--edge-dropout` | `--l2` | iterations | best at ", end="")
    print("| recall bias | best score | last score |\n" + "|---" * 9 + "|")
    rates, courses = [], []
    for corpus, title in (PLOTTED | TABLE_ONLY).items():
        own = [run for run in runs if run["corpus"] == corpus]
        if not own:
            continue
        own.sort(key=lambda run: (run["dropout"] > 0, run["dropout"], run["l2"]))
        best = lambda group: max(group, key=lambda run: run["best"])
        best_l2 = best(run for run in own if run["dropout"] == 0)
        best_dropout = best(run for run in own if run["dropout"] > 0)
        for run in own:
            print(table_row(title, run, bold=run in (best_l2, best_dropout)))
        if corpus in PLOTTED:
            rates.append(rate_panel(title, own, best_l2))
            courses.append(iteration_panel(title, best_l2, best_dropout))
    draw("rate.svg", rates, {"label": "dropout rate"}, {"label": "score"})
    draw("course.svg", courses, {"label": "iteration"}, {"label": "score"})


main()
