"""The examples of the documentation: pages, and docstrings."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import dropchain

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

#: Packages that pages use, with the word by which a block is known.
OPTIONAL = {
    "spacy": "spacy",
    "pycrfsuite": "import pycrfsuite",
    "sklearn": "sklearn",
    "pandas": "import pandas",
    "pyarrow": "import pyarrow",
    "pyspark": "pyspark",
    "eli5": "eli5",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text("utf-8")
    namespace = {"__name__": "__main__"}
    for match in BLOCK.finditer(text):
        block = match[1]
        if any(word in block and not installed(name) for name, word in OPTIONAL.items()):
            continue
        # Errors name the page and the line.
        line = text.count("\n", 0, match.start()) + 1
        exec(compile("\n" * line + block, str(page), "exec"), namespace)


def installed(name):
    return importlib.util.find_spec(name) is not None


def modules():
    """Return the names of all modules whose optional packages are installed."""
    missing = [f"dropchain.{name}" for name in ("sklearn", "spacy") if not installed(name)]
    found = pkgutil.walk_packages(dropchain.__path__, "dropchain.", onerror=lambda name: None)
    return [info.name for info in found if not info.name.startswith(tuple(missing))]


def collect():
    """Return the examples of all docstrings, by the name of what they belong to."""
    finder = doctest.DocTestFinder()
    tests = {}
    for name in ["dropchain", *modules()]:
        module = importlib.import_module(name)
        for test in finder.find(module, name):
            if test.examples:
                tests[test.name] = test
    seen = {test.docstring for test in tests.values()}
    for name in dropchain.__all__:
        thing = getattr(dropchain, name)
        members = vars(thing).items() if inspect.isclass(thing) else ()
        for path, member in [(name, thing), *((f"{name}.{m}", v) for m, v in members)]:
            text = inspect.getdoc(member) or ""
            if ">>>" in text and getattr(member, "__doc__", None) not in seen:
                test = doctest.DocTestParser().get_doctest(text, {}, path, None, None)
                tests[f"dropchain.{path}"] = test
    return tests


TESTS = collect()


@pytest.mark.parametrize("name", sorted(TESTS))
def test_the_examples_of_a_docstring_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = []
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=options, verbose=False)
    failed = runner.run(TESTS[name], out=report.append).failed
    assert not failed, "".join(report)


def test_there_are_examples_of_the_extension_module():
    assert {"dropchain.Tagger.tag", "dropchain.Corpus", "dropchain.Template"} <= set(TESTS)
