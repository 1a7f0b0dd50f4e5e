"""The program in the wheel: it behaves as the one without Python."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("dropchain")
CALLS = [[str(PROGRAM)], [sys.executable, "-m", "dropchain"]]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="skipped: it is not on the PATH")


def run(*arguments, call=0, **options):
    return subprocess.run([*CALLS[call], *arguments], capture_output=True, **options)


@pytest.fixture(scope="module")
def model(tagger, tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "ner.model"
    tagger.save(path)
    return str(path)


@pytest.mark.parametrize("call", [0, 1])
def test_input_output_and_exit_codes_are_those_of_the_program(call, model):
    done = run("tag", model, "--output", "inline", call=call, input=b"She lives in London.\n")
    assert done.returncode == 0 and b"London" in done.stdout and b"LOC" in done.stdout
    assert run("--version", call=call).stdout.startswith(b"dropchain ")
    wrong = run("tag", "no.model", call=call, stdin=subprocess.DEVNULL)
    assert wrong.returncode == 1 and wrong.stderr.startswith(b"error: ")
    usage = run("tag", "--nonsense", call=call)
    assert usage.returncode == 2 and usage.stderr.startswith(b"error: ")


def test_it_starts_without_numpy():
    code = "import sys, dropchain_program as p; p._extension(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.skipif(os.name == "nt", reason="skipped: signals of Unix")
def test_signals_pipes_and_streams_are_those_of_the_program(model):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*CALLS[0], "tag", model], **pipes) as process:
        # A line is answered before the input ends.
        process.stdin.write(b"Ada O\n\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Ada")
        process.stdin.close()
        assert process.wait() == 0
    endless = f"yes 'Ada left London.' | '{PROGRAM}' tag '{model}' --format text | head -n 1"
    done = subprocess.run(endless, shell=True, capture_output=True, timeout=60)
    assert done.stdout and not done.stderr
    command = [*CALLS[0], "serve", model, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, **pipes) as server:
        assert server.stdout.readline().startswith(b"listening on http://127.0.0.1:")
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 0 and b"Traceback" not in server.stderr.read()
    command = [*CALLS[0], "train", "-", "--model", f"{model}.new", "--format", "conll"]
    with subprocess.Popen(command, **pipes) as training:
        time.sleep(1)
        training.send_signal(signal.SIGINT)
        assert training.wait(timeout=30) in (130, -signal.SIGINT)
        assert b"Traceback" not in training.stderr.read()
