#!/usr/bin/env python3
"""Records how training scales with threads and labels, and what feature noise adds in memory.

    cargo build --release
    python3 benches/compare/scaling.py CORPORA > table.md

The first table has seconds per evaluation of the objective, the median over the iterations of a
training without the first, and the peak memory of the whole process. Threads are 1, 2, 4, 8, as far
as the machine has processors. The second has single evaluations on one thread, as `bench gradients`
measures them: their time, and their memory without that of the data.
"""

import json, os, platform, statistics, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import PROGRAM

ITERATIONS = "8"
NOISE = {"none": "0", "dropout 0.3": "0.3"}
# Name → training file, and options.
CASES = {
    "Spanish names": ("conll2002-esp/esp.train", "--columns word,pos,ner --template ner"),
    "UPOS": ("ewt/train.conllu", "--label upos --template pos"),
    "chunks": ("conll2000/train.txt", "--columns word,pos,chunk --template chunk"),
    "XPOS": ("ewt/train.conllu", "--label xpos --template pos"),
    "XPOS, observed states": ("ewt/train.conllu", "--label xpos --template pos --states observed"),
    "UPOS and FEATS": ("ewt/train.conllu", "--label upos+feats --template pos"),
}


def train(folder, source, options, noise, threads):
    """Returns the events of a run and its peak memory in MB."""
    log = os.path.join(folder, "log")
    command = [PROGRAM, "train", source, *options.split(), "--dropout", noise, "--warm-up", "0"]
    command += ["--max-iterations", ITERATIONS, "--threads", str(threads), "--log", log]
    command += ["--model", os.path.join(folder, "model"), "--quiet"]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    with open(log, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines], usage.ru_maxrss / 1000


def seconds_per_evaluation(events):
    iterations = [event for event in events if event["event"] == "iteration"][1:]
    return statistics.median(
        (b["seconds"] - a["seconds"]) / (b["evaluations"] - a["evaluations"])
        for a, b in zip(iterations, iterations[1:])
    )


def evaluations(source, options):
    """Returns what `bench gradients` reports on one thread, by engine."""
    command = [PROGRAM, "bench", "gradients", source, *options.split(), "--dropout", "0.3"]
    command += ["--engines", "exact,reweighted", "--threads", "1", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return {engine["engine"]: engine for engine in json.loads(done.stdout)["engines"]}


def print_row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_threads(corpora, folder):
    threads = [n for n in (1, 2, 4, 8) if n <= os.cpu_count()]
    speedups = [f"speedup, {n} threads" for n in threads[1:]]
    columns = ["corpus", "K", "noise", "s per evaluation", *speedups, "peak MB, 1 thread"]
    columns += ["MB more per thread"] * (len(threads) > 1)
    print_row(*columns)
    print_row(*["---"] * len(columns))
    for name, (source, options) in CASES.items():
        for noise, rate in NOISE.items():
            source_path = os.path.join(corpora, source)
            runs = [train(folder, source_path, options, rate, n) for n in threads]
            seconds = [seconds_per_evaluation(events) for events, _ in runs]
            cells = [name, runs[0][0][0]["labels"], noise, f"{seconds[0]:.3f}"]
            cells += [f"{seconds[0] / other:.2f}" for other in seconds[1:]]
            cells.append(f"{runs[0][1]:.0f}")
            if len(threads) > 1:
                cells.append(f"{(runs[-1][1] - runs[0][1]) / (threads[-1] - 1):.0f}")
            print_row(*cells)


def print_noise(corpora):
    columns = ["corpus", "engine", "s per evaluation", "of no noise", "MB", "of no noise"]
    print()
    print_row(*columns)
    print_row(*["---"] * len(columns))
    for name, (source, options) in CASES.items():
        engines = evaluations(os.path.join(corpora, source), options)
        plain = engines["likelihood"]
        for engine, result in engines.items():
            seconds, memory = result["seconds"]["median"], result["peak_bytes"]
            print_row(
                *[name, engine, f"{seconds:.3f}", f"{result['ratio_to_likelihood']:.2f}"],
                *[f"{memory / 1e6:.0f}", f"{memory / plain['peak_bytes']:.2f}"],
            )


def main():
    print(f"{platform.machine()}, {os.cpu_count()} processors\n")
    with tempfile.TemporaryDirectory() as folder:
        print_threads(sys.argv[1], folder)
    print_noise(sys.argv[1])


if __name__ == "__main__":
    main()
