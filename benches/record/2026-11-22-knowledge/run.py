"""Development scores with outside knowledge, with names from the training data, and without case.

    python3 run.py DROPCHAIN CORPORA [NAME ...] > table.md

Runs all experiments, or those whose names begin with one of NAME. No test file is read.
"""

import json
import os
import subprocess
import sys
import tempfile

TEMPLATES = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "features")
NAMES = "lexicon(training{0})\nlexicon(training{0})[-1]\nlexicon(training{0})[+1]\n"
CASES = {
    "as it is": str,
    "lower case": str.lower,
    "capitals": str.upper,
    "Every Word": lambda word: word[:1].upper() + word[1:],
}


def run(program, *arguments):
    command = ["nice", "-n", "10", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def read(file):
    with open(file, "rb") as source:
        contents = source.read()
    try:
        return contents.decode("utf-8")
    except UnicodeDecodeError:
        return contents.decode("latin-1")


def recased(text, change, separator):
    """Returns a corpus with other words."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.strip() and not line.startswith("-DOCSTART-"):
            word, rest = line.split(separator, 1)
            lines[i] = change(word) + separator + rest
    return "\n".join(lines)


class Corpus:
    def __init__(self, scratch, name, folder, files, options, separator=" "):
        self.name, self.options, self.files = name, options, {}
        for part, file in zip(("train", "dev"), files):
            text = read(os.path.join(folder, file))
            for case, change in CASES.items():
                path = os.path.join(scratch, f"{name}-{part}-{case}".replace(" ", "_"))
                with open(path, "w", encoding="utf-8") as target:
                    target.write(recased(text, change, separator))
                self.files[part, case] = path


def template(scratch, name, lines, base="ner"):
    path = os.path.join(scratch, name + ".tpl")
    with open(path, "w", encoding="utf-8") as target:
        target.write(read(os.path.join(TEMPLATES, base + ".tpl")) + lines)
    return path


def main():
    program, corpora, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        place = lambda *names: os.path.join(corpora, *names)
        columns = ["--columns", "word,pos,ner"]
        files = ("esp.train", "esp.testa")
        spanish = Corpus(scratch, "Spanish", place("conll2002-esp"), files, columns)
        files = ("ned.train", "ned.testa")
        dutch = Corpus(scratch, "Dutch", place("conll2002-ned"), files, columns)
        tweets = Corpus(scratch, "W-NUT", place("wnut17"), ("train.conll", "dev.conll"),
                        ["--scheme", "io"], "\t")
        unlabeled = place("wnut17", "unlabeled.txt")
        train = lambda corpus: corpus.files["train", "as it is"]
        experiments = []
        for corpus in (spanish, dutch, tweets):
            experiments += [
                (corpus, "plain", [], True),
                (corpus, "caseless", ["--caseless"], True),
                (corpus, "caseless=0.3", ["--caseless=0.3"], True),
                (corpus, "names", ["+" + NAMES.format("")], False),
            ]
            if corpus is not tweets:
                experiments.append((corpus, "clusters", ["--clusters", train(corpus)], False))
        own = ["--clusters", unlabeled, train(tweets)]
        experiments += [
            (tweets, "clusters", own, False),
            (tweets, "clusters 300", [*own, "--cluster-count", "300"], False),
            (tweets, "clusters, names", [*own, "+" + NAMES.format(", lower")], False),
        ]
        print("| corpus | training | " + " | ".join(CASES) + " |")
        print("|---|---|" + "---|" * len(CASES), flush=True)
        for corpus, name, options, with_cases in experiments:
            full = f"{corpus.name} {name}"
            if wanted and not any(full.startswith(start) for start in wanted):
                continue
            lines = [option[1:] for option in options if option.startswith("+")]
            options = [option for option in options if not option.startswith("+")]
            tpl = template(scratch, "own", lines[0]) if lines else "ner"
            model = os.path.join(scratch, "model")
            run(program, "train", train(corpus), "--dev", corpus.files["dev", "as it is"],
                "--template", tpl, "--model", model, "--quiet", "--threads", "1",
                *corpus.options, *options)
            cells = []
            for case in CASES:
                if with_cases or case == "as it is":
                    report = run(program, "eval", model, corpus.files["dev", case], "--json")
                    cells.append(f"{100 * json.loads(report)['f1']:.2f}")
                else:
                    cells.append("")
            print(f"| {corpus.name} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
