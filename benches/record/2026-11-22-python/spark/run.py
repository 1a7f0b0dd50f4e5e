#!/usr/bin/env python3
"""Throughput of dropchain.spark.tag on one core against that of the command line.

    python3 run.py DROPCHAIN CORPORA > result.md

DROPCHAIN is the program; the interpreter has the package dropchain, pyspark[sql] and Java. The text
is that of EWT's training file, a sentence per row, repeated; the model is trained on WNUT-17. All
runs are interleaved, and the minimum of the rounds counts; loading the model and starting Spark
are not included, except in the command line, where both together take a few milliseconds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import dropchain
from dropchain import arrow, spark

#: Records per Arrow batch; 10,000 is Spark's default.
BATCH_SIZES = [100, 1_000, 10_000, 100_000]
DEFAULT_BATCH = 10_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(arguments, Path(folder))


def run(arguments, folder):
    model = folder / "ner.model"
    train = arguments.corpora / "wnut17" / "train.conll"
    dropchain.train(train, template="ner", max_iterations=40).tagger.save(model)
    lines = texts(arguments.corpora / "ewt" / "train.conllu")
    file = folder / "text.txt"
    file.write_text("".join(line + "\n" for line in lines * arguments.copies), "utf-8")
    table = pa.table({"text": lines * arguments.copies})
    pq.write_table(table, folder / "text.parquet")
    tagger = dropchain.Tagger.open(model)
    tokens = sum(len(s) for line in lines for s in tagger.tag_text(line)) * arguments.copies
    session = start()
    df = session.read.parquet(str(folder / "text.parquet"))
    assert df.rdd.getNumPartitions() == 1
    check_same(arguments.program, model, lines, file, df)

    runs = {}
    for output in ("conll", "jsonl"):
        runs["command line", output] = lambda o=output: tag(arguments.program, model, file, o)
    for output in ("spans", "labels", "jsonl"):
        runs["Arrow alone", output] = lambda o=output: in_arrow(table, tagger, o)
        runs["Spark", output] = lambda o=output: in_spark(session, df, model, o)
    for size in BATCH_SIZES:
        if size != DEFAULT_BATCH:
            runs[f"Spark, {size:,} rows per batch", "spans"] = (
                lambda n=size: in_spark(session, df, model, "spans", n)
            )
    runs["Spark, rows back and forth, not tagged", "spans"] = lambda: identity(session, df)
    runs["Spark, tagged to lists in Python", "labels"] = lambda: in_lists(session, df, model)
    times = {name: [] for name in runs}
    for _ in range(arguments.rounds + 1):  # the first warms up
        for name, once in runs.items():
            start_time = time.perf_counter()
            cpu = once()
            times[name].append((time.perf_counter() - start_time, cpu))
        print(".", end="", file=sys.stderr, flush=True)
    session.stop()
    report(times, tokens, len(table))


def texts(path):
    """Return the sentences of a CoNLL-U file as raw text."""
    with open(path, encoding="utf-8") as lines:
        return [line[9:].rstrip("\n") for line in lines if line.startswith("# text = ")]


def start():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.files.maxPartitionBytes": "4g",
        "spark.driver.memory": "2g",
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def check_same(program, model, lines, file, df):
    """Check that Spark has the lines of the command line."""
    command = [program, "tag", model, file, "--format", "text", "--output", "jsonl"]
    expected = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    rows = spark.tag(df, model, output="jsonl").select("jsonl").toArrow()["jsonl"].to_pylist()
    assert "".join(row + "\n" for row in rows if row) == expected


def tag(program, model, file, output):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "tag", model, file, "--format", "text", "--output", output]
    subprocess.run([*command, "--threads", "1"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_arrow(table, tagger, output):
    before = time.process_time()
    arrow.tag(table, tagger, output=output)
    return time.process_time() - before


def in_spark(session, df, model, output, size=DEFAULT_BATCH):
    return compute(session, spark.tag(df, model, output=output), size)


def identity(session, df):
    return compute(session, df.mapInArrow(lambda batches: batches, df.schema))


def compute(session, df, size=DEFAULT_BATCH):
    """Compute all rows; return the processor time of the JVM and the Python workers."""
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", size)
    before = descendants_time()
    df.write.format("noop").mode("overwrite").save()
    return descendants_time() - before


def descendants_time():
    """Return the processor time of all processes below this one, in seconds."""
    fields = {}
    for folder in Path("/proc").iterdir():
        try:
            fields[folder.name] = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # no process, or none anymore
    ticks, parents = 0, [str(os.getpid())]
    while parents:
        parent = parents.pop()
        children = [pid for pid, values in fields.items() if values[1] == parent]
        ticks += sum(int(value) for pid in children for value in fields[pid][11:15])
        parents += children
    return ticks / os.sysconf("SC_CLK_TCK")


def in_lists(session, df, model):
    """Tag with Tagger.tag_text, and make the column of Python objects."""
    schema = spark.tag(df, model, output="labels").schema
    path = str(model)

    def tagged(batches):
        import pyarrow

        tagger = arrow.opened(path)
        for batch in batches:
            rows = [
                [label for sentence in tagger.tag_text(text) for label in sentence.labels]
                for text in batch.column(0).to_pylist()
            ]
            labels = pyarrow.array(rows, pyarrow.list_(pyarrow.string()))
            yield pyarrow.RecordBatch.from_arrays([batch.column(0), labels], ["text", "labels"])

    return compute(session, df.mapInArrow(tagged, schema))


def report(times, tokens, rows):
    best = {name: min(runs[1:], key=lambda run: run[0]) for name, runs in times.items()}
    reference = best["command line", "jsonl"][0]
    print(f"{rows:,} rows, {tokens:,} tokens\n")
    print("| | output | s | tokens per second | of the command line's time, jsonl | CPU s |")
    print("|---|---|---|---|---|---|")
    for (name, output), (wall, cpu) in best.items():
        rate = f"{tokens / wall:,.0f}"
        print(f"| {name} | {output} | {wall:.2f} | {rate} | {wall / reference:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    main()
