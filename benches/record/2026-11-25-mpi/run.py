"""Training by ranks of MPI against threads of one process.

    python3 run.py DROPCHAIN DROPCHAIN_MPI REDUCE CORPORA [--rounds N] > result.md

DROPCHAIN and DROPCHAIN_MPI are release builds, REDUCE the example `reduce` of dropchain-mpi.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "core"]
ITERATIONS = 20
WARM = 4  # the first iterations are not counted


def run(command, folder):
    """Runs a command; returns the largest peak memory of a process, in MB."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_maxrss / 1024


def iteration_time(log):
    """Returns the mean milliseconds per evaluation after the first iterations."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    times = [line for line in lines if "evaluations" in line and "iteration" in line]
    first, last = times[WARM], times[-1]
    evaluations = last["evaluations"] - first["evaluations"]
    return 1e3 * (last["seconds"] - first["seconds"]) / evaluations


def main():
    parser = argparse.ArgumentParser()
    for name in ["dropchain", "mpi", "reduce", "corpora"]:
        parser.add_argument(name, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    corpora = pathlib.Path(arguments.corpora)
    chunks = f"{corpora}/conll2000/train.txt"
    names = f"{corpora}/wnut17/train.conll"
    text = f"{corpora}/wnut17/unlabeled.txt"
    cases = {
        "chunks, no noise": f"train {chunks} --template chunk --dropout 0",
        "chunks, dropout": f"train {chunks} --template chunk --dropout 0.5 --warm-up 0",
        "names, unlabeled text": f"train {names} --template ner --dropout 0.5 --warm-up 0 "
        f"--states observed --unlabeled {text}",
    }
    setups = {
        "1 process, 1 thread": [arguments.dropchain, "--threads 1"],
        "1 rank, 1 thread": [*MPIRUN, "-n", "1", arguments.mpi, "--threads 1"],
        "1 process, 2 threads": [arguments.dropchain, "--threads 2"],
        "2 ranks, 1 thread each": [*MPIRUN, "-n", "2", arguments.mpi, "--threads 1"],
    }
    folder = pathlib.Path(tempfile.mkdtemp())
    print("| training | run | ms per evaluation | of 1 thread | peak MB of a process |")
    print("|---|---|---:|---:|---:|")
    for case, line in cases.items():
        times = {name: [] for name in setups}
        memory = dict.fromkeys(setups, 0)
        models = {}
        for _ in range(arguments.rounds):
            for name, (*program, threads) in setups.items():
                options = f"{line} {threads} --max-iterations {ITERATIONS} --quiet --force"
                files = ["--model", "m", "--log", "log"]
                peak = run([*program, *options.split(), *files], folder)
                memory[name] = max(memory[name], peak)
                times[name].append(iteration_time(folder / "log"))
                models.setdefault((folder / "m").read_bytes(), name)
        if len(models) != 1:
            raise SystemExit(f"{case}: models differ: {list(models.values())}")
        base = statistics.median(times["1 process, 1 thread"])
        for name, values in times.items():
            median = statistics.median(values)
            cells = [case, name, f"{median:.1f}", f"{median / base:.2f}", f"{memory[name]:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)
    print("\n| ranks | weights | bytes each way | ms per sum |\n|---:|---:|---:|---:|")
    sums = subprocess.run(
        [*MPIRUN, "-n", "2", arguments.reduce, "1000000", "7000000"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for line in sums.splitlines():
        print("| " + " | ".join(line.split()) + " |")


main()
