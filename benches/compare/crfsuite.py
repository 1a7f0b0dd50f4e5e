#!/usr/bin/env python3
"""Compares dropchain with CRFsuite (python-crfsuite) on CoNLL-2000, on the same attributes, in one run.

    pip install python-crfsuite
    cargo build --release
    python3 benches/compare/crfsuite.py FOLDER_WITH_CONLL2000 > table.md

The attributes are the 19 templates of CRFsuite's chunking example, written to a file that both
programs train from, with the same model (observed states, no boundary weights) and penalty
(c2 = 1). Training seconds leave out reading. Peak memory is that of the whole process.
"""
import json, os, platform, resource, subprocess, sys, tempfile, time

TEMPLATES = (
    [[(0, i)] for i in range(-2, 3)]
    + [[(0, -1), (0, 0)], [(0, 0), (0, 1)]]
    + [[(1, i)] for i in range(-2, 3)]
    + [[(1, i), (1, i + 1)] for i in range(-2, 2)]
    + [[(1, i), (1, i + 1), (1, i + 2)] for i in range(-2, 1)]
)
NAMES = ["w", "pos"]
C2 = 1.0


def sentences(path):
    sentence = []
    for line in open(path, encoding="utf-8"):
        cells = line.split()
        if cells:
            sentence.append(cells)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def attributes(sentence, t):
    for template in TEMPLATES:
        places = [(column, t + offset, offset) for column, offset in template]
        if all(0 <= i < len(sentence) for _, i, _ in places):
            name = "|".join(f"{NAMES[c]}[{o}]" for c, _, o in places)
            yield name + "=" + "|".join(sentence[i][c] for c, i, _ in places)
    if t == 0:
        yield "__BOS__"
    if t == len(sentence) - 1:
        yield "__EOS__"


def escape(text):
    return text.replace("\\", "\\\\").replace(":", "\\:")


def write_attributes(source, target):
    tokens = 0
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences(source):
            for t, cells in enumerate(sentence):
                out.write("\t".join([cells[2]] + [escape(a) for a in attributes(sentence, t)]) + "\n")
                tokens += 1
            out.write("\n")
    return tokens


def peer(train, model):
    """Runs in a process of its own, so that its peak memory is its own."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence in sentences(train):
        items = [list(attributes(sentence, t)) for t in range(len(sentence))]
        trainer.append(pycrfsuite.ItemSequence(items), [cells[2] for cells in sentence])
    trainer.set_params({"c1": 0, "c2": C2})
    start = time.perf_counter()
    trainer.train(model)
    seconds = time.perf_counter() - start
    last = trainer.logparser.last_iteration
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "iterations": last["num"], "loss": last["loss"], "peak": peak}))


def ours(program, train, model, log, threads):
    command = [program, "train", train, "--states", "observed", "--boundary", "off", "--l2", str(C2)]
    command += ["--dropout", "0", "--threads", str(threads), "--model", model, "--log", log, "--quiet"]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("dropchain failed")
    events = [json.loads(line) for line in open(log)]
    iterations = [e for e in events if e["event"] == "iteration"]
    return iterations, usage.ru_maxrss / 1024


def main():
    folder = sys.argv[1]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = os.path.join(root, "target", "release", "dropchain")
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        source = os.path.join(folder, "train.txt")
        tokens = write_attributes(source, path("train.crfsuite"))
        assert tokens > 200_000, f"{tokens} tokens: this is not CoNLL-2000"
        here = os.path.abspath(__file__)
        out = subprocess.run(
            [sys.executable, here, "--peer", source, path("peer.model")],
            check=True, capture_output=True, text=True,
        )
        crfsuite = json.loads(out.stdout)
        rows = []
        for threads in (1, 2):
            model = path(f"ours{threads}.model")
            log, peak = ours(program, path("train.crfsuite"), model, path("log"), threads)
            target = crfsuite["loss"] * 1.001
            reached = next(e["seconds"] for e in log if e["objective"] <= target)
            rows.append((threads, log[-1], reached, peak, os.path.getsize(model)))
        same = open(path("ours1.model"), "rb").read() == open(path("ours2.model"), "rb").read()
        print(f"{platform.machine()}, {os.cpu_count()} processors, {tokens} tokens\n")
        print("| | iterations | seconds | ratio | to CRFsuite's loss + 0.1 % | ratio | final loss | peak MB | model MB |")
        print("|---|---|---|---|---|---|---|---|---|")
        base = crfsuite["seconds"]
        size = os.path.getsize(path("peer.model")) / 1e6
        print(
            f"| python-crfsuite | {crfsuite['iterations']} | {base:.1f} | 1 | {base:.1f} | 1 "
            f"| {crfsuite['loss']:.2f} | {crfsuite['peak']:.0f} | {size:.1f} |"
        )
        for threads, last, reached, peak, size in rows:
            print(
                f"| dropchain, threads: {threads} | {last['iteration']} | {last['seconds']:.1f} "
                f"| {base / last['seconds']:.1f} | {reached:.1f} | {base / reached:.1f} "
                f"| {last['objective']:.2f} | {peak:.0f} | {size / 1e6:.1f} |"
            )
        print(f"\nThe models of 1 and 2 threads are {'the same' if same else 'NOT the same'}, byte for byte.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2], sys.argv[3])
    else:
        main()
