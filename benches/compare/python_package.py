#!/usr/bin/env python3
"""Compares the Python package with python-crfsuite and sklearn-crfsuite, in one run.

    pip install ./python python-crfsuite sklearn-crfsuite
    python3 benches/compare/python_package.py FOLDER_WITH_CONLL2000 OUT

Writes OUT/table.md and OUT/runs.json. Both sides get the same Python objects: the features of
sklearn-crfsuite's tutorial on CoNLL-2000, as dicts. Each measurement is a process of its own, of
both sides by turns; figures are medians of ROUNDS (environment, default 5). Tagging counts the
fastest of three passes of each process. One thread: the process may use one processor.
"""

import gc, json, os, platform, statistics, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import attributes

ROUNDS = int(os.environ.get("ROUNDS", "5"))
ITERATIONS = 50
PEER, OWN = "python-crfsuite", "dropchain"

# The same features, as a template.
TEMPLATE = """bias
lower
suffix(3)
suffix(2)
capitalization
class
pos
prefix(2, pos)
lower[-1]
capitalization[-1]
pos[-1]
prefix(2, pos)[-1]
lower[+1]
capitalization[+1]
pos[+1]
prefix(2, pos)[+1]
start
end
"""


def features(sentence, t):
    """Returns the features of a token in sklearn-crfsuite's tutorial."""
    word, tag = sentence[t][:2]
    found = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    for offset, border in [(-1, "BOS"), (1, "EOS")]:
        if not 0 <= t + offset < len(sentence):
            found[border] = True
            continue
        word, tag = sentence[t + offset][:2]
        found[f"{offset:+}:word.lower()"] = word.lower()
        found[f"{offset:+}:word.istitle()"] = word.istitle()
        found[f"{offset:+}:word.isupper()"] = word.isupper()
        found[f"{offset:+}:postag"] = tag
        found[f"{offset:+}:postag[:2]"] = tag[:2]
    return found


def sentence_features(sentence):
    return [features(sentence, t) for t in range(len(sentence))]


def read(folder, name):
    return list(attributes.read_conll(os.path.join(folder, "conll2000", name)))


def labels(sentence):
    return [cells[2] for cells in sentence]


def timed(function):
    """Returns the seconds of wall time that a call took, and its result."""
    gc.collect()
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def fastest(function, rounds=3):
    """Returns the seconds of the fastest of several calls: the first one fills caches."""
    return min(timed(function)[0] for _ in range(rounds))


