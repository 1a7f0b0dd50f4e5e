"""Training with attributes in memory and in files.

Trains on ten copies of a corpus, compares the models, and reports time and peak memory.

    python3 run.py DROPCHAIN CORPORA FOLDER [--rounds 3] > result.md

FOLDER holds the copies and the temporary files of --spill: a disk, not a tmpfs.
"""

import argparse
import filecmp
import os
import pathlib
import time

parser = argparse.ArgumentParser()
parser.add_argument("dropchain")
parser.add_argument("corpora")
parser.add_argument("folder")
parser.add_argument("--rounds", type=int, default=3)
arguments = parser.parse_args()
paths = [arguments.dropchain, arguments.corpora]
dropchain, corpora = (str(pathlib.Path(path).resolve()) for path in paths)
os.chdir(arguments.folder)
CASES = [
    ("ner", "--template ner --document sentence --states observed"),
    ("chunk", "--template chunk --states observed"),
    ("pos-sancl", "--template pos-sancl --states observed"),
]


def run(options: str, spill: bool) -> tuple[float, float]:
    """Train; return the seconds, and the peak memory in MB."""
    model = "spilled" if spill else "memory"
    line = f"train train.conllu --label upos {options} --max-iterations 6 --threads 1 --quiet"
    line += f" --force --model {model}" + (" --spill ." if spill else "")
    start = time.monotonic()
    process = os.posix_spawn(dropchain, [dropchain, *line.split()], os.environ)
    _, status, usage = os.wait4(process, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3), line
    return time.monotonic() - start, usage.ru_maxrss / 1e3


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


# The memory of this process counts as that of its children before they begin: it reads by lines.
with open("train.conllu", "w") as copies:
    for _ in range(10):
        with open(f"{corpora}/ewt/train.conllu") as lines:
            copies.writelines(lines)
print("| template | MB in memory | MB with --spill | of it | time with --spill, of in memory |")
print("|---|---:|---:|---:|---:|")
for name, options in CASES:
    runs = [(run(options, False), run(options, True)) for _ in range(arguments.rounds)]
    assert filecmp.cmp("memory", "spilled", shallow=False), name
    memory = [median([pair[i][1] for pair in runs]) for i in (0, 1)]
    ratios = sorted(spilled[0] / kept[0] for kept, spilled in runs)
    print(
        f"| {name} | {memory[0]:.0f} | {memory[1]:.0f} | {memory[1] / memory[0]:.2f} "
        f"| {median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) |",
        flush=True,
    )
