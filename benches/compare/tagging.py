#!/usr/bin/env python3
"""Compares the tagging speed of dropchain and CRFsuite (python-crfsuite) on CoNLL-2000, in one run.

    pip install python-crfsuite
    cargo build --release
    python3 benches/compare/tagging.py FOLDER_WITH_CONLL2000 > table.md

Both are trained for 30 iterations on the training file, enough for a model of full size, and tag
the training and test files. Processes are measured as a whole, in CPU time (user and system, all
threads) and in wall time; each figure is the minimum of several interleaved rounds. Variants:

- dropchain from columns (word, part of speech), template `chunk`, with one thread and with two, and
  with weights of 2 bytes;
- dropchain from raw text, template `minimal`;
- dropchain and python-crfsuite from a file of pre-extracted attributes (CRFsuite's 19 templates);
- python-crfsuite with attributes extracted in Python;
- python-crfsuite from items that are in memory already: of this run, the time of inference alone.
"""

import os, platform, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import (
    PROGRAM, chunking_attributes, read_attributes, read_conll, write_attributes,
)

ROUNDS = 3
ITERATIONS = "30"
BASELINE = "python-crfsuite, pre-extracted attributes"
INFERENCE = "python-crfsuite, inference alone"


def tag_crfsuite(model, source, extracted):
    """Tags with python-crfsuite, in a separate process."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    out = sys.stdout
    if extracted:
        items = []
        for line in open(source, encoding="utf-8"):
            line = line.rstrip("\n")
            if line:
                items.append(line.split("\t")[1:])
            elif items:
                out.write("\n".join(tagger.tag(items)) + "\n\n")
                items = []
        return
    for sentence in read_conll(source):
        items = [list(chunking_attributes(sentence, t)) for t in range(len(sentence))]
        out.write("\n".join(tagger.tag(items)) + "\n\n")


def time_inference(model, source):
    """Prints the CPU seconds and wall seconds that CRFsuite takes for items in memory."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    sentences = [pycrfsuite.ItemSequence(items) for _, items in read_attributes(source)]
    start = time.process_time(), time.perf_counter()
    for sentence in sentences:
        tagger.tag(sentence)
    print(time.process_time() - start[0], time.perf_counter() - start[1])


def train_crfsuite(sentences, model, iterations):
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence in sentences:
        items = [list(chunking_attributes(sentence, t)) for t in range(len(sentence))]
        trainer.append(pycrfsuite.ItemSequence(items), [cells[2] for cells in sentence])
    trainer.set_params({"c1": 0, "c2": 1.0, "max_iterations": int(iterations)})
    trainer.train(model)


def measure(command, target):
    """Returns the CPU seconds and wall seconds of a command."""
    with open(target, "wb") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, wall


def prepare(folder, path):
    """Writes the inputs and trains the models; returns the number of tokens to tag."""
    train, test = os.path.join(folder, "train.txt"), os.path.join(folder, "test.txt")
    with open(path("all.txt"), "w", encoding="utf-8") as out:
        for file in (train, test):
            out.write(open(file, encoding="utf-8").read().rstrip("\n") + "\n\n")
    with open(path("all.raw"), "w", encoding="utf-8") as out:
        for sentence in read_conll(path("all.txt")):
            out.write(" ".join(cells[0] for cells in sentence) + "\n")
    write_attributes(read_conll(train), path("train.crfsuite"))
    tokens = write_attributes(read_conll(path("all.txt")), path("all.crfsuite"))

    dropchain = [PROGRAM, "train", "--max-iterations", ITERATIONS, "--quiet"]
    columns = dropchain + [train, "--columns", "word,pos,chunk"]
    for template in ("chunk", "minimal"):
        subprocess.run(columns + ["--template", template, "--model", path(template)], check=True)
    convert = [PROGRAM, "convert", path("chunk"), "--precision", "f16", "--quiet"]
    subprocess.run(convert + ["--model", path("chunk-f16")], check=True)
    crfsuite_like = ["--states", "observed", "--boundary", "off", "--l2", "1"]
    command = dropchain + [path("train.crfsuite")] + crfsuite_like
    subprocess.run(command + ["--model", path("extracted")], check=True)
    command = [sys.executable, os.path.abspath(__file__), "--train", train, path("crfsuite")]
    subprocess.run(command, check=True)
    return tokens


def contenders(path):
    """Returns {name: command}."""

    def dropchain(model, source, form, threads):
        command = [PROGRAM, "tag", path(model), path(source), "--format", form]
        return command + ["--threads", str(threads)]

    def crfsuite(mode, source):
        script = os.path.abspath(__file__)
        return [sys.executable, script, mode, path("crfsuite"), path(source)]

    return {
        "dropchain, columns, 1 thread": dropchain("chunk", "all.txt", "conll", 1),
        "dropchain, columns, 2 threads": dropchain("chunk", "all.txt", "conll", 2),
        "dropchain, columns, weights of 2 bytes, 1 thread": dropchain(
            "chunk-f16", "all.txt", "conll", 1
        ),
        "dropchain, raw text, 1 thread": dropchain("minimal", "all.raw", "text", 1),
        "dropchain, pre-extracted attributes, 1 thread": dropchain(
            "extracted", "all.crfsuite", "crfsuite", 1
        ),
        BASELINE: crfsuite("--extracted", "all.crfsuite"),
        "python-crfsuite, attributes extracted in Python": crfsuite("--python", "all.txt"),
        INFERENCE: crfsuite("--inference", "all.crfsuite"),
    }


def main():
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        tokens = prepare(sys.argv[1], path)
        commands = contenders(path)
        best = {name: (float("inf"), float("inf")) for name in commands}
        for _ in range(ROUNDS):
            for number, (name, command) in enumerate(commands.items()):
                result = measure(command, path(f"out{number}"))
                if name == INFERENCE:
                    result = tuple(map(float, open(path(f"out{number}")).read().split()))
                best[name] = tuple(map(min, best[name], result))
        same = open(path("out0"), "rb").read() == open(path("out1"), "rb").read()
        processors = f"{platform.machine()}, {os.cpu_count()} processors"
        print(f"{processors}, {tokens} tokens, minimum of {ROUNDS} rounds\n")
        print("| | CPU seconds | tokens per CPU second | wall seconds | relative speed |")
        print("|---|---|---|---|---|")
        baseline = best[BASELINE][0]
        for name, (cpu, wall) in best.items():
            speed = tokens / cpu / 1e3
            print(f"| {name} | {cpu:.2f} | {speed:.0f} k | {wall:.2f} | {baseline / cpu:.1f} |")
        verdict = "identical" if same else "NOT identical"
        print(f"\nOutputs with 1 and 2 threads are {verdict}, byte for byte.")
        for name in ("chunk", "chunk-f16", "extracted", "crfsuite"):
            print(f"Model `{name}`: {os.path.getsize(path(name)) / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train_crfsuite(read_conll(sys.argv[2]), sys.argv[3], ITERATIONS)
    elif sys.argv[1:2] in (["--extracted"], ["--python"]):
        tag_crfsuite(sys.argv[2], sys.argv[3], sys.argv[1] == "--extracted")
    elif sys.argv[1:2] == ["--inference"]:
        time_inference(*sys.argv[2:4])
    else:
        main()
