"""Pictures: a description in JSON beside the results, and the SVG that is drawn of it."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DRAW = ["cargo", "run", "--quiet", "--package", "dropchain-report", "--example", "plot", "--"]


def describe(stem, title, x, y, series, note=""):
    """Writes STEM.json and returns its path. An axis is a label, or a label and "log"; a series is
    (name, points) or (name, points, style), with points (x, y) or (x, y, low, high)."""
    lines = [{"name": name, "points": [list(point) for point in points],
              "style": (*style, "line")[0]} for name, points, *style in series]
    panel = {"x": axis(x), "y": axis(y), "series": lines}
    sheet = {"title": title, "panels": [panel], "note": note}
    path = Path(f"{stem}.json")
    path.write_text(json.dumps(sheet) + "\n")
    return path


def axis(label):
    name, scale = (label, "linear") if isinstance(label, str) else label
    return {"label": name, "scale": scale}


def draw(path):
    """Draws a description to an SVG of the same name."""
    path = Path(path).resolve()
    subprocess.run([*DRAW, str(path), str(path.with_suffix(".svg"))], check=True, cwd=ROOT)
