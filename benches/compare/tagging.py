#!/usr/bin/env python3
"""Compares the speed of tagging with dropchain and with CRFsuite (python-crfsuite) on CoNLL-2000, in one run.

    pip install python-crfsuite
    cargo build --release
    python3 benches/compare/tagging.py FOLDER_WITH_CONLL2000 > table.md

Both are trained for 30 iterations on the training file, which is enough for a model of full size.
What is tagged is the training and the test file. Whole processes are measured, from start to end,
by processor time (user and system, all threads) and by the clock; the least of several rounds in
which all take turns counts. The contenders:

- dropchain from columns (word, part of speech), template `chunk`, on one thread and on two;
- dropchain from raw text, template `minimal`;
- dropchain and python-crfsuite from ready attributes (CRFsuite's 19 templates) in a file;
- python-crfsuite with the attributes made in Python.
"""

import os, platform, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from material import PROGRAM, attributes, sentences, write_attributes

ROUNDS = 3
ITERATIONS = "30"


def peer(model, source, ready):
    """Tags with python-crfsuite, in a process of its own."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    out = sys.stdout
    if ready:
        items = []
        for line in open(source, encoding="utf-8"):
            line = line.rstrip("\n")
            if line:
                items.append(line.split("\t")[1:])
            elif items:
                out.write("\n".join(tagger.tag(items)) + "\n\n")
                items = []
        return
    for sentence in sentences(source):
        items = [list(attributes(sentence, t)) for t in range(len(sentence))]
        out.write("\n".join(tagger.tag(items)) + "\n\n")


def train_peer(source, model):
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence in sentences(source):
        items = [list(attributes(sentence, t)) for t in range(len(sentence))]
        trainer.append(pycrfsuite.ItemSequence(items), [cells[2] for cells in sentence])
    trainer.set_params({"c1": 0, "c2": 1.0, "max_iterations": int(ITERATIONS)})
    trainer.train(model)


def measure(command, target):
    with open(target, "wb") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        clock = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, clock


def main():
    folder = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        train, test = os.path.join(folder, "train.txt"), os.path.join(folder, "test.txt")
        with open(path("all.txt"), "w", encoding="utf-8") as out:
            for file in (train, test):
                out.write(open(file, encoding="utf-8").read().rstrip("\n") + "\n\n")
        with open(path("all.raw"), "w", encoding="utf-8") as out:
            for sentence in sentences(path("all.txt")):
                out.write(" ".join(cells[0] for cells in sentence) + "\n")
        write_attributes(sentences(train), path("train.crfsuite"))
        tokens = write_attributes(sentences(path("all.txt")), path("all.crfsuite"))

        ours = [PROGRAM, "train", "--max-iterations", ITERATIONS, "--quiet"]
        columns = [train, "--columns", "word,pos,chunk"]
        subprocess.run(ours + columns + ["--template", "chunk", "--model", path("chunk")], check=True)
        subprocess.run(ours + columns + ["--template", "minimal", "--model", path("minimal")], check=True)
        given = ["--states", "observed", "--boundary", "off", "--l2", "1", "--model", path("given")]
        subprocess.run(ours + [path("train.crfsuite")] + given, check=True)
        here = [sys.executable, os.path.abspath(__file__)]
        subprocess.run(here + ["--train", train, path("peer")], check=True)

        tag = lambda model, source, form, threads: [
            PROGRAM,
            "tag",
            path(model),
            path(source),
            "--format",
            form,
            "--threads",
            str(threads),
        ]
        contenders = {
            "dropchain, columns, 1 thread": tag("chunk", "all.txt", "conll", 1),
            "dropchain, columns, 2 threads": tag("chunk", "all.txt", "conll", 2),
            "dropchain, raw text, 1 thread": tag("minimal", "all.raw", "text", 1),
            "dropchain, ready attributes, 1 thread": tag("given", "all.crfsuite", "crfsuite", 1),
            "python-crfsuite, ready attributes": here + ["--ready", path("peer"), path("all.crfsuite")],
            "python-crfsuite, attributes in Python": here + ["--python", path("peer"), path("all.txt")],
        }
        best = {name: (float("inf"), float("inf")) for name in contenders}
        for _ in range(ROUNDS):
            for number, (name, command) in enumerate(contenders.items()):
                result = measure(command, path(f"out{number}"))
                best[name] = tuple(map(min, best[name], result))
        same = open(path("out0"), "rb").read() == open(path("out1"), "rb").read()
        print(f"{platform.machine()}, {os.cpu_count()} processors, {tokens} tokens, least of {ROUNDS} rounds\n")
        print(
            "| | processor seconds | tokens per processor second | seconds by the clock | times python-crfsuite from ready attributes |"
        )
        print("|---|---|---|---|---|")
        base = best["python-crfsuite, ready attributes"][0]
        for name, (cpu, clock) in best.items():
            print(f"| {name} | {cpu:.2f} | {tokens / cpu / 1e3:.0f} k | {clock:.2f} | {base / cpu:.1f} |")
        print(f"\nThe output of 1 and 2 threads is {'the same' if same else 'NOT the same'}, byte for byte.")
        for name in ("chunk", "given", "peer"):
            print(f"Model `{name}`: {os.path.getsize(path(name)) / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train_peer(*sys.argv[2:4])
    elif sys.argv[1:2] in (["--ready"], ["--python"]):
        peer(sys.argv[2], sys.argv[3], sys.argv[1] == "--ready")
    else:
        main()
