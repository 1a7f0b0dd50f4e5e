#!/usr/bin/env python3
"""Test scores of the shipped templates, for the README: L2 alone, the defaults, and clusters.

    python3 run.py PROGRAM CORPORA [CASE…] > table.md

Cases, such as "EWT, UPOS", restrict the run to these.

Each line of the table is a training configuration. The best L2 alone and the best of the others on
development data (bold) are scored on the test file, with the significance of the difference;
nothing else reads the test files. CoNLL-2000 has no development data: the last 936 training
sentences replace it, and the tested model is trained on the whole training file for the number of
iterations that was best there.
"""

import dataclasses, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = os.path.join(HERE, "..", "..", "..", "features")
HELD_OUT = 936
L2 = [(f"L2 {strength}", ["--dropout", "0", "--l2", strength]) for strength in ("0.1", "0.3", "1")]


@dataclasses.dataclass
class Case:
    """A corpus and the configurations to compare on it."""

    name: str
    train: str
    dev: str
    test: str
    common: list  # options of all configurations that do not override them
    configurations: list  # besides L2 alone: (name, options)


@dataclasses.dataclass
class Result:
    """A trained configuration."""

    name: str
    options: list
    score: float  # on development data
    iteration: int
    recall_bias: float
    model: str


def run(program, *arguments):
    result = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return result.stdout


def train(program, case, configuration, model):
    """Trains a configuration and returns its result."""
    name, options = configuration
    overridden = {"--template", "--scheme"} & set(options) & set(case.common)
    options = [*([] if overridden else case.common), *options]
    log = f"{model}.log"
    outputs = ["--model", model, "--log", log]
    run(program, "train", case.train, *options, "--dev", case.dev, *outputs, "--quiet")
    events = [json.loads(line) for line in open(log)]
    iterations = [event for event in events if event["event"] == "iteration"]
    score = max(100 * event.get("dev_f1", event.get("dev_accuracy", 0)) for event in iterations)
    end = events[-1]
    best = end["best_iteration"], end["recall_bias"]
    print(case.name, name, f"{score:.2f}", best, file=sys.stderr, flush=True)
    return Result(name, options, score, *best, model)


def write_template(name, clusters, target):
    """Writes a shipped template with the clusters of a token and its neighbors added."""
    with open(os.path.join(TEMPLATES, name + ".tpl"), encoding="utf-8") as source:
        text = source.read()
    with open(target, "w", encoding="utf-8") as out:
        out.write(text)
        for position in ("-1", "0", "+1"):
            out.write(f'cluster("{clusters}", 4, 6, 10, 20)[{position}]\n')


