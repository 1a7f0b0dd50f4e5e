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
    "Training is the same in all columns: L-BFGS with early stopping on the development data, "
    "which also choose the iteration and, for spans in a chain, the recall bias.",
    "Where the best iteration of a run with noise fell within its warm-up, before any noise, the "
    "run was repeated without warm-up.",
    "Stars mark where Dropout or a column with + differs from L2, in either direction, by paired "
    "bootstrap over sentences (2000 samples, two-sided): \\* p < 0.05, \\*\\* p < 0.01, "
    "\\*\\*\\* p < 0.001.",
)
NONE = (
    "None is the likelihood without penalty or noise (`--l2 0`); early stopping on the development "
    "data is its only regularization."
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
        "over the three rotations with their standard error. Every sentence is test data once: "
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
    if "standard_error" in scores:
        text += f" ± {scores['standard_error']:.2f}"
    return with_stars(row, column, text)


def paper_cell(row, column):
    score = row["paper"].get(column) if isinstance(row["paper"], dict) else None
    return f"{score:.2f}" if score is not None else ""


def row_header(row):
    """Returns the first cells of a row: corpus, order, split."""
    title = row["title"] + (f", {row['part']}" if row["part"] != "all" else "")
    return [title, str(row["order"]), row["split"]]


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
        "scores": {},
        "comparisons": [],
    }
    return [{**common, "split": split, "paper": figures} for split, figures in scores.items()]


def summary(result, rows):
    columns = result["columns"]
    table = [["corpus", "order", "split", *columns, *(f"paper: {c}" for c in columns)]]
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
    title, order, split = row_header(row)
    return [f"### {title}, order {order}, {split}", "", *markdown_table(table)]


def differences(rows):
    table = [["corpus", "order", "split", "difference", "points", "95 % interval", "p"]]
    for row in rows:
        for c in row["comparisons"]:
            low, high = (f"{100 * end:+.2f}" for end in c["interval"])
            difference = f"{100 * c['difference']:+.2f}"
            p = f"{c['p_value']:.3f}" if c["p_value"] >= 0.001 else "< 0.001"
            pair = f"{c['b']} − {c['a']}"
            table.append([*row_header(row), pair, difference, f"{low} … {high}", p])
    return markdown_table(table)


def chosen_settings(result):
    header = ["corpus", "order", "column", "settings", "dev", "iteration", "recall bias"]
    table = [[*header, "settings tried"]]
    for c in result["chosen"]:
        options = " ".join(f"--{option} {value:g}" for option, value in c["settings"].items())
        edge = f" (at the edge of its range: {', '.join(c['at_edge'])})" if c["at_edge"] else ""
        third = f", {c['part'].rpartition('.')[2]}" if ".third" in c["part"] else ""
        table.append(
            [
                c["corpus"] + third,
                str(c["order"]),
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
    text += ["## Chosen settings", "", *chosen_settings(result)]
    return "\n".join(text)
