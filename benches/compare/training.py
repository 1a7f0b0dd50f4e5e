#!/usr/bin/env python3
"""Compares training with dropchain, CRFsuite (python-crfsuite) and the crfs crate, on the same attributes, in one run.

    pip install python-crfsuite
    cargo build --release
    cargo build --release --manifest-path benches/compare/crfs/Cargo.toml --target-dir target/peers
    python3 benches/compare/training.py CORPORA OUT [CASE…]         writes OUT/table.md, OUT/loss.svg and OUT/runs.json

All read one file of ready attributes and train the same model (no boundary weights, no noise) with
the penalty c2 = 1. Seconds count from the end of reading to the end of training; peak memory is
that of the whole process. *Common loss* is the one that CRFsuite ends at, + 0.1 %. Each program
tags the training file; its speed is tokens by processor seconds of the whole process. A run is
stopped after LIMIT seconds, then its last loss is shown and there is no model.
"""

import json, math, os, platform, resource, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import material
from svg import svg

CRFS = os.path.join(material.ROOT, "target", "peers", "release", "crfs-runner")
C2, LIMIT = 1.0, 60
HELD_OUT = 936  # the last sentences of CoNLL-2000's training file are development data


def corpora(folder, case):
    """Training and development sentences of a case, and how to make their attributes."""
    path = lambda *names: os.path.join(folder, *names)
    if case.startswith("CoNLL-2000"):
        everything = list(material.sentences(path("conll2000", "train.txt")))
        return everything[:-HELD_OUT], everything[-HELD_OUT:], material.attributes
    if case.startswith("EWT"):
        files = [list(material.conllu(path("ewt", name), 4)) for name in ("train.conllu", "dev.conllu")]
    else:
        files = [list(material.sentences(path("wnut17", name))) for name in ("train.conll", "dev.conll")]
    return *files, material.spelling


# The states that have weights, and who takes part.
CASES = {
    "CoNLL-2000, observed states": ("observed", ["python-crfsuite", "crfs"]),
    "CoNLL-2000, all states": ("all", ["python-crfsuite"]),
    "EWT XPOS, observed states": ("observed", ["python-crfsuite", "crfs"]),
    "W-NUT 2017, observed states": ("observed", ["python-crfsuite", "crfs"]),
}


