"""Puts the module and its bindings into page.html: one file that works without a server.

    python3 docs/demo/assemble.py target/wasm/no-modules target/wasm/demo.html
"""

import base64
import gzip
import sys
from pathlib import Path

BINDINGS = "/* the bindings */"
MODULE = "/* the module, gzip, base64 */"


def main():
    folder, output = map(Path, sys.argv[1:])
    bindings = (folder / "dropchain.js").read_text(encoding="utf-8")
    module = gzip.compress((folder / "dropchain_bg.wasm").read_bytes(), 9, mtime=0)
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    for place, content in [
        (BINDINGS, bindings.replace("</script", "<\\/script")),
        (MODULE, base64.b64encode(module).decode("ascii")),
    ]:
        before, after = page.split(place)  # exactly once
        page = before + content + after
    output.write_text(page, encoding="utf-8")


main()
