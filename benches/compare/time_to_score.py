#!/usr/bin/env python3
"""Records how soon programs reach a score: F1 on held-out sentences against processor time.

    pip install python-crfsuite vowpalwabbit
    cargo build --release
    cargo build --release --manifest-path benches/compare/crfs/Cargo.toml --target-dir target/peers
    python3 benches/compare/time_to_score.py CORPORA [--out DIR] [--sentences N] [--runs N]
        [--resume]

Writes DIR/README.md (with a table), DIR/score.svg and DIR/runs.json; by default DIR is
benches/record/DATE-time-to-score.

CoNLL-2000, the 19 templates of CRFsuite's chunking example, weights for observed pairs only, no
noise, one thread. The last tenth of the training file is held out; --sentences N keeps N of the
others, for a quick try. A point is a run of its own, from the start to a number of iterations or
passes; its seconds are user and system time, the median of --runs runs.

Seconds are those of the whole process, reading and writing included, where a program reads the
file of attributes itself. Those of CRFsuite count from the sentences in memory of Python on, since
Python takes longer to read them than CRFsuite to learn from them. "from columns" reads the corpus
and makes the attributes by a template.

--program NAME, which may be repeated, runs some of the programs; --resume keeps the runs of others
that DIR has. The number of iterations of the
two runs "from columns" is the first with the score --target on held-out sentences; these numbers
are then run on the whole training file, and scored on the test file, once.
"""

import argparse, datetime, json, os, platform, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import attributes
import training
from figure import draw

PROGRAM, CRFS = attributes.PROGRAM, training.CRFS
BATCH = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 100]
EPOCHS = [1, 2, 3, 4, 5, 7, 10, 15, 20]
RANGE = 3  # points of F1 in the plot
LEVELS = [93.0, 93.5, 94.0, 94.3]
TEMPLATE = "\n".join(
    " & ".join(f"column({column})[{offset}]" for column, offset in template)
    for template in attributes.CHUNKING_TEMPLATES
)

# Name → how to train, and the numbers of iterations. `{l2}` is the strength of the penalty.
OWN = "--algorithm lbfgs --warm-start {} --dropout 0 --l2 {{l2}}"
DROPCHAIN = {
    "warm start, from columns": (OWN.format("online"), BATCH),
    "L-BFGS, from columns": (OWN.format("off"), BATCH),
    "warm start": (OWN.format("online"), BATCH),
    "L-BFGS": (OWN.format("off"), BATCH),
    "sgd": ("--algorithm sgd --dropout 0 --l2 {l2}", EPOCHS),
    "ap": ("--algorithm ap", EPOCHS),
    "arow": ("--algorithm arow", EPOCHS),
}
CRFSUITE = {
    "CRFsuite lbfgs": ("lbfgs", BATCH),
    "CRFsuite l2sgd": ("l2sgd", EPOCHS),
    "CRFsuite ap": ("ap", EPOCHS),
    "CRFsuite arow": ("arow", EPOCHS),
}
OTHERS = {"Vowpal Wabbit": EPOCHS, "crfs": [5, 10]}
ONCE = ["crfs"]  # takes minutes
TEST_RUNS = 5
PROGRAMS = [*DROPCHAIN, *CRFSUITE, *OTHERS]
PANELS = {
    "L-BFGS": ["warm start", "L-BFGS", "CRFsuite lbfgs"],
    "dropchain, online": ["sgd", "ap", "arow"],
    "CRFsuite, online": ["CRFsuite l2sgd", "CRFsuite ap", "CRFsuite arow"],
    "others": ["warm start", "crfs", "Vowpal Wabbit"],
}


def from_columns(name):
    return name.endswith("from columns")


