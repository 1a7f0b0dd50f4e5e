#!/usr/bin/env python3
"""Training from Spark against one process: sums over TCP, starting a barrier stage, whole runs.

    python3 run.py SOCKET_SUM CORPORA [--rounds N] > result.md

SOCKET_SUM is a release build of the example `socket_sum`; the interpreter has the wheel of the
package dropchain, pyspark[sql] and Java. The runs train on CoNLL-2000, from Parquet, and are
checked to give the same model. All are interleaved; medians of the rounds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

import dropchain
from dropchain import spark

OPTIONS = {"template": "chunk", "max_iterations": 30, "dropout": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| ranks | numbers | bytes | ms per sum |\n|---:|---:|---:|---:|")
    for size in (2, 3):
        command = [arguments.program, str(size), "1", "1000000", "7000000"]
        for line in subprocess.check_output(command, text=True).splitlines():
            print("| " + " | ".join(line.split()) + " |")
    session = start()
    print("\n| run | seconds |\n|---|---:|")
    for name, seconds in runs(session, arguments.corpora, arguments.rounds):
        print(f"| {name} | {seconds:.2f} |", flush=True)
    session.stop()


def start():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    options = {"spark.ui.enabled": "false", "spark.log.level": "OFF",
               "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1"}
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def runs(session, corpora, rounds):
    """Yield names and medians of seconds."""
    read = {"columns": ["word", "pos", "chunk"], "label": "chunk"}
    corpus = dropchain.Corpus.read(corpora / "conll2000" / "train.txt", format="conll", **read)
    corpus = corpus.without_boundaries()
    rows = [(list(zip(s.words, s.column("pos"))), s.labels) for s in corpus]
    schema = "tokens array<struct<word:string,pos:string>>, labels array<string>"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train")
        session.createDataFrame(rows, schema).coalesce(2).write.parquet(path)
        df = session.read.parquet(path)
        order = df.collect()
        tokens = [[tuple(token) for token in row.tokens] for row in order]
        labels = [row.labels for row in order]
        one = dropchain.Corpus(tokens, labels, columns=["word", "pos"])
        work = {
            "barrier stage of 2 tasks that do nothing": lambda: barrier(session),
            "1 process, 1 thread": lambda: dropchain.train(one, threads=1, **OPTIONS),
            "1 process, 2 threads": lambda: dropchain.train(one, threads=2, **OPTIONS),
            "Spark, 1 worker": lambda: spark.train(df, workers=1, **OPTIONS),
            "Spark, 2 workers": lambda: spark.train(df, workers=2, **OPTIONS),
        }
        times = {name: [] for name in work}
        models = set()
        for _ in range(rounds + 1):
            for name, run in work.items():
                clock = time.perf_counter()
                result = run()
                times[name].append(time.perf_counter() - clock)
                if result is not None:
                    models.add(result.tagger.to_bytes())
                    alone = times.setdefault(f"{name}: iterations alone", [])
                    alone.append(result.seconds)
        assert len(models) == 1
        for name, seconds in times.items():
            yield name, statistics.median(seconds[1:])  # the first starts Spark's Python workers


def barrier(session):
    rows = session.range(0, 2, 1, 2)
    rows.mapInArrow(lambda batches: batches, "id bigint", barrier=True).collect()


if __name__ == "__main__":
    main()
