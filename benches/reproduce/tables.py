"""What each table needs: models tuned, test files tagged once, scores and comparisons."""
import os
import statistics

import paper, tuning
from corpora import ROTATIONS, genres, join, thirds
from runs import Task

NAMES = ("conll2002-esp", "wnut17")
# Table → the public corpora it is made of.
CORPORA = {"table2": NAMES, "table3": NAMES, "table4": (*NAMES, "conll2000"), "table5": ("ewt",), "table6": (*NAMES, "conll2000")}
COLUMNS = {
    "table2": ("None", "L2", "Dropout", "+Test"),
    "table3": ("L2", "Dropout", "+Unlabeled"),
    "table4": ("None", "L2", "Dropout"),
    "table5": ("None", "L2", "Dropout"),
    "table6": ("None", "L2", "Dropout"),
}
# What is compared with what; the stars of a column tell how it compares with L2.
PAIRS = (("None", "L2"), ("L2", "Dropout"), ("L2", "+Test"), ("Dropout", "+Test"), ("L2", "+Unlabeled"), ("Dropout", "+Unlabeled"))


def fit(runner, corpus, order, columns, text=""):
    """The chosen model of every column; `text` is unlabeled text for the last one."""
    task, found = Task(corpus, order), {}
    for column in columns:
        if column.startswith("+"):
            found[column] = tuning.unlabeled(runner, task, text, found["Dropout"])
        else:
            found[column] = {"None": tuning.none, "L2": tuning.l2, "Dropout": tuning.dropout}[column](runner, task)
    return found


def percent(scores, measure):
    """Scores in percent: the one that counts, and what it is made of."""
    out = {"score": 100 * scores[measure], "accuracy": 100 * scores["accuracy"]}
    if measure == "f1":
        figures = lambda s: [100 * s[name] for name in ("precision", "recall", "f1")]
        out["types"] = {name: figures(s) for name, s in sorted(scores["types"].items())}
        out["types"]["all"] = figures(scores)
    return out


def row(runner, corpus, order, split, gold, tagged, figures, part="all"):
    """A row: scores of each column on one file, comparisons if it is test data, the paper's figures."""
    comparisons = []
    if split == "test":
        for a, b in PAIRS:
            if a in tagged and b in tagged:
                found = runner.compare(corpus, gold, tagged[a], tagged[b])
                found = {key: found[key] for key in ("difference", "interval", "p_value")}
                comparisons.append({"a": a, "b": b, **found})
    return {
        "corpus": corpus.name,
        "title": corpus.title,
        "order": order,
        "split": split,
        "part": part,
        "measure": corpus.measure,
        "scores": {c: percent(runner.evaluate(corpus, gold, file), corpus.measure) for c, file in tagged.items()},
        "comparisons": comparisons,
        "paper": figures,
    }


def choices(corpus, order, found, runner):
    """What was chosen, for the record."""
    for column, chosen in found.items():
        run = chosen.run
        yield {
            "corpus": corpus.title,
            "part": corpus.name,
            "order": order,
            "column": column,
            "settings": run.settings,
            "dev": 100 * run.score,
            "iteration": run.iteration,
            "recall_bias": run.recall_bias,
            "tried": chosen.tried,
            "at_edge": chosen.edge,
            "command": ["dropchain", *runner.command(run.task, run.settings)],
        }


def whole(runner, corpus, order, columns, paper_of, out):
    """Rows of a corpus with its own splits."""
    found = fit(runner, corpus, order, columns, corpus.files["test"])
    rows = []
    for split in ("dev", "test"):
        tagged = {column: runner.tag(chosen.run, split) for column, chosen in found.items()}
        gold = corpus.files[split]
        rows.append(row(runner, corpus, order, split, gold, tagged, paper_of(split, "all")))
        if corpus.name == "ewt":
            folder = lambda name: os.path.join(out, "corpora", "ewt", split, name)
            golds = genres(gold, folder("gold"))
            cut = {column: genres(file, folder(column)) for column, file in tagged.items()}
            for genre, file in golds.items():
                parts = {column: files[genre] for column, files in cut.items()}
                rows.append(row(runner, corpus, order, split, file, parts, paper_of(split, genre), genre))
    return rows, list(choices(corpus, order, found, runner))


def in_thirds(runner, corpus, order, columns, figures, out):
    """The row of a corpus that was cut into thirds: means over its rotations, comparisons over all sentences."""
    golds, tagged, chosen = [], {column: [] for column in columns}, []
    scores = {column: [] for column in columns}
    for rotation in thirds(corpus, out):
        found = fit(runner, rotation, order, columns, rotation.files["unlabeled"])
        chosen += choices(rotation, order, found, runner)
        golds.append(rotation.files["test"])
        for column in columns:
            tagged[column].append(runner.tag(found[column].run, "test"))
            scores[column].append(100 * runner.evaluate(corpus, golds[-1], tagged[column][-1])[corpus.measure])
    folder = os.path.join(out, "corpora", f"{corpus.name}.thirds", f"order{order}")
    gold = join(golds, os.path.join(folder, "gold.conll"))
    joined = {column: join(files, os.path.join(folder, f"{column}.conll")) for column, files in tagged.items()}
    result = row(runner, corpus, order, "test", gold, joined, figures)
    for column, values in scores.items():
        cell = result["scores"][column]
        cell["pooled"], cell["rotations"] = cell["score"], values
        cell["score"] = statistics.mean(values)
        cell["standard_error"] = statistics.stdev(values) / ROTATIONS**0.5
    return [result], chosen


def make(table, runner, corpora, out):
    """All of a table; `corpora` are those that are there."""
    rows, chosen = [], []
    for corpus in corpora:
        news = corpus.name == "conll2003"
        figures = {
            "table2": lambda split, _: paper.TABLE2 if news and split == "test" else {},
            "table3": lambda *_: paper.TABLE3 if news else {},
            "table4": lambda split, _: paper.TABLE4[split] if news else {},
            "table5": lambda split, genre: paper.TABLE5.get(genre, {}).get(split, {}),
            "table6": lambda split, _: paper.TABLE6[split] if news else {},
        }[table]
        # The paper's table 3 has no chain; the rows at order 1 are ours.
        for order in {"table2": (0,), "table3": (0, 1)}.get(table, (1,)):
            runner.say(f"== {table}: {corpus.title}, order {order}")
            if table == "table3":
                found = in_thirds(runner, corpus, order, COLUMNS[table], figures() if order == 0 else {}, out)
            else:
                found = whole(runner, corpus, order, COLUMNS[table], figures, out)
            rows += found[0]
            chosen += found[1]
    return {"table": table, "program": runner.version, "columns": COLUMNS[table], "rows": rows, "chosen": chosen}