def train_crfsuite(train, model, states):
    """Trains with python-crfsuite, in a process of its own."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for labels, items in material.ready(train):
        trainer.append(pycrfsuite.ItemSequence(items), labels)
    possible = int(states == "all")
    trainer.set_params({"c1": 0, "c2": C2, "feature.possible_states": possible, "feature.possible_transitions": possible})
    start = time.perf_counter()
    trainer.train(model)
    seconds, course, at = time.perf_counter() - start, [], 0.0
    for iteration in trainer.logparser.iterations:
        at += iteration["time"]
        course.append((at, iteration["loss"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "course": course, "peak": peak}))


def tag_crfsuite(model, source):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for _, items in material.ready(source):
        sys.stdout.write("\n".join(tagger.tag(items)) + "\n\n")


def python(*arguments):
    return [sys.executable, os.path.abspath(__file__), *arguments]


def run_crfsuite(train, model, states):
    out = subprocess.run(python("--train", train, model, states), check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def run_crfs(train, model, _states):
    process = subprocess.Popen([CRFS, "train", train, model, str(C2)], stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    course, start, now = [], None, None
    for line in process.stdout:
        now = time.perf_counter()
        if line.startswith("read"):
            start = now
        elif line.startswith("Iteration"):
            course.append((now - start, float(line.split("loss = ")[1].split(",")[0])))
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    if status != 0 and not os.WIFSIGNALED(status):
        sys.exit("crfs failed")
    return {"seconds": now - start, "course": course, "peak": usage.ru_maxrss / 1024, "stopped": status != 0}


def run_dropchain(train, model, states, threads):
    log = model + ".jsonl"
    command = [material.PROGRAM, "train", train, "--format", "crfsuite", "--states", states, "--boundary", "off"]
    command += ["--l2", str(C2), "--dropout", "0", "--threads", str(threads)]
    process = subprocess.Popen(command + ["--model", model, "--log", log, "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("dropchain failed")
    events = [json.loads(line) for line in open(log)]
    course = [(e["seconds"], e["objective"]) for e in events if e["event"] == "iteration"]
    return {"seconds": events[-1]["seconds"], "course": course, "peak": usage.ru_maxrss / 1024}


def tagging(name, model, source):
    if name.startswith("dropchain"):
        return [material.PROGRAM, "tag", model, source, "--format", "crfsuite", "--threads", "1"]
    return [CRFS, "tag", model, source] if name == "crfs" else python("--tag", model, source)


def tagged(name, model, source, target):
    """Processor seconds of tagging; the best of three runs."""
    seconds = []
    for _ in range(3):
        with open(target, "wb") as out:
            process = subprocess.Popen(tagging(name, model, source), stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"tagging with {name} failed")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return min(seconds)


def score(name, model, dev, gold, scratch):
    """F1 of spans, or accuracy, of a model on development data."""
    out = os.path.join(scratch, "tagged")
    tagged(name, model, dev, out)
    labels = [line.split("\t")[-1].strip() for line in open(out, encoding="utf-8")]
    predictions = os.path.join(scratch, "predictions")
    with open(predictions, "w", encoding="utf-8") as file:
        for cells, label in zip(open(gold, encoding="utf-8"), labels):
            file.write(f"{cells.split()[0]}\t{label}\n" if cells.strip() else "\n")
    command = [material.PROGRAM, "eval", "--predictions", predictions, gold, "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return 100 * result.get("f1", result["accuracy"])


def write_gold(sentences, target):
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences:
            out.writelines(f"{cells[0]}\t{cells[-1]}\n" for cells in sentence)
            out.write("\n")


def prepare(folder, case, scratch):
    """Writes the files of a case and prints how many tokens there are to train on."""
    path = lambda name: os.path.join(scratch, name)
    train, dev, attributes = corpora(folder, case)
    print(material.write_attributes(train, path("train"), attributes))
    material.write_attributes(dev, path("dev"), attributes)
    write_gold(dev, path("gold"))


def measure(folder, case):
    states, peers = CASES[case]
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        # In a process of its own: the system takes what this one holds for the least of any peak.
        tokens = int(subprocess.run(python("--prepare", folder, case, scratch), check=True, capture_output=True).stdout)
        contenders = {
            "python-crfsuite": run_crfsuite,
            "crfs": run_crfs,
            "dropchain, 1 thread": lambda *a: run_dropchain(*a, 1),
            "dropchain, 2 threads": lambda *a: run_dropchain(*a, 2),
        }
        runs = {}
        for name, train_with in contenders.items():
            if name in peers or name.startswith("dropchain"):
                model = path(name.replace(" ", ""))
                run = runs[name] = train_with(path("train"), model, states)
                if not run.get("stopped"):
                    run["model"] = os.path.getsize(model) / 1e6
                    run["speed"] = tokens / tagged(name, model, path("train"), path("out"))
                    run["score"] = score(name, model, path("dev"), path("gold"), scratch)
                print(case, name, round(run["seconds"], 1), file=sys.stderr)
        models = [open(path(f"dropchain,{n}"), "rb").read() for n in ("1thread", "2threads")]
        assert models[0] == models[1], "models differ by the number of threads"
        return {"tokens": tokens, "runs": runs}


def table(results):
    yield (
        f"{platform.machine()}, {os.cpu_count()} processors. Times: those of CRFsuite as a whole, by those of the "
        "program to the common loss.\n"
    )
    columns = "iterations | s / iteration | seconds | to the common loss | times | final loss | dev score "
    yield f"| | | {columns}| peak MB | model MB | tagging, k tokens/s |\n|{'---|' * 12}"
    for case, result in results.items():
        runs = result["runs"]
        peer = runs["python-crfsuite"]
        common = peer["course"][-1][1] * 1.001
        for name, run in runs.items():
            course = run["course"]
            reached = next((seconds for seconds, loss in course if loss <= common), None)
            cells = [len(course), f"{course[-1][0] / len(course):.3f}", f"{run['seconds']:.1f}"]
            cells += [f"{reached:.1f}", f"{peer['seconds'] / reached:.1f}"] if reached else ["not", ""]
            cells += [f"{course[-1][1]:.1f}"]
            if run.get("stopped"):
                cells += ["stopped", f"{run['peak']:.0f}", "", ""]
            else:
                cells += [f"{run['score']:.2f}", f"{run['peak']:.0f}", f"{run['model']:.1f}", f"{run['speed'] / 1e3:.0f}"]
            yield f"| {case} | {name} | {' | '.join(map(str, cells))} |"
            case = ""


def plot(results, target):
    """How far each is above the lowest loss that any has found, by seconds."""
    names = {"python-crfsuite": "CRFsuite", "dropchain, 1 thread": "1 thread", "dropchain, 2 threads": "2 threads"}
    panels = []
    for case, result in results.items():
        runs = {short: result["runs"][name]["course"] for name, short in names.items()}
        lowest = min(loss for course in runs.values() for _, loss in course)
        above = lambda loss: max(math.log10(loss / lowest - 1), -5) if loss > lowest else -5
        lines = [(short, [(x, above(loss)) for x, loss in course]) for short, course in runs.items()]
        panels.append((case, lines))
    svg(target, panels, "seconds; upwards log10(loss / lowest loss − 1)")


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
