"""Draws line plots as SVG files by the plots of `dropchain report`."""

import json, os, subprocess, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PLOT = ["cargo", "run", "--quiet", "--package", "dropchain-report", "--example", "plot", "--"]


def draw(path, panels, x, y, from_zero=False, **sheet):
    """Draws panels side by side. A panel is (title, [(label, points)]), a point (x, y) or (x, y,
    low, high). x and y are axes: {"label": ..., "scale": "linear" or "log"}."""
    series = lambda lines: [{"name": name, "points": points} for name, points in lines]
    highest = lambda lines: max(point[1] for _, points in lines for point in points)
    own = lambda lines: y | {"range": (0, 1.06 * highest(lines))} if from_zero else y
    sheet["panels"] = [{"title": title, "x": x, "y": own(lines), "series": series(lines)}
                       for title, lines in panels]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(sheet, file)
        file.flush()
        subprocess.run([*PLOT, file.name, os.path.abspath(path)], check=True, cwd=ROOT)
