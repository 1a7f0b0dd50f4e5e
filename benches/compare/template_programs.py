#!/usr/bin/env python3
"""Compares dropchain with CRF++, Wapiti and CRFsuite: the same attributes, data and penalty, in one
run.

    pip install crfpy libwapiti python-crfsuite
    cargo build --release
    python3 benches/compare/template_programs.py FOLDER_WITH_CONLL2000 > table.md

The template is the chunking example of CRF++, which Wapiti reads as it is; for CRFsuite, Python
makes its attributes, as its example does (none beyond the ends of a sentence). Trained on nine
tenths of the training file, tagged is the last tenth. c = 1 of CRF++, rho2 = 1 of Wapiti
(rho1 = 0), c2 = 0.5 of CRFsuite and --l2 0.5 are the same penalty. All programs have one thread and
weights for all labels of each attribute, and stop when the objective no longer improves, by their
default tolerances (Wapiti: not when the error on the training data stays the same, which is far
from the minimum). Figures are CPU time (user and system) of whole processes, the minimum of
interleaved rounds.
"""

import os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import CHUNKING_TEMPLATES, PROGRAM, expand, read_conll

ROUNDS = int(os.environ.get("ROUNDS", 2))
TEMPLATE = """\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
"""


def wapiti(action, template, source, model):
    """Trains or tags with Wapiti, in a separate process."""
    from wapiti import Model

    sentences = open(source, encoding="utf-8").read().strip().split("\n\n")
    if action == "train":
        trained = Model(
            patterns=open(template).read(), rho1=0.0, rho2=1.0, nthread=1, stopwin=0
        )
        trained.train(sentences)
        trained.save(model)
        return
    trained = Model(model=model, nthread=1)
    for sentence in sentences:
        print(trained.label_sequence(sentence, include_input=True).decode().strip() + "\n")


def crfsuite(action, template, source, model):
    """Trains or tags with CRFsuite, in a separate process."""
    import pycrfsuite

    def attributes(rows):
        return [list(expand(CHUNKING_TEMPLATES, rows, t)) for t in range(len(rows))]

    sentences = read_conll(source)
    if action == "train":
        trainer = pycrfsuite.Trainer("lbfgs", verbose=False, params={
            "c1": 0, "c2": 0.5, "feature.possible_states": True,
            "feature.possible_transitions": True,
        })
        for rows in sentences:
            trainer.append(attributes(rows), [row[-1] for row in rows])
        trainer.train(model)
        return
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for rows in sentences:
        labels = tagger.tag(attributes(rows))
        print("".join(" ".join([*row, label]) + "\n" for row, label in zip(rows, labels)))


def measure(command, output=None):
    """Runs a command; returns its CPU time in seconds and what it printed as messages."""
    before = os.times()
    with open(output or os.devnull, "wb") as stdout:
        run = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=True)
    after = os.times()
    seconds = sum(getattr(after, name) - getattr(before, name)
                  for name in ("children_user", "children_system"))
    return seconds, run.stderr.decode()


def labels(path):
    return [line.split()[-1] if line.strip() else "" for line in open(path, encoding="utf-8")]


def main():
    lines = open(os.path.join(sys.argv[1], "train.txt"), encoding="utf-8").read()
    sentences = lines.strip().split("\n\n")
    cut = len(sentences) * 9 // 10
    with tempfile.TemporaryDirectory() as folder:
        template, train, dev = (os.path.join(folder, name) for name in ("t", "train", "dev"))
        for path, text in [
            (template, TEMPLATE),
            (train, "\n\n".join(sentences[:cut]) + "\n\n"),
            (dev, "\n\n".join(sentences[cut:]) + "\n\n"),
        ]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        own = [sys.executable, os.path.abspath(__file__)]
        bin_folder = os.path.dirname(sys.executable)
        model = lambda name: os.path.join(folder, name)
        programs = {
            "CRF++": (
                [f"{bin_folder}/crf_learn", "-c", "1", "-p", "1", template, train, model("c")],
                [f"{bin_folder}/crf_test", "-m", model("c"), dev],
            ),
            "Wapiti": (
                [*own, "wapiti", "train", template, train, model("w")],
                [*own, "wapiti", "tag", template, dev, model("w")],
            ),
            "CRFsuite": (
                [*own, "crfsuite", "train", template, train, model("s")],
                [*own, "crfsuite", "tag", template, dev, model("s")],
            ),
            "dropchain": (
                [PROGRAM, "train", train, "--columns", "word,pos,chunk", "--template", template,
                 "--states", "all", "--boundary", "off", "--dropout", "0", "--l2", "0.5",
                 "--threads", "1", "--model", model("d")],
                [PROGRAM, "tag", model("d"), dev, "--constrain", "off", "--threads", "1"],
            ),
        }
        seconds = {name: ([], []) for name in programs}
        for _ in range(ROUNDS):
            for name, (learn, tag) in programs.items():
                seconds[name][0].append(measure(learn)[0])
                seconds[name][1].append(measure(tag, model(name))[0])
        gold = labels(dev)
        ours = labels(model("dropchain"))
        print("| | training, CPU s | tagging, CPU s | model, MB | accuracy | other labels than "
              "dropchain |")
        print("|---|---|---|---|---|---|")
        for name, file in zip(programs, "cwsd"):
            tagged = labels(model(name))[: len(gold)]
            tokens = [i for i, label in enumerate(gold) if label]
            right = sum(tagged[i] == gold[i] for i in tokens) / len(tokens)
            unlike = sum(tagged[i] != ours[i] for i in tokens)
            learn, tag = map(min, seconds[name])
            size = os.path.getsize(model(file)) / 1e6
            print(f"| {name} | {learn:.1f} | {tag:.2f} | {size:.1f} | {100 * right:.2f} | "
                  f"{unlike} of {len(tokens)} |")


if sys.argv[1] in ("wapiti", "crfsuite"):
    globals()[sys.argv[1]](*sys.argv[2:])
else:
    main()
