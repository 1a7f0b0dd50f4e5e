"""Draws line plots as SVG files by the plots of `dropchain report`."""

import json, os, subprocess, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PLOT = ["cargo", "run", "--quiet", "--package", "dropchain-report", "--example", "plot", "--"]


def draw(path, panels, x, y, **sheet):
    """Draws panels side by side. A panel is (title, [(label, points)]), a point (x, y) or (x, y,
    low, high). x and y are axes: {"label": ..., "scale": "linear" or "log"}."""
    series = lambda lines: [{"name": name, "points": points} for name, points in lines]
    sheet["panels"] = [{"title": title, "x": x, "y": y, "series": series(lines)}
                       for title, lines in panels]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(sheet, file)
        file.flush()
        subprocess.run([*PLOT, file.name, os.path.abspath(path)], check=True, cwd=ROOT)
