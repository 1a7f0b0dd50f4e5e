#!/usr/bin/env python3
"""Compares training with dropchain, CRFsuite (python-crfsuite) and the crfs crate, in one run.

    pip install python-crfsuite
    cargo build --release
    cargo build --release --manifest-path benches/compare/crfs/Cargo.toml --target-dir target/peers
    python3 benches/compare/training.py CORPORA OUT [CASE…]

Writes OUT/table.md, OUT/loss.svg and OUT/runs.json.

All read one file of pre-extracted attributes and train the same model (no boundary weights, no
noise) with the penalty c2 = 1. Seconds count from the end of reading to the end of training; peak
memory is that of the whole process. The *common loss* is CRFsuite's final loss + 0.1 %. Each
program tags the training file; its speed is tokens per CPU second of the whole process. A run is
killed after LIMIT seconds; the table then shows its last loss, and there is no model.
"""

import json, os, platform, resource, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import attributes
from figure import draw

PROGRAM = attributes.PROGRAM
CRFS = os.path.join(attributes.ROOT, "target", "peers", "release", "crfs-runner")
C2, LIMIT = 1.0, 60
WARM_START = ["--warm-start", "online"]
HELD_OUT = 936  # development data of CoNLL-2000: the last sentences of its training file

# Case → the states that have weights, and the programs to compare with.
CASES = {
    "CoNLL-2000, observed states": ("observed", ["python-crfsuite", "crfs"]),
    "CoNLL-2000, all states": ("all", ["python-crfsuite"]),
    "EWT XPOS, observed states": ("observed", ["python-crfsuite", "crfs"]),
    "W-NUT 2017, observed states": ("observed", ["python-crfsuite", "crfs"]),
}


def read_case(folder, case):
    """Returns a case's training and development sentences and its attribute function."""
    path = lambda *names: os.path.join(folder, *names)
    if case.startswith("CoNLL-2000"):
        sentences = list(attributes.read_conll(path("conll2000", "train.txt")))
        return sentences[:-HELD_OUT], sentences[-HELD_OUT:], attributes.chunking_attributes
    if case.startswith("EWT"):
        files = [path("ewt", name) for name in ("train.conllu", "dev.conllu")]
        splits = [list(attributes.read_conllu(file, 4)) for file in files]
    else:
        files = [path("wnut17", name) for name in ("train.conll", "dev.conll")]
        splits = [list(attributes.read_conll(file)) for file in files]
    return *splits, attributes.word_attributes


