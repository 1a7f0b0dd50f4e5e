#!/usr/bin/env python3
"""Pictures of the program for the documentation, as it is now: on a terminal and in a browser.

    cargo build --release
    docs/figures/screens.py [PROGRAM [FOLDER]]

Needs the Python packages pyte and rich, and Chromium. All input is the sample corpus.
"""

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from itertools import groupby
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
ROWS, COLUMNS = 60, 84

TERMINALS = {
    "train.svg": "train train.conll --columns word,upos,ner --dev dev.conll -m ner.model",
    "check.svg": "check train.conll --columns word,upos,ner --dev dev.conll --test test.conll "
    "--examples 1",
    "errors.svg": "eval ner.model test.conll --errors --max-errors 1",
}

# The first picture of the README: the program on a terminal, in a browser, and its report.
ROW = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 12px; background: {ground}; display: grid; gap: 16px;
  grid-template-columns: 1fr 1fr; grid-template-rows: 286px 286px; }}
figure {{ margin: 0; overflow: hidden; border: 1px solid #8886; border-radius: 8px; }}
figure:first-child {{ grid-row: span 2; background: #0c0c0c; }}
img {{ width: 100%; display: block; }}
figure:last-child img {{ margin-top: -84px; }}
</style>
<figure><img src="errors.svg"></figure>
<figure><img src="serve.png"></figure>
<figure><img src="report.png"></figure>
"""
GROUNDS = {"light": "#ffffff", "dark": "#0d1117"}

# Without the fonts that rich takes from the web.
SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def screen(command: list[str], folder: Path) -> pyte.Screen:
    """Run a command on a terminal of its own, and return what stays there."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.pop("NO_COLOR", None)
        os.environ["TERM"] = "xterm-256color"
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    shown = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(shown)
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not read:
            break
        stream.feed(read)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit(f"{' '.join(command)} failed:\n" + "\n".join(shown.display))
    return shown


def styled(line: dict[int, pyte.screens.Char]) -> Text:
    """Return a line of a terminal with its colors."""
    text = Text()
    cells = (line[x] for x in range(COLUMNS))
    for (ink, ground, bold), run in groupby(cells, lambda cell: (cell.fg, cell.bg, cell.bold)):
        words = "".join(cell.data for cell in run)
        text.append(words, Style(color=color(ink), bgcolor=color(ground), bold=bold))
    text.rstrip()
    return text


def color(name: str) -> str | None:
    """Return a color of pyte as rich names it."""
    return None if name == "default" else f"#{name}" if len(name) == 6 else name


def draw_terminal(figure: Path, program: str, arguments: str, folder: Path) -> None:
    shown = screen([program, *arguments.split()], folder)
    used = max(y for y, line in enumerate(shown.display) if line.strip()) + 1
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)
    console.print(Text(f"$ dropchain {arguments}", style="bold"), overflow="fold")
    for y in range(used):
        console.print(styled(shown.buffer[y]), soft_wrap=True)
    svg = console.export_svg(title="", theme=MONOKAI, code_format=SVG, unique_id="t")
    figure.write_text(svg, encoding="utf-8")


def photograph(
    figure: Path, address: str, size: str, chromium: str, scheme: str = "light"
) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options.append(f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                chromium,
                *options,
                "--virtual-time-budget=5000",
                f"--user-data-dir={profile}",
                f"--window-size={size}",
                f"--screenshot={figure}",
                address,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/dropchain"
    program = str(Path(given).resolve())
    figures = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/figures").resolve()
    figures.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("found no Chromium")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("train", "dev", "test"):
            shutil.copy(ROOT / f"corpora/sample/{part}.conll", folder)
        for figure, arguments in TERMINALS.items():
            draw_terminal(figures / figure, program, arguments, folder)

        def run(line: str, **options: object) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run([program, *line.split()], cwd=folder, check=True, **options)

        run(f"{TERMINALS['train.svg']} --quiet --log run.log")
        inputs = "run.log --model ner.model --gold dev.conll --train train.conll"
        run(f"report {inputs} --output report.html --quiet")
        photograph(figures / "report.png", f"file://{folder}/report.html", "1000,1000", chromium)
        text = b"Ada Lovelace lived in London.\n"
        page = run("explain ner.model --output html", input=text, stdout=subprocess.PIPE).stdout
        (folder / "explain.html").write_bytes(page)
        photograph(figures / "explain.png", f"file://{folder}/explain.html", "1000,620", chromium)
        server = subprocess.Popen(
            [program, "serve", "ner.model", "--listen", "127.0.0.1:0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            address = server.stdout.readline().split()[-1]
            photograph(figures / "serve.png", address, "1000,520", chromium)
            for scheme, ground in GROUNDS.items():
                page = folder / scheme
                page.mkdir()
                shutil.copy(figures / "errors.svg", page)
                report = f"file://{folder}/report.html"
                photograph(page / "report.png", report, "1000,1000", chromium, scheme)
                photograph(page / "serve.png", address, "800,384", chromium, scheme)
                (page / "row.html").write_text(ROW.format(ground=ground))
                figure = figures / f"program-{scheme}.png"
                photograph(figure, f"file://{page}/row.html", "1240,612", chromium, scheme)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
