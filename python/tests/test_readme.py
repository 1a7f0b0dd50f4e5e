"""The examples of README.md, with what they print."""

import doctest
import pathlib

import pytest

README = pathlib.Path(__file__).parent.parent / "README.md"


def test_the_examples_print_what_the_readme_says(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="skipped: scikit-learn is not installed")
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, README.name, str(README), 0)
    assert len(test.examples) > 20
    failed, _ = doctest.DocTestRunner().run(test)
    assert failed == 0
