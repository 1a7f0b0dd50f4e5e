#!/usr/bin/env python3
"""Compares the online learners of dropchain with those of CRFsuite (python-crfsuite), in one run.

    pip install python-crfsuite
    cargo build --release
    python3 benches/compare/learners.py CORPORA OUT [CASE…]

Writes OUT/table.md and OUT/runs.json. The environment may name another program (DROPCHAIN), the
number of orders (SEEDS) and some of the learners (LEARNERS=ap,pa).

All train on one file of attributes, with the defaults of CRFsuite and without development data:
observed states and transitions, no boundary weights, no noise; both decode without constraints.
Scores are means over SEEDS orders of the sentences, with the standard deviation: CRFsuite has a
fixed seed, so the sentences of its file are shuffled. An epoch is timed by processor time, from
epoch EPOCHS[0] to epoch EPOCHS[1].
"""

import json, os, platform, random, statistics, subprocess, sys, tempfile

import attributes
import training

PROGRAM = attributes.PROGRAM
SEEDS = int(os.environ.get("SEEDS", "3"))
EPOCHS = (10, 40)
CASES = ["CoNLL-2000", "EWT XPOS", "W-NUT 2017"]
# Name in CRFsuite → options of dropchain.
LEARNERS = {
    "l2sgd": "--algorithm sgd --dropout 0",
    "ap": "--algorithm ap",
    "pa": "--algorithm pa",
    "arow": "--algorithm arow",
}
if "LEARNERS" in os.environ:
    chosen = os.environ["LEARNERS"].split(",")
    LEARNERS = {name: options for name, options in LEARNERS.items() if name in chosen}


def read_parts(folder, case):
    """Returns a case's training, development and test sentences and its attribute function."""
    train, dev, extract = training.read_case(folder, case)
    path = lambda *names: os.path.join(folder, *names)
    if case.startswith("CoNLL-2000"):
        test = list(attributes.read_conll(path("conll2000", "test.txt")))
    elif case.startswith("EWT"):
        test = list(attributes.read_conllu(path("ewt", "test.conllu"), 4))
    else:
        test = list(attributes.read_conll(path("wnut17", "test.conll")))
    return {"train": train, "dev": dev, "test": test}, extract


def train_crfsuite(source, model, learner, seed, limit):
    """Trains with python-crfsuite, in a separate process; prints the seconds of each epoch."""
    import pycrfsuite

    sentences = list(attributes.read_attributes(source))
    random.Random(int(seed)).shuffle(sentences)
    trainer = pycrfsuite.Trainer(algorithm=learner, verbose=False)
    for labels, items in sentences:
        trainer.append(pycrfsuite.ItemSequence(items), labels)
    if int(limit):
        trainer.set_params({"max_iterations": int(limit)})
    trainer.train(model)
    print(json.dumps([iteration["time"] for iteration in trainer.logparser.iterations]))


def run_crfsuite(source, model, learner, seed, limit=0):
    command = training.this_script("--train", source, model, learner, str(seed), str(limit))
    command[1] = os.path.abspath(__file__)
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_dropchain(source, model, learner, seed, limit=0):
    """Trains with dropchain; returns the number of epochs and the processor time of the process."""
    log = model + ".jsonl"
    command = [PROGRAM, "train", source, "--format", "crfsuite", "--states", "observed"]
    command += ["--boundary", "off", "--threads", "1", "--seed", str(seed), "--quiet"]
    command += ["--model", model, "--log", log, *LEARNERS[learner].split()]
    command += ["--max-iterations", str(limit)] if limit else []
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("dropchain failed")
    end = json.loads(open(log).readlines()[-1])
    return end["iterations"], usage.ru_utime + usage.ru_stime


def time_epochs(source, scratch, learner):
    """Returns the seconds of an epoch of both programs, the minimum of three runs."""
    model = os.path.join(scratch, "timed")
    first, last = EPOCHS
    theirs, ours = [], []
    for _ in range(3):
        theirs.append(statistics.mean(run_crfsuite(source, model, learner, 1, last)[first:]))
        seconds = [run_dropchain(source, model, learner, 1, limit)[1] for limit in EPOCHS]
        ours.append((seconds[1] - seconds[0]) / (last - first))
    return min(theirs), min(ours)


def score(name, model, part, scratch):
    """Returns a model's span F1, or accuracy, on a part of the corpus."""
    path = lambda kind: os.path.join(scratch, f"{part}.{kind}")
    # CRFsuite predicts label sequences that are illegal in IOB2, too.
    options = ["--constrain", "off"] if name == "dropchain" else []
    return training.score(name, model, path("attributes"), path("gold"), scratch, options)


def measure(folder, case):
    parts, extract = read_parts(folder, case)
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for part, sentences in parts.items():
            base = os.path.join(scratch, part)
            attributes.write_attributes(sentences, base + ".attributes", extract)
            training.write_gold(sentences, base + ".gold")
        source = os.path.join(scratch, "train.attributes")
        for learner in LEARNERS:
            runs = {"python-crfsuite": [], "dropchain": []}
            for seed in range(1, SEEDS + 1):
                for name, run in runs.items():
                    model = os.path.join(scratch, name)
                    if name == "dropchain":
                        epochs = run_dropchain(source, model, learner, seed)[0]
                    else:
                        epochs = len(run_crfsuite(source, model, learner, seed))
                    scores = [score(name, model, part, scratch) for part in ("dev", "test")]
                    run.append({"epochs": epochs, "dev": scores[0], "test": scores[1]})
                    print(case, learner, name, seed, run[-1], file=sys.stderr)
            seconds = time_epochs(source, scratch, learner)
            results[learner] = {"runs": runs, "seconds": seconds}
            print(case, learner, seconds, file=sys.stderr)
    return results


def table(results):
    """Yields the lines of the table."""
    yield f"{platform.machine()}, {os.cpu_count()} processors, {SEEDS} orders of the sentences.\n"
    yield "| | algorithm | program | epochs | dev | test | ms / epoch | ratio |"
    yield f"|{'---|' * 8}"
    for case, learners in results.items():
        for learner, result in learners.items():
            for i, (name, runs) in enumerate(result["runs"].items()):
                cells = [case, learner] if i == 0 else ["", ""]
                cells += [name, f"{statistics.mean(run['epochs'] for run in runs):.0f}"]
                for part in ("dev", "test"):
                    scores = [run[part] for run in runs]
                    deviation = statistics.stdev(scores) if len(scores) > 1 else 0
                    cells.append(f"{statistics.mean(scores):.2f} ± {deviation:.2f}")
                theirs, ours = result["seconds"]
                cells.append(f"{1000 * result['seconds'][i]:.0f}")
                cells.append(f"{ours / theirs:.2f}" if i else "")
                yield f"| {' | '.join(cells)} |"
                case = ""


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


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train_crfsuite(*sys.argv[2:])
    else:
        main()
