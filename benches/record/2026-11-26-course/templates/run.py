#!/usr/bin/env python3
"""Accuracy of every shipped template on every corpus: L2 alone and dropout, dev and test.

    python3 run.py PROGRAM CORPORA OUT [--only CORPUS…] [--dev-only] [--minutes N] > table.md

README.md in this folder describes what is run and how the table is read. Every finished run is a
JSON file in OUT; the same command continues where it was interrupted, and prints the table.
"""

import argparse, contextlib, dataclasses, hashlib, json, os, re, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

CHUNK_DEV = 936  # CoNLL-2000 has no development file: the last sentences of its training file
DROPOUT = "dropout"  # with the defaults: 0.3, edges 0.6, L2 0.1
L2 = {
    f"L2 {strength}": ["--dropout", "0", "--l2", strength] for strength in ("0.03", "0.1", "0.3")
}
NAMES = ["minimal", "ner", "ner-document", "ner-two-passes", "ner-finkel", "ner-finkel-edges"]
POS = ["minimal", "pos", "pos-sancl"]
CHUNKS = ["minimal", "chunk", "chunk-large"]
# `ner` becomes `ner-document` where documents are marked.
TEMPLATE = {("conll2002-ned", "ner"): ["--document", "sentence"]}


@dataclasses.dataclass(frozen=True)
class Case:
    """A corpus with a task."""

    name: str  # of --only
    title: str
    files: tuple  # train, dev, test, in CORPORA
    templates: list
    options: list  # of all configurations
    l2: tuple = ("L2 0.1", "L2 0.3")  # the strengths that are tried


CASES = [
    Case(
        "conll2002-esp",
        "CoNLL-2002 Spanish, names",
        ("conll2002-esp/esp.train", "conll2002-esp/esp.testa", "conll2002-esp/esp.testb"),
        NAMES,
        [],
    ),
    Case(
        "conll2002-ned",
        "CoNLL-2002 Dutch, names",
        ("conll2002-ned/ned.train", "conll2002-ned/ned.testa", "conll2002-ned/ned.testb"),
        NAMES,
        ["--columns", "word,pos,ner"],
    ),
    Case(
        "wnut17",
        "W-NUT 2017, names in tweets",
        ("wnut17/train.conll", "wnut17/dev.conll", "wnut17/test.conll"),
        NAMES,
        ["--scheme", "io"],
    ),
    Case(
        "conll2000",
        "CoNLL-2000, chunks",
        ("conll2000/train.txt", "conll2000/train.txt", "conll2000/test.txt"),
        CHUNKS,
        ["--columns", "word,pos,chunk", "--scheme", "bioes"],
    ),
    Case(
        "ewt-upos",
        "EWT, UPOS",
        ("ewt/train.conllu", "ewt/dev.conllu", "ewt/test.conllu"),
        POS,
        ["--label", "upos"],
        ("L2 0.03", "L2 0.1"),
    ),
    Case(
        "ewt-xpos",
        "EWT, XPOS",
        ("ewt/train.conllu", "ewt/dev.conllu", "ewt/test.conllu"),
        POS,
        ["--label", "xpos"],
        ("L2 0.03", "L2 0.1"),
    ),
]


