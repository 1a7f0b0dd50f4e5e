"""Formats a table as Markdown, with the paper's scores next to ours."""

import shlex

import paper

TITLES = {
    "table2": "Table 2: independent tokens (multinomial logistic regression) and transduction",
    "table3": "Table 3: semi-supervised learning, thirds for training, testing and unlabeled text",
    "table4": "Table 4: chains, None / L2 / Dropout",
    "table5": "Table 5: parts of speech by genre",
    "table6": "Table 6: precision, recall and F1 by type, of the models of table 4",
}
GENERAL = (
    "Strengths were chosen on development data; in each column only the chosen model tagged the "
    "test data.",
    "Training is the same in all columns. Until dev: L-BFGS stops early on the development data, "
    "which also choose the iteration and, for spans in a chain, the recall bias. Until "
    "convergence: it ends when the objective is flat (at most 500 iterations), without reading "
    "them.",
    "Dropout is searched with a warm-up of 20 iterations without noise and with none. A run whose "
    "best iteration fell within its warm-up is a model without noise and is not chosen.",
    "Stars mark where Dropout or a column with + differs from L2, in either direction, by paired "
    "bootstrap over sentences (2000 samples, two-sided): \\* p < 0.05, \\*\\* p < 0.01, "
    "\\*\\*\\* p < 0.001.",
)
NONE = (
    "None is the likelihood without penalty or noise (`--l2 0`); early stopping on the development "
    "data, or the end after 500 iterations, is its only regularization."
)
NOTES = {
    "table2": (
        NONE,
        "+Test is dropout whose noise term also covers the test text, without its labels "
        "(`--unlabeled TEST`), in tuning as well: comparable with other transductive scores only.",
        "The other rows of the paper's table are document classification, which is out of "
        "scope for a sequence tagger.",
        "Scores are span F1; the paper does not name its metric.",
    ),
    "table3": (
        "All sentences of a corpus are shuffled and split into thirds A, B, C, which rotate: "
        "training on A, test on B, unlabeled C; then B, C, A; then C, A, B. A fifth of each "
        "training third is development data, on which strengths are chosen again. Scores are means "
        "over the three rotations ± their standard deviation. Every sentence is test data once: "
        "comparisons, stars, precision and recall are over all sentences.",
        "Order 0 is the paper's setting (independent tokens); the paper has no chain here.",
        "Scores are span F1; the paper speaks of accuracies. Its other rows are document "
        "classification.",
    ),
    "table4": (
        NONE,
        "Names are trained with IO labels (`--scheme io`), as in the paper; chunks with the labels "
        "of the corpus.",
    ),
    "table5": (
        NONE,
        "Accuracy over the 17 universal parts of speech, trained on EWT, which has all five "
        "genres. The paper's scores are for SANCL 2012: text of the same genres, Penn tags.",
    ),
    "table6": (NONE,),
}


def stars(row, column):
    """Returns the significance stars of a column against L2."""
    if column == "None":
        return ""
    comparisons = row["comparisons"]
    p = next((c["p_value"] for c in comparisons if (c["a"], c["b"]) == ("L2", column)), 1)
    return "*" * sum(p < level for level in (0.05, 0.01, 0.001))


def with_stars(row, column, text):
    marks = stars(row, column)
    return f"{text} {marks}".replace("*", "\\*") if marks else text


def score_cell(row, column):
    if column not in row["scores"]:
        return "–"
    scores = row["scores"][column]
    text = f"{scores['score']:.2f}"
    if "deviation" in scores:
        text += f" ± {scores['deviation']:.2f}"
    return with_stars(row, column, text)


def paper_cell(row, column):
    score = row["paper"].get(column) if isinstance(row["paper"], dict) else None
    return f"{score:.2f}" if score is not None else ""


def row_header(row):
    """Returns the first cells of a row: corpus, order, end of training, split."""
    title = row["title"] + (f", {row['part']}" if row["part"] != "all" else "")
    return [title, str(row["order"]), row["stop"], row["split"]]


def markdown_table(rows):
    """Returns the lines of a Markdown table whose first row is its header."""
    format_row = lambda row: f"| {' | '.join(row)} |"
    header, *body = rows
    return [format_row(header), "|" + "---|" * len(header), *map(format_row, body), ""]


def rows_not_run(table):
    """Returns rows with only the paper's scores, for its own corpus if it was not given."""
    scores = {
        "table2": {"test": paper.TABLE2},
        "table3": {"test": paper.TABLE3},
        "table4": paper.TABLE4,
        "table6": paper.TABLE6,
    }.get(table, {})
    common = {
        "corpus": "conll2003",
        "title": "CoNLL-2003 (not given)",
        "part": "all",
        "order": 0 if table in ("table2", "table3") else 1,
        "stop": "convergence",
        "scores": {},
        "comparisons": [],
    }
    return [{**common, "split": split, "paper": figures} for split, figures in scores.items()]


def summary(result, rows):
    columns = result["columns"]
    table = [["corpus", "order", "until", "split", *columns, *(f"paper: {c}" for c in columns)]]
    for row in rows:
        ours = (score_cell(row, column) for column in columns)
        theirs = (paper_cell(row, column) for column in columns)
        table.append([*row_header(row), *ours, *theirs])
    return markdown_table(table)


