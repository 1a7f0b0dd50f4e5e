"""The package as it is installed."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import dropchain


def test_the_version_is_that_of_the_metadata():
    assert dropchain.__version__ == importlib.metadata.version("dropchain")


def test_type_checkers_find_the_stubs():
    files = importlib.resources.files(dropchain)
    assert files.joinpath("py.typed").is_file()
    assert files.joinpath("_dropchain.pyi").is_file()


def test_optional_packages_are_imported_only_where_they_are_used():
    code = (
        "import sys, dropchain, dropchain.pycrfsuite\n"
        "print(sorted({'scipy', 'sklearn', 'spacy', 'tqdm'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "[]\n", printed.stderr
