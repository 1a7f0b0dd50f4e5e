"""Runs of `dropchain classify`, each of which happens once.

A run trains on a file and scores another. Its result is a line of a file of results, by a digest of
the program, the options and the contents of the files, so that an interrupted command resumes.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import labeled


@dataclass(frozen=True)
class File:
    """A file and the digest of its contents."""

    path: Path
    digest: str


class Program:
    """The program, its files and its results."""

    def __init__(self, path, results):
        self.path = str(path)
        self.digest = digest(Path(path).read_bytes())
        self.lock = threading.Lock()
        self.results = results
        self.found = {}
        if results.exists():
            for line in results.read_text().splitlines():
                result = json.loads(line)
                self.found[result["run"]] = result
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def store(self, lines, suffix):
        """Writes lines to a file that has the name of its contents."""
        text = labeled.text_of(lines, suffix).encode()
        file = File(self.folder / (digest(text) + suffix), digest(text))
        with self.lock:
            file.path.write_bytes(text)
        return file

    def score(self, train, options, test, kind="classes", round=0):
        """Trains and scores, or returns what was found before.

        Kinds of scores: of `classes` the error in percent and which documents are right, of
        `deletions` errors by the rate of features that are left out. Both have the processor
        seconds of training and of prediction. A round other than 0 is a repetition. Options may be
        files.
        """
        names = [option.digest if isinstance(option, File) else str(option) for option in options]
        paths = [option.path if isinstance(option, File) else str(option) for option in options]
        key = digest(json.dumps(
            [self.digest, train.digest, test.digest, names, kind, round]).encode())
        if key not in self.found:
            result = {"run": key, "options": " ".join(names)} | self.run(train, paths, test, kind)
            with self.lock:
                self.found[key] = result
                with self.results.open("a") as file:
                    file.write(json.dumps(result) + "\n")
        return self.found[key]

    def run(self, train, options, test, kind):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            model = str(Path(folder) / "model")
            _, seconds = self.call("classify", "train", train.path, "--model", model, "--quiet",
                                   "--threads", 1, *options)
            if kind == "deletions":
                text, predicting = self.call("classify", "eval", model, test.path, "--json",
                                             "--delete", "0..0.9")
                found = {"errors": {f"{report['rate']:.1f}": 100 * (1 - report["accuracy"])
                                    for report in json.loads(text)}}
            else:
                is_svmlight = test.path.suffix == ".svm"
                form = "svmlight" if is_svmlight else "labeled"
                text, predicting = self.call("classify", "predict", model, test.path,
                                             "--format", form)
                gold = test.path.read_text(encoding="utf-8")
                found = rightness(text, gold, " " if is_svmlight else "\t")
        return found | {"seconds": seconds, "predicting": predicting}

    def call(self, *arguments):
        """Returns what is printed, and the processor seconds."""
        command = [self.path, *map(str, arguments)]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if process.returncode not in (0, 3):  # 3: as good as converged
                sys.stderr.write(f"{' '.join(command)}\n{err.read()}")
                raise SystemExit(1)
            return out.read(), usage.ru_utime + usage.ru_stime


def rightness(predicted, gold, separator):
    """The error in percent, and for each document whether it is right."""
    guesses = [line.split("\t")[0] for line in predicted.splitlines()]
    labels = [line.split(separator)[0] for line in gold.split("\n") if line]
    if len(guesses) != len(labels):
        raise ValueError(f"{len(guesses)} predictions of {len(labels)} documents")
    right = "".join("01"[guess == label] for guess, label in zip(guesses, labels))
    return {"error": 100 * right.count("0") / len(right), "right": right}


def digest(contents):
    return hashlib.sha256(contents).hexdigest()[:24]