def by_type(result, row):
    """Returns a table of precision, recall and F1 by type, the paper's below ours."""
    columns = result["columns"]
    paper_scores = row["paper"] if result["table"] == "table6" else {}
    scores = {column: row["scores"].get(column, {}).get("types", {}) for column in columns}
    types = {name for group in (*scores.values(), paper_scores) for name in group} - {"all"}
    table = [["type", "", *(f"{column} {name}" for column in columns for name in ("P", "R", "F1"))]]
    for name in [*sorted(types), "all"]:
        ours = []
        for column in columns:
            values = [f"{value:.2f}" for value in scores[column].get(name, [])] or ["–"] * 3
            if name == "all":
                values[-1] = with_stars(row, column, values[-1])
            ours += values
        table.append([name, "ours", *ours])
        if name in paper_scores:
            theirs = [f"{value:.2f}" for c in columns for value in paper_scores[name][c]]
            table.append(["", "paper", *theirs])
    title, order, stop, split = row_header(row)
    heading = f"### {title}, order {order}, until {stop}, {split}"
    return [heading, "", *markdown_table(table)]


def p_value(p):
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def differences(rows):
    table = [["corpus", "order", "until", "split", "difference", "points", "95 % interval", "p"]]
    for row in rows:
        for c in row["comparisons"]:
            low, high = (f"{100 * end:+.2f}" for end in c["interval"])
            difference = f"{100 * c['difference']:+.2f}"
            pair = f"{c['b']} − {c['a']}"
            cells = [pair, difference, f"{low} … {high}", p_value(c["p_value"])]
            table.append([*row_header(row), *cells])
    return markdown_table(table)


def over_parts(result):
    """Returns the section on folds of the training data, or thirds of the corpus."""
    rows, columns = result["folds"], result["columns"]
    if not rows:
        return []
    scores = [["corpus", "order", "until", "folds", *columns]]
    pairs = [["corpus", "order", "until", "difference", "points", "ahead in", "p", "p, folds"]]
    for row in rows:
        header = row_header(row)[:-1]
        count = len(row["scores"][columns[0]]["parts"])
        scores.append([*header, str(count), *(score_cell(row, column) for column in columns)])
        for c in row["comparisons"]:
            paired = c["over_parts"]
            points = f"{paired['mean']:+.2f} ± {paired['deviation']:.2f}"
            ahead = f"{paired['ahead']} of {count}"
            ends = [p_value(c["p_value"]), p_value(paired["p_value"])]
            pairs.append([*header, f"{c['b']} − {c['a']}", points, ahead, *ends])
    if result["table"] == "table3":
        title, source = "Over thirds", "The rotations are the folds."
    else:
        title, source = "Over folds", (
            "The chosen settings, trained on all but one fold of the training data and scored once "
            "on that fold; the development data stop them as before. Documents, or blocks of "
            "adjacent sentences, stay in one fold."
        )
    method = (
        "Scores and differences: mean ± standard deviation, differences paired by fold. p: paired "
        "bootstrap over the held-out sentences of all folds, as the stars. p, folds: t-test over "
        "the folds, corrected for training data that overlap (Nadeau and Bengio 2003)."
    )
    return [
        f"## {title}",
        "",
        *markdown_table(scores),
        *markdown_table(pairs),
        f"- {source}",
        f"- {method}",
        "",
    ]


def chosen_settings(result):
    header = ["corpus", "order", "until", "column", "settings", "dev", "iteration", "recall bias"]
    table = [[*header, "settings tried"]]
    for c in result["chosen"]:
        options = " ".join(f"--{option} {value:g}" for option, value in c["settings"].items())
        edge = f" (at the edge of its range: {', '.join(c['at_edge'])})" if c["at_edge"] else ""
        third = f", {c['part'].rpartition('.')[2]}" if ".third" in c["part"] else ""
        table.append(
            [
                c["corpus"] + third,
                str(c["order"]),
                c["stop"],
                c["column"],
                f"`{options}`{edge}",
                f"{c['dev']:.2f}",
                str(c["iteration"]),
                f"{c['recall_bias']:g}",
                str(c["tried"]),
            ]
        )
    return markdown_table(table)


def markdown(result, command):
    table, rows = result["table"], list(result["rows"])
    if not any(row["corpus"] == "conll2003" for row in rows):
        rows += rows_not_run(table)
    source = f"Wang et al. (2013). Made with {result['program']}: `{shlex.join(command)}`"
    text = [f"# {TITLES[table]}", "", source, ""]
    if table != "table6":
        text += summary(result, rows)
    text += [f"- {note}" for note in GENERAL + NOTES[table]] + [""]
    if table in ("table2", "table3", "table6"):
        text += ["## By type", ""]
        for row in rows:
            if table == "table6" or (row["scores"] and row["split"] == "test"):
                text += by_type(result, row)
    text += ["## Differences", "", *differences(result["rows"])]
    text += over_parts(result)
    text += ["## Chosen settings", "", *chosen_settings(result)]
    return "\n".join(text)