class Measurement:
    """Runs the program; what has been run is not run again."""

    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.program)
        self.corpora = os.path.abspath(arguments.corpora)
        self.out = os.path.abspath(arguments.out)
        self.dev_only = arguments.dev_only
        self.end = time.monotonic() + 60 * arguments.minutes
        with open(self.program, "rb") as file:
            self.checksum = hashlib.sha256(file.read()).hexdigest()[:12]
        names = re.search(r"Built-in templates:\s+([^.]*)\.", self.call("train", "--help"))
        self.templates = re.split(r",\s+", names[1])
        self.lock, self.tested = threading.Lock(), set()
        os.makedirs(self.out, exist_ok=True)

    def call(self, *arguments):
        """Runs the program and returns its output."""
        result = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if result.returncode not in (0, 3):  # 3: the last line search failed
            sys.exit(f"{arguments}: {result.stderr}")
        return result.stdout

    def path(self, *parts):
        return os.path.join(self.out, ".".join((self.checksum, *parts)).replace(" ", "_"))

    def stored(self, *parts):
        """Returns a stored result, or None."""
        try:
            with open(self.path(*parts, "json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def store(self, result, *parts):
        path = self.path(*parts, "json")
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
        os.replace(path + ".part", path)
        return result

    def files(self, case):
        """Returns the paths of the training, development and test file."""
        files = [os.path.join(self.corpora, *name.split("/")) for name in case.files]
        if case.name == "conll2000":
            with open(files[0], encoding="utf-8") as source:
                sentences = source.read().strip().split("\n\n")
            for i, part in enumerate((sentences[:-CHUNK_DEV], sentences[-CHUNK_DEV:])):
                files[i] = os.path.join(self.out, f"conll2000.{('train', 'dev')[i]}.conll")
                if not os.path.exists(files[i]):
                    with open(files[i] + ".part", "w", encoding="utf-8") as out:
                        out.write("\n\n".join(part) + "\n")
                    os.replace(files[i] + ".part", files[i])
        return files

    def train(self, case, template, name):
        """Trains a configuration unless it has been, or time is over; returns its result."""
        done = self.stored(case.name, template, name)
        if done or time.monotonic() > self.end:
            return done
        train, dev, _ = self.files(case)
        options = [*case.options, *TEMPLATE.get((case.name, template), [])]
        options += ["--template", template, *L2.get(name, [])]
        model, log = (self.path(case.name, template, name, end) for end in ("model", "log"))
        outputs = ["--model", model, "--log", log, "--quiet", "--threads", "1"]
        started = os.times()
        self.call("train", train, "--dev", dev, *options, *outputs)
        with open(log, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        end = events[-1]
        # Of two passes, that of the second, which comes last.
        best = next(e for e in events[::-1] if e.get("iteration") == end["best_iteration"])
        result = {
            "options": options,
            "dev": 100 * best.get("dev_f1", best.get("dev_accuracy", 0)),
            "iteration": end["best_iteration"],
            "iterations": end["iterations"],
            "recall_bias": end["recall_bias"],
            "seconds": os.times().elapsed - started.elapsed,
        }
        text = f"{case.name} {template} {name}: {result['dev']:.2f} at {result['iteration']}"
        print(f"{text}, {result['seconds']:.0f} s", file=sys.stderr, flush=True)
        return self.store(result, case.name, template, name)

    def best(self, case, template, names):
        """Returns name and result of the best of several configurations on development data.

        None if one of them has not been trained. The models of the others are deleted.
        """
        results = {name: self.stored(case.name, template, name) for name in names}
        if not all(results.values()):
            return None
        chosen = max(results, key=lambda name: results[name]["dev"])
        for name in set(names) - {chosen}:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(case.name, template, name, "model"))
        return chosen, results[chosen]

    def test(self, case, template):
        """Scores the two chosen models of a template on the test file, once, if there are both."""
        with self.lock:
            chosen = [self.best(case, template, names) for names in (case.l2, [DROPOUT])]
            if (case.name, template) in self.tested or self.dev_only or not all(chosen):
                return
            self.tested.add((case.name, template))
        if self.stored(case.name, template, "test"):
            return
        tagged = [self.tag(case, template, *pair) for pair in chosen]
        label = case.options if "--label" in case.options else []
        gold = self.files(case)[2]
        comparison = json.loads(self.call("compare", gold, *tagged, "--json", *label))
        metric = comparison.get("f1") or comparison["accuracy"]
        self.store({"chosen": [name for name, _ in chosen], **metric}, case.name, template, "test")
        print(f"{case.name} {template} tested", file=sys.stderr, flush=True)

    def tag(self, case, template, name, result):
        """Tags the test file with a model; returns the path of the result."""
        model = self.path(case.name, template, name, "model")
        test = self.files(case)[2]
        if case.name == "conll2000":
            self.retrain(case, name, result, model)
        form = "conllu" if test.endswith("u") else "conll"
        out = self.path(case.name, template, name, "tagged", form)
        with open(out, "w", encoding="utf-8") as file:
            file.write(self.call("tag", model, test, "--format", form, "--output", form))
        return out

    def retrain(self, case, name, result, model):
        """Trains on the whole training file of CoNLL-2000, for as long as was best."""
        source = os.path.join(self.corpora, *case.files[0].split("/"))
        schedule = ["--max-iterations", str(result["iteration"])]
        schedule += ["--recall-bias", str(result["recall_bias"])]
        if name == DROPOUT:  # as in the first training; by default at most half of the iterations
            schedule += ["--warm-up", "20"]
        outputs = ["--model", model, "--quiet", "--threads", "1"]
        self.call("train", source, *result["options"], *schedule, *outputs)

    def table(self, cases):
        """Yields the lines of the table."""
        yield "| corpus | template | L2 | dev | test | dropout: dev | test | gain on test |"
        yield "|---" * 8 + "|"
        for case in cases:
            title = case.title
            for template in self.templates_of(case):
                pair = [self.best(case, template, names) for names in (case.l2, [DROPOUT])]
                if not all(pair):
                    yield f"| {title} | `{template}` |" + " – |" * 6
                    continue
                dev = [f"{result['dev']:.2f}" for _, result in pair]
                tested, scores, gain = self.stored(case.name, template, "test"), ["", ""], ""
                if tested:
                    scores = [f"{100 * tested[side]:.2f}" for side in "ab"]
                    p = tested["p_value"]
                    p = f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
                    gain = f"{100 * tested['difference']:+.2f} ({p})"
                strength = pair[0][0].removeprefix("L2 ")
                cells = [title, f"`{template}`", strength, dev[0], scores[0], dev[1], scores[1]]
                yield f"| {' | '.join([*cells, gain])} |"
                title = ""

    def templates_of(self, case):
        return [name for name in case.templates if name in self.templates]

    def measure(self, cases, processes):
        """Runs everything that is missing."""
        jobs = [
            (case, template, name)
            for case in cases
            for template in self.templates_of(case)
            for name in (*case.l2, DROPOUT)
        ]
        for case in cases:
            self.files(case)  # writes those that are missing

        def run(case, template, name):
            self.train(case, template, name)
            self.test(case, template)

        with ThreadPoolExecutor(processes) as pool:
            list(pool.map(run, *zip(*jobs)))


def main():
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("corpora", metavar="CORPORA")
    parser.add_argument("out", metavar="OUT", help="folder for logs, models and results")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="CORPUS")
    parser.add_argument("--dev-only", action="store_true", help="leave test files unread")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no training after this")
    parser.add_argument("--processes", type=int, default=2, help="at a time, of one thread each")
    arguments = parser.parse_args()
    cases = [case for case in CASES if case.name in arguments.only]
    measurement = Measurement(arguments)
    measurement.measure(cases, arguments.processes)
    print("\n".join(measurement.table(cases)))


if __name__ == "__main__":
    main()
