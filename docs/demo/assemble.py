"""Puts the module, its bindings, a model and marks into page.html: one file without a server.

    python3 docs/demo/assemble.py target/wasm/no-modules MODEL target/wasm/demo.html
"""

import base64
import gzip
import sys
from pathlib import Path

MARKS = Path(__file__).parents[2] / "crates/formats/src/marks"


def read(path):
    """Returns a text."""
    return path.read_text(encoding="utf-8")


def packed(path):
    """Returns a file, compressed, as text."""
    return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode("ascii")


def main():
    folder, model, output = map(Path, sys.argv[1:])
    script = read(MARKS / "marks.js").replace("/* hues */ {}", read(MARKS / "hues.json").strip())
    page = read(Path(__file__).with_name("page.html"))
    for place, content in [
        ("/* marks */", read(MARKS / "marks.css")),
        ("/* script of marks */", script),
        ("/* the bindings */", read(folder / "dropchain.js").replace("</script", "<\\/script")),
        ("/* the module, gzip, base64 */", packed(folder / "dropchain_bg.wasm")),
        ("/* the model, gzip, base64 */", packed(model)),
    ]:
        before, after = page.split(place)  # exactly once
        page = before + content + after
    output.write_text(page, encoding="utf-8")


main()