def resident():
    """Returns the resident memory of this process in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def crfsuite_module(side):
    if side == OWN:
        import dropchain.pycrfsuite as module
    else:
        import pycrfsuite as module
    return module


def estimator(side, **options):
    if side == OWN:
        from dropchain.sklearn import CRF
    else:
        from sklearn_crfsuite import CRF
    return CRF(c2=1.0, max_iterations=ITERATIONS, **options)


def new_trainer(side):
    options = {"c2": 1.0, "max_iterations": ITERATIONS}
    return crfsuite_module(side).Trainer("lbfgs", options, verbose=False)


def measure_append(side, folder, model):
    """Adding the training set, sentence by sentence, and its memory; then 50 iterations."""
    sentences = read(folder, "train.txt")
    trainer = new_trainer(side)
    trainer.append(sentence_features(sentences[0]), labels(sentences[0]))
    before, seconds = resident(), 0.0
    for sentence in sentences[1:]:
        items, gold = sentence_features(sentence), labels(sentence)
        start = time.perf_counter()
        trainer.append(items, gold)
        seconds += time.perf_counter() - start
    del items
    gc.collect()
    memory = resident() - before
    training, _ = timed(lambda: trainer.train(model))
    return {"append": seconds, "memory": memory, "train": training}


def measure_fit(side, folder, _model):
    """`fit` of the estimator, from lists of dicts to a model."""
    sentences = read(folder, "train.txt")
    X, y = [sentence_features(s) for s in sentences], [labels(s) for s in sentences]
    crf = estimator(side)
    seconds, _ = timed(lambda: crf.fit(X, y))
    test = read(folder, "test.txt")
    score = crf.score([sentence_features(s) for s in test], [labels(s) for s in test])
    return {"fit": seconds, "accuracy": score}


def measure_tag(side, folder, model):
    """Tagging features: sentence by sentence, and all sentences in one call."""
    tagger = crfsuite_module(side).Tagger()
    tagger.open(model)
    X = [sentence_features(s) for s in read(folder, "test.txt")]
    tag = fastest(lambda: [tagger.tag(items) for items in X])
    crf = estimator(side, model_filename=model)
    batch = fastest(lambda: crf.predict(X))
    call = fastest(lambda: [tagger.tag([]) for _ in range(100_000)])
    return {"tag": tag / len(X), "batch": batch / len(X), "call": call / 100_000}


def measure_conversion(side, folder, _model):
    """What dicts cost: tagging them and tagging the same as `ItemSequence`, with a small model."""
    with tempfile.TemporaryDirectory() as work:
        trainer = crfsuite_module(side).Trainer("lbfgs", verbose=False)
        trainer.append([{"no": 1, "feature": 1}, {"of": 1}], ["a", "b"])
        trainer.train(os.path.join(work, "model"))
        tagger = crfsuite_module(side).Tagger()
        tagger.open(os.path.join(work, "model"))
    X = [sentence_features(s) for s in read(folder, "test.txt")]
    converted = [crfsuite_module(side).ItemSequence(items) for items in X]
    seconds = fastest(lambda: [tagger.tag(items) for items in X])
    without = fastest(lambda: [tagger.tag(items) for items in converted])
    return {"conversion": (seconds - without) / len(X)}


def measure_words(side, folder, model):
    """From words and parts of speech to labels."""
    sentences = read(folder, "test.txt")
    if side == OWN:
        import dropchain

        tagger = dropchain.Tagger.open(model + ".template")
        columns = [[tuple(cells[:2]) for cells in sentence] for sentence in sentences]
        seconds = fastest(lambda: tagger.tag_batch(columns))
    else:
        tagger = crfsuite_module(side).Tagger()
        tagger.open(model)
        seconds = fastest(lambda: [tagger.tag(sentence_features(s)) for s in sentences])
    return {"words": seconds / len(sentences)}


def measure_lock(side, folder, model):
    """How much a Python thread gets done while another one trains, relative to no training."""
    sentences = read(folder, "train.txt")
    trainer = new_trainer(side)
    for sentence in sentences:
        trainer.append(sentence_features(sentence), labels(sentence))
    progress, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            progress[0] += 1

    threading.Thread(target=count, daemon=True).start()
    rate = lambda seconds, start: (progress[0] - start) / seconds
    start = progress[0]
    idle = rate(timed(lambda: time.sleep(1))[0], start)
    start = progress[0]
    training = rate(timed(lambda: trainer.train(model + f".{os.getpid()}"))[0], start)
    stop.set()
    return {"other thread": training / idle}


MEASURES = {
    "append": measure_append,
    "fit": measure_fit,
    "tag": measure_tag,
    "conversion": measure_conversion,
    "words": measure_words,
    "lock": measure_lock,
}


def run(measure, side, threads, folder, model):
    """Runs a measurement in a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), "--measure", measure, side, str(threads)]
    result = subprocess.run([*command, folder, model], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def compare(folder, models):
    """Returns the figures of all rounds, by measurement, side and number of threads."""
    figures = {}
    for _ in range(ROUNDS):
        for measure in MEASURES:
            for side, threads in [(PEER, 1), (OWN, 1), (OWN, 2)]:
                if measure == "lock" and threads == 1 and side == OWN:
                    continue
                found = run(measure, side, threads, folder, models[side])
                for name, value in found.items():
                    figures.setdefault(name, {}).setdefault(f"{side}, {threads}", []).append(value)
    return figures


ROWS = [  # name, text, factor, unit
    ("append", "adding the training set", 1, "s"),
    ("train", "training, 50 iterations", 1, "s"),
    ("fit", "`CRF.fit`, both together", 1, "s"),
    ("memory", "memory for the training set", 1, "MB"),
    ("tag", "`Tagger.tag`, a sentence of dicts", 1e6, "µs"),
    ("batch", "`CRF.predict`, per sentence", 1e6, "µs"),
    ("words", "from words to labels, per sentence", 1e6, "µs"),
    ("conversion", "reading a sentence of dicts", 1e6, "µs"),
    ("call", "a call of `Tagger.tag`", 1e6, "µs"),
    ("other thread", "speed of another Python thread during training", 100, "%"),
    ("accuracy", "accuracy on the test set", 100, "%"),
]


def table(figures):
    """Returns the table in Markdown."""
    lines = ["| | python-crfsuite | dropchain, 1 thread | ratio | 2 threads | ratio |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, text, factor, unit in ROWS:
        found = figures[name]
        median = {key: statistics.median(values) for key, values in found.items()}
        peer = median[f"{PEER}, 1"]
        cells = [f"{peer * factor:.3g} {unit}"]
        for key in [f"{OWN}, 1", f"{OWN}, 2"]:
            if key not in median:
                cells += ["", ""]
                continue
            is_time = unit in ("s", "µs", "MB")
            ratio = f"**{peer / median[key]:.1f}**" if is_time else ""
            cells += [f"{median[key] * factor:.3g} {unit}", ratio]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def train_models(folder, work):
    """Trains the models that tag: one of each side, and one with a template."""
    import dropchain

    models = {side: os.path.join(work, side) for side in (PEER, OWN)}
    for side, model in models.items():
        run("append", side, 2, folder, model)
    train = os.path.join(folder, "conll2000", "train.txt")
    model = models[OWN] + ".template"
    template = dropchain.Template(TEMPLATE)
    options = {"columns": ["word", "pos", "chunk"], "dropout": 0, "max_iterations": ITERATIONS}
    dropchain.train(train, template=template, model=model, **options)
    return models


def main():
    folder, out = map(os.path.abspath, sys.argv[1:])
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        figures = compare(folder, train_models(folder, work))
    with open(os.path.join(out, "runs.json"), "w") as file:
        json.dump({"machine": platform.processor(), "figures": figures}, file, indent=1)
    with open(os.path.join(out, "table.md"), "w") as file:
        file.write(table(figures))
    print(table(figures))


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        measure, side, threads, folder, model = sys.argv[2:]
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, available[: int(threads)])
        print(json.dumps(MEASURES[measure](side, folder, model)))
    else:
        main()
