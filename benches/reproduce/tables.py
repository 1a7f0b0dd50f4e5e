"""Computes each table: tunes the models, tags the test files once, and computes scores."""

import os
import statistics

import paper, tuning
from corpora import ROTATIONS, concatenate, split_genres, thirds
from runs import Task

NAMES = ("conll2002-esp", "wnut17")
# Table → its public corpora.
CORPORA = {
    "table2": NAMES,
    "table3": NAMES,
    "table4": (*NAMES, "conll2000"),
    "table5": ("ewt",),
    "table6": (*NAMES, "conll2000"),
}
COLUMNS = {
    "table2": ("None", "L2", "Dropout", "+Test"),
    "table3": ("L2", "Dropout", "+Unlabeled"),
    "table4": ("None", "L2", "Dropout"),
    "table5": ("None", "L2", "Dropout"),
    "table6": ("None", "L2", "Dropout"),
}
# Tested for significance; the stars of a column are those of its comparison with L2.
PAIRS = (
    ("None", "L2"),
    ("L2", "Dropout"),
    ("L2", "+Test"),
    ("Dropout", "+Test"),
    ("L2", "+Unlabeled"),
    ("Dropout", "+Unlabeled"),
)


def tune(runner, corpus, order, columns, text=""):
    """Returns the choice for each column; `text` is the unlabeled text of columns with a +."""
    searches = {"None": tuning.none, "L2": tuning.l2, "Dropout": tuning.dropout}
    task, choices = Task(corpus, order), {}
    for column in columns:
        if column.startswith("+"):
            choices[column] = tuning.unlabeled(runner, task, text, choices["Dropout"])
        else:
            choices[column] = searches[column](runner, task)
    return choices


def percent(scores, metric):
    """Returns the scores in percent: the headline metric, accuracy, and those by type."""
    result = {"score": 100 * scores[metric], "accuracy": 100 * scores["accuracy"]}
    if metric == "f1":
        triple = lambda s: [100 * s[name] for name in ("precision", "recall", "f1")]
        result["types"] = {name: triple(s) for name, s in sorted(scores["types"].items())}
        result["types"]["all"] = triple(scores)
    return result


def compare(runner, corpus, gold, tagged):
    """Yields the significance of each pair of columns."""
    for a, b in PAIRS:
        if a in tagged and b in tagged:
            result = runner.compare(corpus, gold, tagged[a], tagged[b])
            result = {key: result[key] for key in ("difference", "interval", "p_value")}
            yield {"a": a, "b": b, **result}


def row(runner, task, split, gold, tagged, part="all"):
    """Returns a row without the paper's scores: those of each column on one file."""
    corpus, on_test = task.corpus, split == "test"
    return {
        "corpus": corpus.name,
        "title": corpus.title,
        "order": task.order,
        "split": split,
        "part": part,
        "measure": corpus.metric,
        "scores": {
            column: percent(runner.evaluate(corpus, gold, file), corpus.metric)
            for column, file in tagged.items()
        },
        "comparisons": list(compare(runner, corpus, gold, tagged)) if on_test else [],
    }


def describe(corpus, order, choices, runner):
    """Yields what was chosen for each column."""
    for column, chosen in choices.items():
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
            "at_edge": chosen.at_edge,
            "command": ["dropchain", *runner.command(run.task, run.settings)],
        }


def with_own_splits(runner, task, columns, paper_scores, out):
    """Returns the rows of a corpus with its own splits, and the choices."""
    corpus = task.corpus
    choices = tune(runner, corpus, task.order, columns, corpus.files["test"])
    rows = []
    for split in ("dev", "test"):
        tagged = {column: runner.tag(chosen.run, split) for column, chosen in choices.items()}
        gold = corpus.files[split]
        scores = row(runner, task, split, gold, tagged)
        rows.append({**scores, "paper": paper_scores(split, "all")})
        if corpus.name == "ewt":
            folder = lambda name: os.path.join(out, "corpora", "ewt", split, name)
            golds = split_genres(gold, folder("gold"))
            parts = {column: split_genres(file, folder(column)) for column, file in tagged.items()}
            for genre, file in golds.items():
                by_genre = {column: files[genre] for column, files in parts.items()}
                scores = row(runner, task, split, file, by_genre, genre)
                rows.append({**scores, "paper": paper_scores(split, genre)})
    return rows, list(describe(corpus, task.order, choices, runner))


def in_thirds(runner, task, columns, paper_scores, out):
    """Returns the row of a corpus split into thirds, and the choices.

    Scores are means over the rotations; comparisons are over all sentences.
    """
    corpus, order = task.corpus, task.order
    golds, tagged, chosen = [], {column: [] for column in columns}, []
    scores = {column: [] for column in columns}
    for rotation in thirds(corpus, out):
        choices = tune(runner, rotation, order, columns, rotation.files["unlabeled"])
        chosen += describe(rotation, order, choices, runner)
        golds.append(rotation.files["test"])
        for column in columns:
            tagged[column].append(runner.tag(choices[column].run, "test"))
            result = runner.evaluate(corpus, golds[-1], tagged[column][-1])
            scores[column].append(100 * result[corpus.metric])
    folder = os.path.join(out, "corpora", f"{corpus.name}.thirds", f"order{order}")
    gold = concatenate(golds, os.path.join(folder, "gold.conll"))
    joined = {
        column: concatenate(files, os.path.join(folder, f"{column}.conll"))
        for column, files in tagged.items()
    }
    result = {**row(runner, task, "test", gold, joined), "paper": paper_scores}
    for column, values in scores.items():
        cell = result["scores"][column]
        cell["pooled"], cell["rotations"] = cell["score"], values
        cell["score"] = statistics.mean(values)
        cell["standard_error"] = statistics.stdev(values) / ROTATIONS**0.5
    return [result], chosen


def make(table, runner, corpora, out):
    """Computes a table from the given corpora."""
    rows, chosen = [], []
    for corpus in corpora:
        is_paper_corpus = corpus.name == "conll2003"
        paper_scores = {
            "table2": lambda split, _: (
                paper.TABLE2 if is_paper_corpus and split == "test" else {}
            ),
            "table3": lambda *_: paper.TABLE3 if is_paper_corpus else {},
            "table4": lambda split, _: paper.TABLE4[split] if is_paper_corpus else {},
            "table5": lambda split, genre: paper.TABLE5.get(genre, {}).get(split, {}),
            "table6": lambda split, _: paper.TABLE6[split] if is_paper_corpus else {},
        }[table]
        # The paper's table 3 has order 0 only; the rows of order 1 are ours.
        for order in {"table2": (0,), "table3": (0, 1)}.get(table, (1,)):
            runner.print(f"== {table}: {corpus.title}, order {order}")
            task, columns = Task(corpus, order), COLUMNS[table]
            if table == "table3":
                scores = paper_scores() if order == 0 else {}
                new_rows, choices = in_thirds(runner, task, columns, scores, out)
            else:
                new_rows, choices = with_own_splits(runner, task, columns, paper_scores, out)
            rows += new_rows
            chosen += choices
    return {
        "table": table,
        "program": runner.version,
        "columns": COLUMNS[table],
        "rows": rows,
        "chosen": chosen,
    }