def train_crfsuite(train, model, states):
    """Trains with python-crfsuite, in a separate process."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for labels, items in attributes.read_attributes(train):
        trainer.append(pycrfsuite.ItemSequence(items), labels)
    possible = int(states == "all")
    trainer.set_params(
        {
            "c1": 0,
            "c2": C2,
            "feature.possible_states": possible,
            "feature.possible_transitions": possible,
        }
    )
    start = time.perf_counter()
    trainer.train(model)
    seconds, curve, elapsed = time.perf_counter() - start, [], 0.0
    for iteration in trainer.logparser.iterations:
        elapsed += iteration["time"]
        curve.append((elapsed, iteration["loss"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "curve": curve, "peak": peak}))


def tag_crfsuite(model, source):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for _, items in attributes.read_attributes(source):
        sys.stdout.write("\n".join(tagger.tag(items)) + "\n\n")


def this_script(*arguments):
    return [sys.executable, os.path.abspath(__file__), *arguments]


def run_crfsuite(train, model, states):
    command = this_script("--train", train, model, states)
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_crfs(train, model, _states):
    command = [CRFS, "train", train, model, str(C2)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    curve, start, now = [], None, None
    for line in process.stdout:
        now = time.perf_counter()
        if line.startswith("read"):
            start = now
        elif line.startswith("Iteration"):
            curve.append((now - start, float(line.split("loss = ")[1].split(",")[0])))
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    if status != 0 and not os.WIFSIGNALED(status):
        sys.exit("crfs failed")
    return {
        "seconds": now - start,
        "curve": curve,
        "peak": usage.ru_maxrss / 1024,
        "killed": status != 0,
    }


def run_dropchain(train, model, states, threads, *options):
    log = model + ".jsonl"
    command = [PROGRAM, "train", train, "--format", "crfsuite", "--states", states]
    command += ["--boundary", "off", "--l2", str(C2), "--dropout", "0", "--threads", str(threads)]
    command += ["--model", model, "--log", log, "--quiet", *options]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("dropchain failed")
    events = [json.loads(line) for line in open(log)]
    curve = [(e["seconds"], e["objective"]) for e in events if e["event"] == "iteration"]
    return {"seconds": events[-1]["seconds"], "curve": curve, "peak": usage.ru_maxrss / 1024}


def tag_command(name, model, source):
    if name.startswith("dropchain"):
        return [PROGRAM, "tag", model, source, "--format", "crfsuite", "--threads", "1"]
    if name == "crfs":
        return [CRFS, "tag", model, source]
    return this_script("--tag", model, source)


def time_tagging(name, model, source, target, options=()):
    """Returns the CPU seconds of tagging, the minimum of three runs."""
    seconds = []
    for _ in range(3):
        with open(target, "wb") as out:
            process = subprocess.Popen([*tag_command(name, model, source), *options], stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"tagging with {name} failed")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return min(seconds)


def score(name, model, dev, gold, scratch, options=()):
    """Returns a model's span F1, or accuracy, on the development data."""
    out = os.path.join(scratch, "tagged")
    time_tagging(name, model, dev, out, options)
    labels = [line.split("\t")[-1].strip() for line in open(out, encoding="utf-8")]
    predictions = os.path.join(scratch, "predictions")
    with open(predictions, "w", encoding="utf-8") as file:
        for row, label in zip(open(gold, encoding="utf-8"), labels):
            file.write(f"{row.split()[0]}\t{label}\n" if row.strip() else "\n")
    command = [PROGRAM, "eval", "--predictions", predictions, gold, "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return 100 * result.get("f1", result["accuracy"])


def write_gold(sentences, target):
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences:
            out.writelines(f"{cells[0]}\t{cells[-1]}\n" for cells in sentence)
            out.write("\n")


def prepare(folder, case, scratch):
    """Writes the files of a case and prints the number of training tokens."""
    path = lambda name: os.path.join(scratch, name)
    train, dev, extract = read_case(folder, case)
    print(attributes.write_attributes(train, path("train"), extract))
    attributes.write_attributes(dev, path("dev"), extract)
    write_gold(dev, path("gold"))


def measure(folder, case):
    states, peers = CASES[case]
    contenders = {
        "python-crfsuite": run_crfsuite,
        "crfs": run_crfs,
        "dropchain, 1 thread": lambda *a: run_dropchain(*a, 1),
        "dropchain, 2 threads": lambda *a: run_dropchain(*a, 2),
        "dropchain, warm start, 1 thread": lambda *a: run_dropchain(*a, 1, *WARM_START),
        "dropchain, warm start, 2 threads": lambda *a: run_dropchain(*a, 2, *WARM_START),
    }
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        # In a separate process: a child's peak memory is at least that of this process.
        command = this_script("--prepare", folder, case, scratch)
        tokens = int(subprocess.run(command, check=True, capture_output=True).stdout)
        runs = {}
        for name, train_with in contenders.items():
            if name in peers or name.startswith("dropchain"):
                model = path(name.replace(" ", ""))
                run = runs[name] = train_with(path("train"), model, states)
                if not run.get("killed"):
                    run["model"] = os.path.getsize(model) / 1e6
                    run["speed"] = tokens / time_tagging(name, model, path("train"), path("out"))
                    run["score"] = score(name, model, path("dev"), path("gold"), scratch)
                print(case, name, round(run["seconds"], 1), file=sys.stderr)
        models = [open(path(f"dropchain,{n}"), "rb").read() for n in ("1thread", "2threads")]
        assert models[0] == models[1], "models depend on the number of threads"
        return {"tokens": tokens, "runs": runs}


def table(results):
    """Yields the lines of the table."""
    yield (
        f"{platform.machine()}, {os.cpu_count()} processors. Speedup: CRFsuite's total time over "
        "the program's time to the common loss.\n"
    )
    columns = "iterations | s / iteration | seconds | to common loss | speedup | final loss "
    yield f"| | | {columns}| dev score | peak MB | model MB | tagging, k tokens/s |"
    yield f"|{'---|' * 12}"
    for case, result in results.items():
        runs = result["runs"]
        crfsuite = runs["python-crfsuite"]
        common_loss = crfsuite["curve"][-1][1] * 1.001
        for name, run in runs.items():
            curve = run["curve"]
            reached = next((seconds for seconds, loss in curve if loss <= common_loss), None)
            cells = [len(curve), f"{curve[-1][0] / len(curve):.3f}", f"{run['seconds']:.1f}"]
            if reached:
                cells += [f"{reached:.1f}", f"{crfsuite['seconds'] / reached:.1f}"]
            else:
                cells += ["not", ""]
            cells += [f"{curve[-1][1]:.1f}"]
            if run.get("killed"):
                cells += ["killed", f"{run['peak']:.0f}", "", ""]
            else:
                cells += [f"{run['score']:.2f}", f"{run['peak']:.0f}", f"{run['model']:.1f}"]
                cells += [f"{run['speed'] / 1e3:.0f}"]
            yield f"| {case} | {name} | {' | '.join(map(str, cells))} |"
            case = ""


def plot(results, target):
    """Plots the relative distance to the lowest loss that any run found, over time."""
    names = {
        "python-crfsuite": "CRFsuite",
        "dropchain, 1 thread": "1 thread",
        "dropchain, 2 threads": "2 threads",
    }
    panels = []
    for case, result in results.items():
        curves = {short: result["runs"][name]["curve"] for name, short in names.items()}
        lowest = min(loss for curve in curves.values() for _, loss in curve)
        gap = lambda loss: max(loss / lowest - 1, 1e-5)
        lines = [(short, [(x, gap(loss)) for x, loss in curve]) for short, curve in curves.items()]
        panels.append((case, lines))
    draw(target, panels, {"label": "seconds"}, {"label": "loss / lowest loss − 1", "scale": "log"})


def main():
    folder, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    results = {}
    for case in sys.argv[3:] or CASES:
        results[case] = measure(folder, case)
        with open(os.path.join(out, "runs.json"), "w") as file:
            json.dump(results, file)
    with open(os.path.join(out, "table.md"), "w") as file:
        file.writelines(line + "\n" for line in table(results))
    plot(results, os.path.join(out, "loss.svg"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--prepare"]:
        prepare(*sys.argv[2:])
    elif sys.argv[1:2] == ["--train"]:
        train_crfsuite(*sys.argv[2:])
    elif sys.argv[1:2] == ["--tag"]:
        tag_crfsuite(*sys.argv[2:])
    else:
        main()
