"""A table as Markdown, the paper's figures beside ours."""
import shlex

import paper

TITLES = {
    "table2": "Table 2: each token on its own (multinomial logistic regression), and transductive learning",
    "table3": "Table 3: semi-supervised learning, a third for training, a third for testing, a third unlabeled",
    "table4": "Table 4: chains, None / L2 / Dropout",
    "table5": "Table 5: parts of speech by genre",
    "table6": "Table 6: precision, recall and F1 by type, of the models of table 4",
}
GENERAL = (
    "Strengths were chosen on development data; of every column only the chosen model has tagged the test data.",
    "Training is the same in all columns: L-BFGS, ended by the development data, which also choose the iteration and, for "
    "spans in a chain, the recall bias.",
    "Where the best iteration of a run with noise was one of its warm-up, before any noise, the run was made again without warm-up.",
    "Stars tell that Dropout or a column with + differs from L2, for the better or the worse, by paired bootstrap over sentences (2000 "
    "draws, two-sided): \\* p < 0.05, \\*\\* p < 0.01, \\*\\*\\* p < 0.001.",
)
NONE = "None is the likelihood without penalty and noise (`--l2 0`): development data alone end its training."
NOTES = {
    "table2": (
        NONE,
        "+Test is dropout whose noise term also learns from the test text, without its labels (`--unlabeled TEST`), in "
        "tuning as well: comparable to other transductive scores only.",
        "The other rows of the paper's table classify documents, which is outside of a sequence tagger.",
        "Scores are F1 of spans; the paper does not say what it measured.",
    ),
    "table3": (
        "All sentences of a corpus are shuffled and cut into thirds A, B, C, and used three times: training on A, test on B, "
        "unlabeled C; then B, C, A; then C, A, B. A fifth of each training third is development data, on which strengths are chosen "
        "anew. Scores are means over the three with their standard error. Every sentence is test data once: "
        "comparisons, stars, and precision and recall, are over all sentences together.",
        "Order 0 is the paper's setting (each token on its own); the paper has no chain here.",
        "Scores are F1 of spans; the paper speaks of accuracies. Its other rows classify documents.",
    ),
    "table4": (NONE, "Names are trained without B and I (`--scheme io`), as in the paper; chunks with the labels they have."),
    "table5": (
        NONE,
        "Accuracy over the 17 universal parts of speech, trained on EWT, which has all five genres. The paper's figures "
        "are for SANCL 2012: text of the same kinds, Penn tags.",
    ),
    "table6": (NONE,),
}


def stars(row, column):
    """Stars of a column's difference to L2."""
    if column == "None":
        return ""
    p = next((c["p_value"] for c in row["comparisons"] if (c["a"], c["b"]) == ("L2", column)), 1)
    return "*" * sum(p < limit for limit in (0.05, 0.01, 0.001))


def starred(row, column, text):
    marks = stars(row, column)
    return f"{text} {marks}".replace("*", "\\*") if marks else text


def cell(row, column):
    if column not in row["scores"]:
        return "–"
    scores = row["scores"][column]
    text = f"{scores['score']:.2f}"
    if "standard_error" in scores:
        text += f" ± {scores['standard_error']:.2f}"
    return starred(row, column, text)


def figure(row, column):
    found = row["paper"].get(column) if isinstance(row["paper"], dict) else None
    return f"{found:.2f}" if found is not None else ""


def place(row):
    """The first cells of a row."""
    title = row["title"] + (f", {row['part']}" if row["part"] != "all" else "")
    return [title, str(row["order"]), row["split"]]


def lines(cells):
    """Lines of a Markdown table."""
    head, *body = cells
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(cells)} |" for cells in body), ""]


def absent(table):
    """The rows of the paper's corpus where it was not given."""
    figures = {
        "table2": {"test": paper.TABLE2},
        "table3": {"test": paper.TABLE3},
        "table4": paper.TABLE4,
        "table6": paper.TABLE6,
    }.get(table, {})
    order = 0 if table in ("table2", "table3") else 1
    common = {"corpus": "conll2003", "title": "CoNLL-2003 (not given)", "part": "all", "order": order}
    return [{**common, "split": split, "scores": {}, "comparisons": [], "paper": f} for split, f in figures.items()]


def summary(result, rows):
    columns = result["columns"]
    cells = [["corpus", "order", "on", *columns, *(f"paper: {column}" for column in columns)]]
    cells += [[*place(row), *(cell(row, c) for c in columns), *(figure(row, c) for c in columns)] for row in rows]
    return lines(cells)


def types(result, row):
    """Precision, recall and F1 of each type; the paper's in the line below."""
    columns, figures = result["columns"], row["paper"] if result["table"] == "table6" else {}
    head = ["type", "", *(f"{column} {what}" for column in columns for what in ("P", "R", "F1"))]
    found = {column: row["scores"].get(column, {}).get("types", {}) for column in columns}
    names = sorted({name for by_type in (*found.values(), figures) for name in by_type} - {"all"}) + ["all"]
    cells = [head]
    for name in names:
        ours = []
        for column in columns:
            values = [f"{value:.2f}" for value in found[column].get(name, [])] or ["–"] * 3
            if name == "all":
                values[-1] = starred(row, column, values[-1])
            ours += values
        cells.append([name, "ours", *ours])
        if name in figures:
            theirs = [f"{value:.2f}" for column in columns for value in figures[name][column]]
            cells.append(["", "paper", *theirs])
    title, order, split = place(row)
    return [f"### {title}, order {order}, {split}", "", *lines(cells)]


def differences(rows):
    cells = [["corpus", "order", "on", "difference", "points", "95 % interval", "p"]]
    for row in rows:
        for c in row["comparisons"]:
            low, high = (f"{100 * end:+.2f}" for end in c["interval"])
            change = f"{100 * c['difference']:+.2f}"
            p = f"{c['p_value']:.3f}" if c["p_value"] >= 0.001 else "< 0.001"
            cells.append([*place(row), f"{c['b']} − {c['a']}", change, f"{low} … {high}", p])
    return lines(cells)


def settings(result):
    cells = [["corpus", "order", "column", "settings", "dev", "iteration", "recall bias", "settings tried"]]
    for c in result["chosen"]:
        options = " ".join(f"--{option} {value:g}" for option, value in c["settings"].items())
        edge = f" (last of its range: {', '.join(c['at_edge'])})" if c["at_edge"] else ""
        title = c["corpus"] + (f", {c['part'].rpartition('.')[2]}" if ".third" in c["part"] else "")
        dev, iteration, bias, tried = f"{c['dev']:.2f}", str(c["iteration"]), f"{c['recall_bias']:g}", str(c["tried"])
        cells.append([title, str(c["order"]), c["column"], f"`{options}`{edge}", dev, iteration, bias, tried])
    return lines(cells)


def markdown(result, command):
    table, rows = result["table"], list(result["rows"])
    if not any(row["corpus"] == "conll2003" for row in rows):
        rows += absent(table)
    text = [f"# {TITLES[table]}", "", f"Wang et al. (2013). Made with {result['program']}: `{shlex.join(command)}`", ""]
    if table != "table6":
        text += summary(result, rows)
    text += [f"- {note}" for note in GENERAL + NOTES[table]] + [""]
    if table in ("table2", "table3", "table6"):
        text += ["## By type", ""]
        for row in rows:
            if table == "table6" or (row["scores"] and row["split"] == "test"):
                text += types(result, row)
    text += ["## Differences", "", *differences(result["rows"])]
    text += ["## What was chosen", "", *settings(result)]
    return "\n".join(text)
