"""The stubs of the extension module and the docstrings."""

import ast
import importlib.resources
import inspect
import subprocess
import sys
import typing

import pytest

import dropchain
from dropchain import _dropchain, _options

ALIASES = ("_Path", "_Label", "_Columns", "_Threshold")
CLASSES = [getattr(dropchain, name) for name in dropchain.__all__ if name[0].isupper()]


def stubs():
    file = importlib.resources.files(dropchain).joinpath("_dropchain.pyi")
    return ast.parse(file.read_text("utf-8"))


def names(body):
    kinds = (ast.ClassDef, ast.FunctionDef)
    found = {node.name for node in body if isinstance(node, kinds)}
    return found | {node.target.id for node in body if isinstance(node, ast.AnnAssign)}


def test_the_stubs_have_all_names():
    inside = {name for name in vars(_dropchain) if not name.startswith("__")}
    inside |= {"__version__"}
    declared = {name for name in names(stubs().body) if name not in ALIASES}
    assert declared == inside


def test_the_stubs_have_all_members():
    for node in stubs().body:
        if not isinstance(node, ast.ClassDef):
            continue
        described = getattr(_dropchain, node.name)
        if issubclass(described, BaseException):
            continue
        members = vars(described)
        inside = {name for name in members if not name.startswith("__")}
        declared = {name for name in names(node.body) if not name.startswith("__")}
        assert declared == inside, node.name


def test_the_stubs_agree_with_the_module():
    pytest.importorskip("mypy.stubtest")
    command = [sys.executable, "-m", "mypy.stubtest", "dropchain._dropchain"]
    command.append("--ignore-missing-stub")  # of `__all__`; other names have a test
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("thing", CLASSES, ids=lambda thing: thing.__name__)
def test_everything_public_is_documented(thing):
    assert inspect.getdoc(thing)
    if dataclass_fields := getattr(thing, "__dataclass_fields__", None):
        source = inspect.getsource(thing)
        for name in dataclass_fields:
            assert f'    {name}: ' in source
    for name, member in vars(thing).items():
        if not name.startswith("_") and not isinstance(member, (int, float, str, type(None))):
            documented = name in getattr(thing, "__dataclass_fields__", ()) or member.__doc__
            assert documented, f"{thing.__name__}.{name}"


def test_functions_are_documented_with_their_parameters():
    functions = (dropchain.train, dropchain.tune, dropchain.evaluate)
    functions += (dropchain.compare, dropchain.check, dropchain.report)
    for function in functions:
        for name in inspect.signature(function).parameters:
            assert name in function.__doc__, f"{function.__name__}: {name}"


def test_options_are_those_of_the_command_line():
    assert set(_options.NAMES) == {row["name"] for row in _dropchain.option_table()}


def test_options_are_typed():
    assert len(typing.get_type_hints(_options.TrainOptions)) == len(_options.NAMES)
