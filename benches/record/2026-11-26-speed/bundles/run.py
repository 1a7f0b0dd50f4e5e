"""Tagging before and after bundles, interleaved: python3 run.py BEFORE AFTER CORPORA > result.md

BEFORE and AFTER are programs, CORPORA is the folder of the public corpora. Models are trained with
AFTER for 30 iterations. Times are CPU seconds of whole processes that tag with one thread; the
ratio is the median of pairs.
"""
import os
import statistics
import subprocess
import sys
import tempfile

PAIRS = 15
CASES = [
    ("CoNLL-2000, `chunk`", "conll2000/train.txt", ["--template", "chunk"]),
    (
        "the same, `--precision i8`",
        "conll2000/train.txt",
        ["--template", "chunk", "--precision", "i8"],
    ),
    (
        "the same, observed states",
        "conll2000/train.txt",
        ["--template", "chunk", "--precision", "i8", "--states", "observed"],
    ),
    ("CoNLL-2002 Spanish, `ner`", "conll2002-esp/esp.train", ["--template", "ner"]),
    ("EWT, `pos`", "ewt/train.conllu", ["--template", "pos", "--label", "upos"]),
]


def tag(program, model, source, output):
    with open(output, "wb") as out:
        command = [program, "tag", model, source, "--threads", "1"]
        command += [] if source.endswith("conllu") else ["--format", "conll"]
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
    return usage.ru_utime + usage.ru_stime


def main():
    before, after, corpora = sys.argv[1:]
    print("| | CPU s before, median | after | ratio | different lines of output |")
    print("|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        outputs = [os.path.join(folder, name) for name in ["before", "after"]]
        for name, source, arguments in CASES:
            source = os.path.join(corpora, source)
            train = [after, "train", source, "--model", model, "--force", "--quiet"]
            subprocess.run(train + ["--max-iterations", "30"] + arguments, check=True)
            programs = list(zip([before, after], outputs))
            times = [
                [tag(program, model, source, output) for program, output in programs]
                for _ in range(PAIRS)
            ]
            medians = [statistics.median(column) for column in zip(*times)]
            ratio = statistics.median(b / a for a, b in times)
            lines = [open(output, encoding="utf-8").read().split("\n") for output in outputs]
            different = sum(a != b for a, b in zip(*lines, strict=True))
            figures = f"{medians[0]:.2f} | {medians[1]:.2f} | {ratio:.2f} | {different}"
            print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