def cases(program, corpora, scratch):
    """Yields the cases, after writing the files that they need."""
    path = lambda *names: os.path.join(corpora, *names)
    own = lambda name: os.path.join(scratch, name)
    cluster = lambda *arguments: run(program, "cluster", *arguments, "--quiet")
    tweets = path("wnut17", "unlabeled.txt")
    defaults = ("defaults", [])
    equal_rates = ("dropout 0.3, edges 0.3", ["--edge-dropout", "0.3"])

    files = [path("wnut17", name) for name in ("train.conll", "dev.conll", "test.conll")]
    cluster(tweets, files[0], "--clusters", "1000", "--output", own("wnut.txt"))
    write_template("ner", own("wnut.txt"), own("wnut.tpl"))
    clusters = ["--template", own("wnut.tpl"), "--scheme", "io"]
    configurations = [
        defaults,
        ("defaults, unlabeled tweets", ["--unlabeled", tweets]),
        ("defaults, clusters", clusters),
        ("defaults, clusters, unlabeled tweets", [*clusters, "--unlabeled", tweets]),
    ]
    common = ["--template", "ner", "--scheme", "io"]
    yield Case("W-NUT 2017, names", *files, common, configurations)

    files = [path("conll2002-esp", name) for name in ("esp.train", "esp.testa", "esp.testb")]
    schemes = [(f"defaults, {s.upper()} labels", ["--scheme", s]) for s in ("io", "bioes")]
    configurations = [defaults, equal_rates, *schemes]
    yield Case("Spanish, names", *files, ["--template", "ner"], configurations)
    finkel = ["--template", "ner-finkel"]
    yield Case("the same, `ner-finkel`", *files, finkel, [defaults, equal_rates])

    files = [path("ewt", name) for name in ("train.conllu", "dev.conllu", "test.conllu")]
    cluster(files[0], tweets, "--clusters", "500", "--output", own("ewt.txt"))
    write_template("pos", own("ewt.txt"), own("ewt.tpl"))
    for label in ("upos", "xpos"):
        clusters = ("defaults, clusters", ["--template", own("ewt.tpl"), "--label", label])
        common = ["--template", "pos", "--label", label]
        yield Case(f"EWT, {label.upper()}", *files, common, [defaults, clusters])

    with open(path("conll2000", "train.txt"), encoding="utf-8") as source:
        sentences = source.read().strip().split("\n\n")
    for name, part in (("train", sentences[:-HELD_OUT]), ("dev", sentences[-HELD_OUT:])):
        with open(own(f"chunk.{name}.conll"), "w", encoding="utf-8") as out:
            out.write("\n\n".join(part) + "\n")
    files = [own("chunk.train.conll"), own("chunk.dev.conll"), path("conll2000", "test.txt")]
    configurations = [defaults, equal_rates, ("defaults, BIOES labels", ["--scheme", "bioes"])]
    yield Case("CoNLL-2000, chunks", *files, ["--template", "chunk"], configurations)


def retrain(program, corpora, result):
    """Trains on the whole training file of CoNLL-2000, without development data."""
    source = os.path.join(corpora, "conll2000", "train.txt")
    schedule = ["--max-iterations", str(result.iteration), "--warm-up", "20"]
    schedule += ["--recall-bias", str(result.recall_bias)]
    run(program, "train", source, *result.options, *schedule, "--model", result.model, "--quiet")


def tag(program, model, test):
    """Tags a file; returns the path of the result."""
    form = "conllu" if test.endswith("u") else "conll"
    out = f"{model}.tagged.{form}"
    with open(out, "w", encoding="utf-8") as file:
        file.write(run(program, "tag", model, test, "--format", form, "--output", form))
    return out


def table_rows(program, corpora, case, scratch):
    """Runs a case and yields its rows."""
    model = lambda number: os.path.join(scratch, f"{number}.model")
    results = [
        train(program, case, configuration, model(number))
        for number, configuration in enumerate(L2 + case.configurations)
    ]
    groups = results[: len(L2)], results[len(L2) :]
    chosen = [max(group, key=lambda result: result.score) for group in groups]
    if case.name.startswith("CoNLL-2000"):
        for result in chosen:
            retrain(program, corpora, result)
    tagged = [tag(program, result.model, case.test) for result in chosen]
    label = case.common[2:] if "--label" in case.common else []
    comparison = json.loads(run(program, "compare", case.test, *tagged, "--json", *label))
    metric = comparison.get("f1") or comparison["accuracy"]
    title = case.name
    for result in results:
        name, test, gain = result.name, "", ""
        if result in chosen:
            test = f"{100 * metric['ab'[chosen.index(result)]]:.2f}"
            name = f"**{name}**"
        if result is chosen[1]:
            gain = f"{100 * metric['difference']:+.2f} (p = {metric['p_value']:.4f})"
        yield f"| {title} | {name} | {result.score:.2f} | {test} | {gain} |"
        title = ""


def main():
    program, corpora = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    print("| corpus | training | development | test | over L2 alone |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases(program, corpora, scratch):
            if not sys.argv[3:] or case.name in sys.argv[3:]:
                for row in table_rows(program, corpora, case, scratch):
                    print(row, flush=True)


main()
