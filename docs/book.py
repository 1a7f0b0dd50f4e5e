"""Makes a book of the documentation, target/book/html, by mdBook, and checks the links between its
pages:

    pip install latex2mathml
    python3 docs/book.py [MDBOOK]

The pages are those of docs/SUMMARY.md and, after them, the records of measurements. So that links
which leave docs/ work as they do in the repository, its files are copied to where mdBook looks.
Formulas are what GitHub shows as such, blocks of `math`; the book has them as MathML, which
browsers show without a network.
"""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "target/book"
LINK = re.compile(r"\]\(([^()\s:#]+)(#[^()\s]*)?\)")
MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tracked():
    """The files of the repository, without what is linked to elsewhere."""
    command = ["git", "ls-files", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    return sorted(name for name in names.decode().split("\0") if (ROOT / name).is_file())


def prepared(page, text):
    """The text of a page as mdBook needs it: links to a folder go to its README.md, those to the
    summary to the table of contents."""

    def link(match):
        path, anchor = match[1], match[2] or ""
        folder = ROOT / page.parent / path
        if (folder / "README.md").is_file():
            path = f"{path.rstrip('/')}/README.md"
        path = path.replace("docs/SUMMARY.md", "toc.html")
        return f"]({path}{anchor})"

    def formula(match):
        numbered = re.sub(r"\\tag\{(.+?)\}", r"\\qquad (\1)", match[1])
        return f'<div class="formula">{convert(numbered, display="block")}</div>'

    return MATH.sub(formula, LINK.sub(link, text))


def summary(pages):
    """docs/SUMMARY.md, from the root, with the records."""
    text = (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")
    listed = set()

    def from_root(match):
        path = os.path.normpath(f"docs/{match[1]}")
        listed.add(path)
        return f"]({path})"

    lines = [LINK.sub(from_root, text), "# Measurements\n"]
    missing = [page for page in pages if page not in listed and page != "docs/SUMMARY.md"]
    if outside := [page for page in missing if page.startswith("docs/")]:
        sys.exit(f"docs/SUMMARY.md does not link to {', '.join(outside)}")
    for page in missing:
        first = (ROOT / page).read_text(encoding="utf-8").lstrip().split("\n", 1)[0]
        title = re.sub(r"[\[\]`]", "", first[2:]) if first.startswith("# ") else page
        is_part = not page.endswith("README.md") and f"{Path(page).parent}/README.md" in missing
        lines.append(f"{'  ' * is_part}- [{title}]({page})")
    return "\n".join(lines) + "\n"


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def broken_links(folder):
    """The links of the pages that lead nowhere in the book."""
    # Pages of the program are files like others.
    own = {path for path in folder.rglob("*.html") if (ROOT / path.relative_to(folder)).exists()}
    own |= {folder / "404.html", folder / "print.html"}
    paths = [path for path in folder.rglob("*.html") if path not in own]
    pages = {path: Page(path) for path in paths}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            known = target not in pages or not anchor or anchor in pages[target].anchors
            if not target.exists() or not known:
                yield f"{path.relative_to(folder)}: {link}"


def main():
    mdbook = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "mdbook")
    if mdbook is None:
        sys.exit("mdbook not found; install it: cargo install --locked mdbook")
    shutil.rmtree(BOOK, ignore_errors=True)
    files = tracked()
    pages = [name for name in files if name.endswith(".md")]
    for name in files:
        copy = BOOK / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if name in pages:
            text = (ROOT / name).read_text(encoding="utf-8")
            copy.write_text(prepared(Path(name), text), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, copy)
    (BOOK / "source/SUMMARY.md").write_text(summary(pages), encoding="utf-8")
    subprocess.run([mdbook, "build", ROOT / "docs"], check=True)
    if broken := list(broken_links(BOOK / "html")):
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print(f"{BOOK / 'html/index.html'}: {len(pages)} pages")


if __name__ == "__main__":
    main()
