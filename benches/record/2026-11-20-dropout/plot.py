#!/usr/bin/env python3
"""Tables and plots of the runs of run.sh, with nothing but Python.

    python3 plot.py LOGS > table.md        (writes rate.svg and course.svg beside it)
"""
import glob, json, os, sys

NAMES = {"ewt": "EWT, UPOS", "esp": "Spanish names", "wnut17": "W-NUT 2017, names"}


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


def svg(path, panels, x_name):
    """Panels side by side: (title, [(label, [(x, y)])])."""
    width, height, left, top = 300, 220, 48, 28
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(panels) * (width + left) + 20}" height="{height + top + 62}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
    ]
    colors = ["#888888", "#1f6fb4", "#d2691e", "#2e8b57"]
    for i, (title, lines) in enumerate(panels):
        x0, points = left + i * (width + left), [p for _, line in lines for p in line]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        low, high = min(ys), max(ys)
        pad = 0.05 * (high - low) or 1
        low, high = low - pad, high + pad
        place = lambda p: (
            x0 + (p[0] - min(xs)) / (max(xs) - min(xs)) * (width - 20),
            top + height - (p[1] - low) / (high - low) * height,
        )
        out.append(f'<text x="{x0}" y="{top - 10}" font-weight="bold">{title}</text>')
        for k in range(5):
            y = low + k * (high - low) / 4
            py = place((min(xs), y))[1]
            out.append(f'<line x1="{x0}" x2="{x0 + width - 20}" y1="{py:.1f}" y2="{py:.1f}" stroke="#dddddd"/>')
            out.append(f'<text x="{x0 - 4}" y="{py + 4:.1f}" text-anchor="end">{y:.1f}</text>')
        for x in sorted({min(xs), (min(xs) + max(xs)) / 2, max(xs)}):
            px = place((x, low))[0]
            out.append(f'<text x="{px:.1f}" y="{top + height + 14}" text-anchor="middle">{x:g}</text>')
        out.append(f'<text x="{x0 + width / 2 - 10}" y="{top + height + 28}" text-anchor="middle">{x_name}</text>')
        for j, (label, line) in enumerate(lines):
            path_points = " ".join("%.1f,%.1f" % place(p) for p in line)
            color = colors[j % len(colors)]
            out.append(f'<polyline points="{path_points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
            if len(line) < 12:
                out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*place(p), color) for p in line]
            out.append(f'<text x="{x0 + 110 * j}" y="{top + height + 46}" fill="{color}">{label}</text>')
    open(path, "w").write("\n".join(out) + "\n</svg>\n")


def main():
    logs = sys.argv[1]
    runs = [read(path) for path in sorted(glob.glob(os.path.join(logs, "*.jsonl")))]
    print("| corpus | `--dropout` | `--edge-dropout` | `--l2` | iterations | best at | recall bias | score |\n|---|---|---|---|---|---|---|---|")
    rates, courses = [], []
    for corpus, title in NAMES.items():
        mine = [run for run in runs if run["corpus"] == corpus]
        if not mine:
            continue
        mine.sort(key=lambda run: (run["dropout"] > 0, run["dropout"], run["l2"]))
        plain = max((run for run in mine if run["dropout"] == 0), key=lambda run: run["best"])
        noisy = max((run for run in mine if run["dropout"] > 0), key=lambda run: run["best"])
        for run in mine:
            end, mark = run["end"], "**" if run in (plain, noisy) else ""
            print(f"| {title} | {run['dropout']:g} | {run['edge']:g} | {run['l2']:g} | {end['iterations']} | {end['best_iteration']} "
                  f"| {end['recall_bias']:g} | {mark}{run['best']:.2f}{mark} |")
        # The other settings that have runs at most rates.
        settings = [(run["edge"], run["l2"]) for run in mine if run["dropout"] > 0]
        edge, l2 = max(set(settings), key=settings.count)
        line = [(run["dropout"], run["best"]) for run in mine if run["dropout"] > 0 and (run["edge"], run["l2"]) == (edge, l2)]
        best = [(0, plain["best"]), (max(x for x, _ in line), plain["best"])]
        rates.append((title, [("best L2", best), (f"dropout, edges {edge:g}, L2 {l2:g}", sorted(line))]))
        course = lambda run: [(i, y) for i, y in enumerate(run["course"]) if i >= 5 and y > 0.8 * run["best"]]
        courses.append((title, [(f"L2 {plain['l2']:g}", course(plain)),
                                (f"dropout {noisy['dropout']:g}, {noisy['edge']:g}, L2 {noisy['l2']:g}", course(noisy))]))
    svg("rate.svg", rates, "rate of dropout")
    svg("course.svg", courses, "iteration")


main()