def run(command):
    """Runs a command; returns its processor seconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def this_script(*arguments):
    return [sys.executable, os.path.abspath(__file__), *map(str, arguments)]


def train_crfsuite(source, model, algorithm, l2, limit):
    """Trains with python-crfsuite, in a separate process; prints the processor seconds."""
    import pycrfsuite

    sentences = list(attributes.read_attributes(source))
    start = time.process_time()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    for labels, items in sentences:
        trainer.append(pycrfsuite.ItemSequence(items), labels)
    parameters = {"max_iterations": int(limit)}
    if algorithm in ("lbfgs", "l2sgd"):
        parameters["c2"] = float(l2)
    trainer.set_params(parameters)
    trainer.train(model)
    print(time.process_time() - start)


def write_vw(source, target, labels):
    """Writes the format of Vowpal Wabbit, with the numbers of `labels` from 1."""
    with open(target, "w", encoding="utf-8") as out:
        for gold, items in attributes.read_attributes(source):
            for label, names in zip(gold, items):
                number = labels.index(label) + 1 if label in labels else 1
                words = " ".join(name.replace("|", "_").replace(":", ";") for name in names)
                out.write(f"{number} | {words}\n")
            out.write("\n")


def train_vw(source, model, labels, limit):
    """Trains with Vowpal Wabbit, in a separate process; prints the processor seconds."""
    import vowpalwabbit

    start = time.process_time()
    passes = f"--passes {limit} --cache_file {model}.cache -k --holdout_off"
    vowpalwabbit.Workspace(
        f"--search {labels} --search_task sequence -d {source} -b 24 {passes} -f {model} --quiet"
    ).finish()
    print(time.process_time() - start)


def tag_vw(model, source, target):
    """Writes the predicted numbers, a line for each sentence."""
    import vowpalwabbit

    vowpalwabbit.Workspace(f"-t -i {model} -d {source} -p {target} --quiet").finish()


class Files:
    """The files of training and held-out sentences in all formats."""

    def __init__(self, folder, train, held_out):
        self.folder = folder
        for part, sentences in (("train", train), ("dev", held_out)):
            with open(self.path(part, "columns"), "w", encoding="utf-8") as out:
                for sentence in sentences:
                    out.writelines(" ".join(cells) + "\n" for cells in sentence)
                    out.write("\n")
            attributes.write_attributes(sentences, self.path(part, "attributes"))
        training.write_gold(held_out, self.path("dev", "gold"))
        self.gold = held_out
        self.labels = sorted({cells[-1] for sentence in train for cells in sentence})
        for part in ("train", "dev"):
            write_vw(self.path(part, "attributes"), self.path(part, "vw"), self.labels)
        with open(self.path("chunking", "tpl"), "w") as out:
            out.write(TEMPLATE + "\n")

    def path(self, part, kind):
        return os.path.join(self.folder, f"{part}.{kind}")

    def train(self, name, limit, l2):
        """Trains a model; returns its file and the processor seconds."""
        model = os.path.join(self.folder, "model")
        source = self.path("train", "attributes")
        if name in DROPCHAIN:
            options = DROPCHAIN[name][0].format(l2=l2).split()
            command = [PROGRAM, "train", "--states", "observed", "--threads", "1", "--quiet"]
            command += ["--model", model, "--max-iterations", str(limit), *options]
            if from_columns(name):
                command += [self.path("train", "columns"), "--columns", "word,pos,chunk"]
                command += ["--template", self.path("chunking", "tpl")]
            else:
                command += [source, "--format", "crfsuite", "--boundary", "off"]
            return model, run(command)
        if name == "crfs":
            return model, run([CRFS, "train", source, model, str(l2), str(limit)])
        if name == "Vowpal Wabbit":
            vw = self.path("train", "vw")
            command = this_script("--train-vw", vw, model, len(self.labels), limit)
        else:
            command = this_script("--train", source, model, CRFSUITE[name][0], l2, limit)
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return model, float(output.split()[-1])

    def score(self, name, model):
        """Returns the F1 of a model on the held-out sentences."""
        source, gold = self.path("dev", "attributes"), self.path("dev", "gold")
        if from_columns(name):
            columns = self.path("dev", "columns")
            command = [PROGRAM, "eval", model, columns, "--json", "--constrain", "off"]
            result = subprocess.run(command, check=True, capture_output=True).stdout
            return 100 * json.loads(result)["f1"]
        if name == "Vowpal Wabbit":
            return self.score_vw(model, gold)
        # The other programs predict label sequences that are illegal in IOB2, too.
        kind = "dropchain" if name in DROPCHAIN else name
        options = ["--constrain", "off"] if name in DROPCHAIN else []
        return training.score(kind, model, source, gold, self.folder, options)

    def score_vw(self, model, gold):
        target, predictions = self.path("dev", "numbers"), self.path("dev", "predictions")
        run(this_script("--tag-vw", model, self.path("dev", "vw"), target))
        lines = [line.split() for line in open(target) if line.strip()]
        with open(predictions, "w", encoding="utf-8") as out:
            for sentence, numbers in zip(self.gold, lines, strict=True):
                for cells, number in zip(sentence, numbers, strict=True):
                    out.write(f"{cells[0]}\t{self.labels[int(number) - 1]}\n")
                out.write("\n")
        command = [PROGRAM, "eval", "--predictions", predictions, gold, "--json"]
        result = subprocess.run(command, check=True, capture_output=True).stdout
        return 100 * json.loads(result)["f1"]


def course(files, name, limits, options):
    """Returns the points (iterations, processor seconds, F1) of a program."""
    points = []
    count = 1 if name in ONCE else options.runs
    for limit in limits:
        runs = [files.train(name, limit, options.l2) for _ in range(count)]
        seconds = statistics.median(seconds for _, seconds in runs)
        points.append((limit, seconds, files.score(name, runs[-1][0])))
        print(name, *(round(x, 2) for x in points[-1]), file=sys.stderr)
    return points


def first(points, level):
    """Returns the first point with a score of at least `level`, if there is one."""
    return next((point for point in points if point[2] >= level), None)


def table(courses):
    """Yields the lines of the table."""
    yield "| | " + " | ".join(f"F1 {level}" for level in LEVELS) + " | best F1 | after, s |"
    yield f"|---|{'--:|' * (len(LEVELS) + 2)}"
    for name, points in courses.items():
        reached = [first(points, level) for level in LEVELS]
        cells = [f"{point[1]:.2f}" if point else "" for point in reached]
        best = max(points, key=lambda point: point[2])
        own = "dropchain, " if name in DROPCHAIN else ""
        yield f"| {own}{name} | {' | '.join(cells)} | {best[2]:.2f} | {best[1]:.2f} |"


def measure_test(files, courses, options):
    """Yields the lines about the test file: programs with the iterations that dev data chose."""
    yield "| | iterations | F1 held out | processor seconds | F1 test |"
    yield "|---|--:|--:|--:|--:|"
    for name in filter(from_columns, courses):
        point = first(courses[name], options.target)
        if point is None:
            continue
        runs = [files.train(name, point[0], options.l2) for _ in range(TEST_RUNS)]
        seconds = statistics.median(seconds for _, seconds in runs)
        score = files.score(name, runs[-1][0])
        yield f"| {name} | {point[0]} | {point[2]:.2f} | {seconds:.2f} | {score:.2f} |"


def plot(courses, target):
    best = max(f1 for points in courses.values() for *_, f1 in points)
    near = lambda name: [point for point in courses.get(name, []) if point[2] > best - RANGE]
    shown = lambda name: [(seconds, f1) for _, seconds, f1 in near(name)]
    panels = []
    for title, names in PANELS.items():
        lines = [(name, shown(name)) for name in names]
        lines = [(name, line) for name, line in lines if len(line) > 1]
        if lines:
            panels.append((title, lines))
    seconds = {"label": "processor seconds", "scale": "log"}
    draw(target, panels, seconds, {"label": "F1 on held-out sentences"})


def write_readme(target, courses, test, options):
    commit = ["git", "-C", attributes.ROOT, "rev-parse", "--short", "HEAD"]
    revision = subprocess.run(commit, capture_output=True, text=True).stdout.strip()
    arguments = [f"--l2 {options.l2}", f"--runs {options.runs}"]
    arguments += [f"--sentences {options.sentences}"] if options.sentences else []
    runs = "of single runs"
    if options.runs > 1:
        runs = f"medians of {options.runs} runs ({', '.join(ONCE)}: one)"
    lines = [
        "# Time to the score",
        "",
        f"    python3 benches/compare/time_to_score.py CORPORA {' '.join(arguments)}",
        "",
        f"Commit {revision}, {platform.machine()}, {os.cpu_count()} processors, of which each "
        "program uses one. CoNLL-2000,",
        f"c2 = {options.l2}, the 19 templates of CRFsuite's chunking example, observed pairs. "
        "Processor seconds to a F1 on",
        f"held-out sentences (the last tenth of the training file), {runs};",
        "what they include is told at the top",
        "of the script. Every point is a run of its own (runs.json).",
        "",
        *table(courses),
        "",
        "![F1 against processor time](score.svg)",
        "",
        f"The first number of iterations with F1 {options.target} on held-out sentences, then on "
        f"the whole training file, medians of {TEST_RUNS} runs:",
        "",
        *test,
    ]
    with open(target, "w") as file:
        file.writelines(line + "\n" for line in lines)


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("corpora")
    date = datetime.date.today().isoformat()
    record = os.path.join(attributes.ROOT, "benches", "record", f"{date}-time-to-score")
    parser.add_argument("--out", default=record)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--l2", type=float, default=0.3)
    parser.add_argument("--target", type=float, default=94.0)
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--resume", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    os.makedirs(options.out, exist_ok=True)
    path = lambda name: os.path.join(options.corpora, "conll2000", name)
    train = list(attributes.read_conll(path("train.txt")))
    test = list(attributes.read_conll(path("test.txt")))
    last = len(train) // 10
    limits = {name: limits for name, (_, limits) in (DROPCHAIN | CRFSUITE).items()} | OTHERS
    courses = {}
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, train[:-last][: options.sentences], train[-last:])
        if options.resume:
            with open(os.path.join(options.out, "runs.json")) as runs:
                courses = json.load(runs)
        for name in options.program or PROGRAMS:
            if name in courses:
                continue
            courses[name] = course(files, name, limits[name], options)
            with open(os.path.join(options.out, "runs.json"), "w") as out:
                json.dump(courses, out)
        whole = Files(folder, train[: options.sentences], test)
        lines = list(measure_test(whole, courses, options))
    plot(courses, os.path.join(options.out, "score.svg"))
    write_readme(os.path.join(options.out, "README.md"), courses, lines, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train_crfsuite(*sys.argv[2:])
    elif sys.argv[1:2] == ["--train-vw"]:
        train_vw(*sys.argv[2:])
    elif sys.argv[1:2] == ["--tag-vw"]:
        tag_vw(*sys.argv[2:])
    else:
        main()
