"""Figures: a description in JSON beside the results, and the picture that is plotted from it."""

import json
import subprocess
from pathlib import Path

# From a folder of this repository: the examples plots a description to a picture.
PLOT = ("cargo", "run", "-q", "-p", "dropchain-report", "--example", "plot", "--")


def figure(stem, title, x, y, series, note=""):
    """Writes STEM.json and plots it. An axis is a label, or a label and "log"; a series is (name,
    points) or (name, points, style), with points (x, y) or (x, y, low, high)."""
    description = {
        "title": title,
        "x": axis(x),
        "y": axis(y),
        "series": [{"name": line[0], "points": [list(point) for point in line[1]],
                    "style": line[2] if len(line) > 2 else "line"} for line in series],
        "note": note,
    }
    path = Path(f"{stem}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(description) + "\n")
    return path


def axis(label):
    name, scale = (label, "linear") if isinstance(label, str) else label
    return {"label": name, "scale": scale}


def plot(path):
    """Plots a description, a file of JSON, to an SVG of the same name."""
    path = Path(path)
    subprocess.run([*PLOT, str(path.resolve()), str(path.resolve().with_suffix(".svg"))],
                   check=True, cwd=Path(__file__).resolve().parent)
