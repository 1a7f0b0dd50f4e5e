"""Computes each table: tunes the models, tags the test files once, and computes scores."""

import itertools, os, statistics
from dataclasses import replace

import paper, tuning
from corpora import ROTATIONS, concatenate, folds, split_genres, thirds
from runs import CONVERGENCE, DEV, Task
from significance import paired_t

NAMES = ("conll2002-esp", "conll2002-ned", "wnut17")
STOPS = (DEV, CONVERGENCE)
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


def tune(runner, task, columns, text=""):
    """Returns the choice for each column; `text` is the unlabeled text of columns with a +."""
    searches = {"None": tuning.none, "L2": tuning.l2, "Dropout": tuning.dropout}
    choices = {}
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
        "stop": task.stop,
        "split": split,
        "part": part,
        "measure": corpus.metric,
        "scores": {
            column: percent(runner.evaluate(corpus, gold, file), corpus.metric)
            for column, file in tagged.items()
        },
        "comparisons": list(compare(runner, corpus, gold, tagged)) if on_test else [],
    }


def describe(task, choices, runner):
    """Yields what was chosen for each column."""
    for column, chosen in choices.items():
        run = chosen.run
        yield {
            "corpus": task.corpus.title,
            "part": task.corpus.name,
            "order": task.order,
            "stop": task.stop,
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
    choices = tune(runner, task, columns, corpus.files["test"])
    rows = []
    for split in ("dev", "test"):
        tagged = {column: runner.tag(chosen.run, split) for column, chosen in choices.items()}
        gold = corpus.files[split]
        scores = row(runner, task, split, gold, tagged)
        rows.append({**scores, "paper": paper_scores(split, "all")})
        if corpus.name == "ewt":
            folder = lambda name: os.path.join(out, "corpora", "ewt", split, task.stop, name)
            golds = split_genres(gold, folder("gold"))
            parts = {column: split_genres(file, folder(column)) for column, file in tagged.items()}
            for genre, file in golds.items():
                by_genre = {column: files[genre] for column, files in parts.items()}
                scores = row(runner, task, split, file, by_genre, genre)
                rows.append({**scores, "paper": paper_scores(split, genre)})
    return rows, choices


def over_parts(runner, task, golds, tagged, out):
    """Returns a row over parts of a corpus, each of which is test data once.

    `golds` and `tagged` (by column) are files, one for each part. Scores are means over the parts;
    comparisons are over all sentences and, paired, over the parts.
    """
    corpus = task.corpus
    form = "conllu" if corpus.format == "conllu" else "conll"
    gold = concatenate(golds, os.path.join(out, f"gold.{form}"))
    joined = {
        column: concatenate(files, os.path.join(out, f"{column}.{form}"))
        for column, files in tagged.items()
    }
    result = row(runner, task, "test", gold, joined)
    for column, files in tagged.items():
        evaluate = lambda pair: 100 * runner.evaluate(corpus, *pair)[corpus.metric]
        values = list(map(evaluate, zip(golds, files)))
        cell = result["scores"][column]
        cell["pooled"], cell["parts"] = cell["score"], values
        cell["score"], cell["deviation"] = statistics.mean(values), statistics.stdev(values)
    for comparison in result["comparisons"]:
        a, b = (result["scores"][comparison[side]]["parts"] for side in "ab")
        comparison["over_parts"] = paired_t([y - x for x, y in zip(a, b)])
    return result


def in_thirds(runner, task, columns, paper_scores, out):
    """Returns the row of a corpus split into thirds, and descriptions of the choices."""
    golds, tagged, chosen = [], {column: [] for column in columns}, []
    for rotation in thirds(task.corpus, out):
        part = replace(task, corpus=rotation)
        choices = tune(runner, part, columns, rotation.files["unlabeled"])
        chosen += describe(part, choices, runner)
        golds.append(rotation.files["test"])
        for column in columns:
            tagged[column].append(runner.tag(choices[column].run, "test"))
    name = f"{task.corpus.name}.thirds"
    folder = os.path.join(out, "corpora", name, f"order{task.order}.{task.stop}")
    result = over_parts(runner, task, golds, tagged, folder)
    return [{**result, "paper": paper_scores}], chosen


def in_folds(runner, task, choices, count, out):
    """Returns the row of a corpus over folds of its training data.

    The settings are those chosen on development data, which also stop training in each fold; a fold
    is scored once.
    """
    parts = list(folds(task.corpus, count, out))
    golds, tagged = [part.files["test"] for part in parts], {}
    for column, chosen in choices.items():
        text = lambda part: part.files["test"] if column.startswith("+") else ""
        tasks = [replace(task, corpus=part, unlabeled=text(part)) for part in parts]
        runs = runner.train_all([(fold, chosen.run.settings) for fold in tasks])
        tagged[column] = [runner.tag(run, "test") for run in runs]
        runner.delete_models(runs, None)
    name = f"{task.corpus.name}.folds{count}"
    folder = os.path.join(out, "corpora", name, f"order{task.order}.{task.stop}")
    return over_parts(runner, task, golds, tagged, folder)


def scores_of_the_paper(table, corpus):
    """Returns a function from split and part of a corpus to the paper's scores."""
    is_paper_corpus = corpus.name == "conll2003"
    return {
        "table2": lambda split, _: paper.TABLE2 if is_paper_corpus and split == "test" else {},
        "table3": lambda *_: paper.TABLE3 if is_paper_corpus else {},
        "table4": lambda split, _: paper.TABLE4[split] if is_paper_corpus else {},
        "table5": lambda split, genre: paper.TABLE5.get(genre, {}).get(split, {}),
        "table6": lambda split, _: paper.TABLE6[split] if is_paper_corpus else {},
    }[table]


def make(table, runner, corpora, out, stops=STOPS, fold_count=0):
    """Computes a table from the given corpora; `fold_count` 0 is without folds."""
    rows, chosen, by_fold = [], [], []
    columns = COLUMNS[table]
    # The paper's table 3 has order 0 only; the rows of order 1 are ours.
    orders = {"table2": (0,), "table3": (0, 1)}.get(table, (1,))
    for corpus, order, stop in itertools.product(corpora, orders, stops):
        runner.print(f"== {table}: {corpus.title}, order {order}, until {stop}")
        task, paper_scores = Task(corpus, order, stop=stop), scores_of_the_paper(table, corpus)
        if table == "table3":
            scores = paper_scores() if order == 0 else {}
            new_rows, descriptions = in_thirds(runner, task, columns, scores, out)
            by_fold += new_rows
        else:
            new_rows, choices = with_own_splits(runner, task, columns, paper_scores, out)
            descriptions = describe(task, choices, runner)
            if fold_count:
                by_fold.append(in_folds(runner, task, choices, fold_count, out))
        rows += new_rows
        chosen += descriptions
    return {
        "table": table,
        "program": runner.version,
        "columns": columns,
        "rows": rows,
        "folds": by_fold,
        "chosen": chosen,
    }
