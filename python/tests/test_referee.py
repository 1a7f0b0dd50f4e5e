"""The tests of python-crfsuite and sklearn-crfsuite, run against this package.

They come from the source distributions, with the import name replaced. Those that their authors
expect to fail are run, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

#: Where downloads are kept.
CACHE = Path(__file__).resolve().parents[2] / "target" / "python" / "referee"

#: What is replaced in the tests of each package.
PEERS = {
    "python-crfsuite==0.9.12": {
        "import pycrfsuite": "from dropchain import pycrfsuite",
        "from pycrfsuite": "from dropchain.pycrfsuite",
    },
    "sklearn-crfsuite==0.5.0": {"from sklearn_crfsuite": "from dropchain.sklearn"},
}

#: How many tests there are, so that none is lost.
TESTS = {"python-crfsuite==0.9.12": 51, "sklearn-crfsuite==0.5.0": 45}

#: Tests that fail here, with the reason.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "python-crfsuite==0.9.12": {},
    "sklearn-crfsuite==0.5.0": {},
}

#: Tests that the peers expect to fail with themselves, and that pass here.
FIXED = {
    "python-crfsuite==0.9.12": {
        "test_bad",
        "test_open_invalid_with_correct_signature",
        "test_tag_not_opened",
        "test_tag_invalid_feature_format[foo]",
        "test_tag_invalid_feature_format[bad_seq1]",
        "test_tag_invalid_feature_format[bad_seq2]",
    },
    "sklearn-crfsuite==0.5.0": {"test_flat_f1_score_binary"},
}


def source(peer: str, folder: Path) -> Path:
    """Downloads and unpacks a source distribution; returns its folder."""
    done = folder / "done"
    if not done.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        # Not ":all:": what it takes to read the version of a source is not to be compiled.
        command += ["--no-binary", peer.partition("==")[0], "--dest", str(folder), peer]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            pytest.skip(f"skipped: downloading {peer} takes too long")
        if run.returncode != 0:
            pytest.skip(f"skipped: {peer} cannot be downloaded: {run.stderr.strip()[-300:]}")
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            # The filter is in every maintained version of CPython.
            tar.extractall(folder, filter="data")
        done.touch()
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def copy_tests(peer: str, tests: Path, target: Path) -> None:
    for file in tests.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        for old, new in PEERS[peer].items():
            text = re.sub(rf"^(\s*){old}\b", rf"\g<1>{new}", text, flags=re.MULTILINE)
        assert not re.search(r"^\s*(import|from) (pycrfsuite|sklearn_crfsuite)", text, re.MULTILINE)
        (target / file.name).write_text(text, encoding="utf-8")


def outcomes(folder: Path) -> dict[str, bool]:
    """Runs pytest in a folder. Returns for each test whether it passed."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--runxfail", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "-c", str(folder / "pytest.ini")]
    command += [f"--junit-xml={report}", str(folder)]
    (folder / "pytest.ini").write_text("[pytest]\n")
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert report.exists(), run.stdout + run.stderr
    print(run.stdout[-5000:])
    results = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        results[case.attrib["name"]] = not any(
            child.tag in ("failure", "error", "skipped") for child in case
        )
    return results


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_tests_of_the_peer_pass(peer, tmp_path):
    if peer.startswith("sklearn"):
        pytest.importorskip("sklearn")
    cache = CACHE / re.sub(r"\W+", "-", peer)
    cache.mkdir(parents=True, exist_ok=True)
    copy_tests(peer, source(peer, cache) / "tests", tmp_path)
    results = outcomes(tmp_path)
    assert len(results) == TESTS[peer]
    failed = {name for name, passed in results.items() if not passed}
    assert failed == set(EXCEPTIONS[peer])
    assert set(results) >= FIXED[peer]
