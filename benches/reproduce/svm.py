#!/usr/bin/env python3
"""Chen, Zhu, Chen and Zhang, "Dropout training for SVMs with data augmentation", section 6.

    python3 benches/reproduce/svm.py corruption CORPORA OUT   figure 1: sampled copies
    python3 benches/reproduce/svm.py rates CORPORA OUT        figures 2 and 3, table III
    python3 benches/reproduce/svm.py deletion CORPORA OUT     figure 6: nightmare at test time
    python3 benches/reproduce/svm.py time CORPORA OUT         figure 10

Figures 4, 5 and 9 and table IV, regressions and hidden units, were measured with an earlier
program.

The corpora are rts and rt-2k (rt-polarity and movie-reviews in CORPORA), and digits of
scikit-learn. `--corpus NAME TRAIN [TEST]` adds one: a folder per class, lines with a class, a tab
and a text, or SVMlight's format (.svm, .svmlight, .libsvm). Without TEST, each of `--folds` folds
is test data once.

Strengths, and rates where one is chosen, are those that are best on a tenth of the training
documents (`--inner N`: on N tenths); of all of them, the test documents score only the chosen
models. Writes OUT/svm-FIGURE.md, .json and .svg, and OUT/svm-FIGURE.runs, by which the same command
resumes.
"""

import argparse
import json
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import labeled
from cached import Program
from significance import paired_t, sign_test

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from figure import draw  # noqa: E402

RATES = ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
SOFTMAX = "MCF-Logistic*"
METHODS = {
    "Dropout-SVM": ["--loss", "hinge"],
    "Dropout-LR": ["--loss", "logistic"],
    "MCF-Quadratic": ["--loss", "squared"],
    SOFTMAX: ["--masks", "inputs"],
}
STRENGTHS = {
    "corruption": ("0.03", "0.1", "0.3", "1", "3"),
    "rates": ("0.1", "0.3", "1", "3"),
    "deletion": ("0.01", "0.1", "1", "10"),
    "time": ("1",),
}
# Of corpora that train fast.
MORE_STRENGTHS = {("rates", "digits"): ("0.003", "0.01", "0.03", "0.1", "0.3", "1", "3")}
CORPORA = {
    "corruption": ("rts",),
    "rates": ("rts", "rt-2k", "digits"),
    "deletion": ("digits",),
    "time": ("rts",),
}
# Errors on CIFAR-10 in percent without noise and with the rates 0.2 and 0.3.
TABLE3 = {
    "Dropout-SVM": (32.2, 29.1, 29.3),
    "Dropout-LR": (31.2, 29.1, 29.0),
    SOFTMAX: (32.5, 29.6, 29.4),
    "MCF-Quadratic": (32.6, 32.2, 32.1),
}
PAPER_RATES = ("0", "0.2", "0.3")
NOTE = ("\\* The counterpart of MCF-Logistic: the penalty of second order of the logistic loss, "
        "with one mask for all classes (`--masks inputs`).\n")


def main():
    arguments = parse()
    figure = {"corruption": corruption, "rates": rates, "deletion": deletion,
              "time": times}[arguments.figure]
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / f"svm-{arguments.figure}"
    program = Program(arguments.program, stem.with_suffix(".runs"))
    measure = "seconds of training" if arguments.figure == "time" else "error in percent"
    results, text, panels = {}, [f"# Chen et al., {arguments.figure}\n"], []
    given = arguments.strengths
    for corpus in chosen_corpora(arguments):
        more = MORE_STRENGTHS.get((arguments.figure, corpus.name))
        arguments.strengths = given or more or STRENGTHS[arguments.figure]
        found = figure(program, corpus, arguments)
        results[corpus.name] = found["results"]
        text += [f"## {corpus.name}\n", heading(corpus, arguments), *found["text"]]
        panels += [(f"{corpus.name}{title}", lines) for title, lines in found["panels"]]
        # After each corpus, so that an interruption leaves what is complete.
        stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        stem.with_suffix(".md").write_text("\n".join([*text, paper(arguments.figure)]))
        draw(stem.with_suffix(".svg"), panels, {"label": found["x"]}, {"label": measure})
    print(stem.with_suffix(".md").read_text(), end="")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figure", choices=STRENGTHS)
    labeled.add_arguments(parser)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--inner", type=int, default=1,
                        help="tenths of the training documents that choose strengths")
    parser.add_argument("--rates", type=values, help="rates of dropout, such as 0,0.2,0.3")
    parser.add_argument("--strengths", type=values, help="L2 strengths, such as 0.1,1,10")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--train-size", type=int, default=2000, metavar="N",
                        help="corruption: training documents, as in the paper")
    parser.add_argument("--copies", type=int, default=256, metavar="M",
                        help="corruption: at most this number of copies")
    parser.add_argument("--search", type=int, default=16, metavar="M",
                        help="corruption: choose strength and rate for at most M copies; those of "
                             "the last are used for more")
    parser.add_argument("--words", action="store_true",
                        help="features of texts are words between blanks, without pairs of them")
    parser.add_argument("--rounds", type=int, default=3, help="time: the least of N rounds")
    arguments = parser.parse_args()
    labeled.check_arguments(parser, arguments)
    if arguments.folds < 2 or not 1 <= arguments.inner <= labeled.TENTHS:
        parser.error("expected --folds of at least 2, and --inner from 1 to 10")
    sampled = ("0.1", "0.3", "0.5", "0.7", "0.9")
    default = sampled if arguments.figure in ("corruption", "deletion") else RATES
    arguments.rates = arguments.rates or default
    return arguments


def values(text):
    return tuple(text.split(","))


def chosen_corpora(arguments):
    """Yields corpora: those of the figure and the user's, or those named."""
    public = {
        "rts": lambda: labeled.read_snippets(arguments.corpora),
        "rt-2k": lambda: labeled.read_reviews(arguments.corpora),
        "digits": labeled.digits,
    }
    own = {corpus[0]: lambda corpus=corpus: labeled.read(*corpus) for corpus in arguments.corpus}
    names = arguments.only or [*CORPORA[arguments.figure], *own]
    unknown = [name for name in names if name not in public | own]
    if unknown:
        sys.exit(f"--only {unknown[0]}: expected one of {', '.join(public | own)}")
    for name in names:
        corpus = (public | own)[name]()
        yield labeled.with_features(corpus, pairs=False) if arguments.words else corpus


class Division:
    """Files of a division: to train, to test, and to choose strengths with."""

    def __init__(self, program, train, test, suffix, inner):
        self.train_lines, self.test_lines = train, test
        self.train = program.store(train, suffix)
        self.test = program.store(test, suffix)
        pairs = labeled.hold_out(train, inner)
        self.inner = [tuple(program.store(lines, suffix) for lines in pair) for pair in pairs]


def divisions(program, corpus, arguments):
    parts = labeled.divide(corpus, arguments.folds)
    return [Division(program, train, test, corpus.suffix, arguments.inner)
            for train, test in parts]


def run_all(arguments, cells, work, title):
    """Does the work of cells at the same time, and returns the results by cell."""
    done, results = 0, {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for cell, result in zip(cells, pool.map(lambda cell: work(*cell), cells)):
            done += 1
            results[cell] = result
            name = " ".join(map(str, cell))
            print(f"{title} {done}/{len(cells)} {name}: {brief(result)}", file=sys.stderr,
                  flush=True)
    return results


def brief(result):
    score = result.get("error")
    return result.get("options", "") if score is None else f"{result['options']} {score:.4g}"


def chosen_score(program, division, candidates):
    """The test score of the options that are best on held-out training documents."""
    def mean(options):
        return statistics.mean(program.score(train, options, test)["error"]
                               for train, test in division.inner)

    scores = [(mean(options), options) for options in candidates]
    held_out, options = min(scores, key=lambda item: item[0])
    return program.score(division.train, options, division.test) | {"held_out": held_out}


def rates(program, corpus, arguments):
    """Figures 2 and 3: errors by rate and method."""
    parts = divisions(program, corpus, arguments)
    methods = dict(METHODS)
    if corpus.classes > 2:
        methods[SOFTMAX] = [*methods[SOFTMAX], "--multiclass", "one-vs-rest"]

    def work(method, rate, part):
        candidates = [[*methods[method], "--dropout", rate, "--l2", l2]
                      for l2 in arguments.strengths]
        return chosen_score(program, parts[part], candidates)

    cells = [(method, rate, part) for part in range(len(parts)) for rate in arguments.rates
             for method in methods]
    results = run_all(arguments, cells, work, corpus.name)
    return by_rate(results, list(methods), arguments, len(parts))


def by_rate(results, methods, arguments, parts):
    """Tables and panels of scores by method, rate and part."""
    rates, strengths = arguments.rates, arguments.strengths
    scores = {(method, rate): [results[method, rate, part] for part in range(parts)]
              for method in methods for rate in rates}
    tables = [score_table("rate", rates, methods, scores), NOTE,
              gain_table(scores, methods, rates, parts), edges(results.values(), strengths)]
    lines = [(method, [(float(rate), mean(scores[method, rate])) for rate in rates])
             for method in methods]
    plain = {method: {rate: without_documents(scores[method, rate]) for rate in rates}
             for method in methods}
    return {"results": plain, "text": [table for table in tables if table],
            "panels": [("", lines)], "x": "dropout rate"}


def edges(results, strengths):
    """How many chosen strengths are at an end of the grid, so that others may be better."""
    chosen = [result["options"].split("--l2 ")[1].split()[0] for result in results]
    count = sum(l2 in (strengths[0], strengths[-1]) for l2 in chosen)
    return f"{count} of {len(chosen)} chosen strengths are at an end of the grid.\n"


def without_documents(found):
    return [{key: value for key, value in result.items() if key not in ("run", "right")}
            for result in found]


def mean(found):
    return statistics.mean(result["error"] for result in found)


def cell(found):
    """The mean over divisions and its deviation."""
    text = f"{mean(found):.2f}"
    if len(found) > 1:
        text += f" ± {statistics.stdev(result['error'] for result in found):.2f}"
    return text


def score_table(name, rows, columns, scores):
    lines = ["Errors in percent, mean ± deviation over the divisions:\n",
             f"| {name} | {' | '.join(columns)} |", "|---:" * (len(columns) + 1) + "|"]
    for row in rows:
        cells = (cell(scores[column, row]) for column in columns)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def gain_table(scores, methods, rates, parts):
    """Each method at the rate chosen on training documents, against no noise and the first."""
    lines = ["With the rate that is best on held-out training documents of each division:\n",
             "| method | rates | no noise | chosen rate | difference | p | "
             f"to {methods[0]} | p |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    chosen, first = {}, methods[0]
    for method in methods:
        picks = [min(rates, key=lambda rate: scores[method, rate][part]["held_out"])
                 for part in range(parts)]
        chosen[method] = [scores[method, rate][part] for part, rate in enumerate(picks)]
        cells = [method, ", ".join(picks)]
        if rates[0] == "0":
            plain = scores[method, "0"]
            cells += [cell(plain), cell(chosen[method])]
            cells += difference(chosen[method], plain)
        else:
            cells += ["", cell(chosen[method]), "", ""]
        cells += difference(chosen[method], chosen[first]) if method != first else ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def difference(ours, others):
    """The mean difference and its p-value: of a paired t-test over divisions, or of one division of
    the sign test over documents."""
    differences = [a["error"] - b["error"] for a, b in zip(ours, others)]
    text = f"{statistics.mean(differences):+.2f}"
    if len(differences) > 1:
        return [text, f"{paired_t(differences)['p_value']:.3f}"]
    if "right" not in ours[0]:
        return [text, ""]
    pairs = list(zip(ours[0]["right"], others[0]["right"]))
    return [text, f"{sign_test(pairs.count(('1', '0')), pairs.count(('0', '1'))):.3f}"]


def corruption(program, corpus, arguments):
    """Figure 1: errors of a support vector machine on copies with sampled noise."""
    corpus = labeled.with_features(corpus)
    counts = [2**k for k in range(arguments.copies.bit_length()) if 2**k <= arguments.copies]
    parts = []
    for train, test in labeled.divide_small(corpus, arguments.train_size, arguments.folds):
        parts.append(Division(program, train, test, ".svm", 1))

    def work(part):
        return corrupted_scores(program, parts[part], part, counts, arguments, corpus.name)

    cells = [(part,) for part in range(len(parts))]
    found = run_all(arguments, cells, work, corpus.name)
    rows = [*map(str, counts), "∞"]
    scores = {("SVM", row): [found[part,][row] for part in range(len(parts))]
              for row in [*rows, "none"]}
    lines = ["Errors in percent of a support vector machine, mean ± deviation over the divisions; "
             f"{len(parts[0].train_lines)} training documents, "
             f"{len(parts[0].test_lines)} test documents:\n",
             "| copies | error | ∞ − copies | p | strengths and rates |",
             "|---:|---:|---:|---:|---|"]
    for row in ["none", *rows]:
        results = scores["SVM", row]
        options = "; ".join(result["chosen"] for result in results)
        cells = [row, cell(results)]
        cells += difference(scores["SVM", "∞"], results) if row != "∞" else ["", ""]
        lines.append(f"| {' | '.join(cells)} | {options} |")
    lines.append(f"\n*None*: no noise. *∞*: `--dropout`. Strength and rate are chosen for each "
                 f"number of copies up to {min(arguments.search, counts[-1])}; those of that number"
                 " are used for more. A strength is that for the mean over copies.\n")
    curve = [(k, mean(scores["SVM", row])) for k, row in enumerate(map(str, counts))]
    flat = mean(scores["SVM", "∞"])
    panel = ("", [("copies", curve), ("all (Dropout-SVM)", [(0, flat), (len(counts) - 1, flat)])])
    plain = {row: without_documents(scores["SVM", row]) for row in ["none", *rows]}
    return {"results": plain, "text": ["\n".join(lines)], "panels": [panel],
            "x": "log2 of the number of copies"}


def corrupted_scores(program, division, seed, counts, arguments, name):
    """The chosen scores of a division by the number of copies."""
    hinge, found = ["--loss", "hinge"], {}
    for row, rates in (("none", ("0",)), ("∞", arguments.rates)):
        candidates = [[*hinge, "--dropout", rate, "--l2", l2]
                      for rate in rates for l2 in arguments.strengths]
        found[row] = chosen_score(program, division, candidates)
        found[row]["chosen"] = settings(candidates, found[row]["options"])
    rest = labeled.hold_out(division.train_lines, 1)[0][0]
    for count in counts:
        if count <= arguments.search:
            scores = []
            for rate in arguments.rates:
                copies = program.store(copied(rest, rate, count, seed), ".svm")
                for l2 in arguments.strengths:
                    options = copy_options(l2, count)
                    result = program.score(copies, options, division.inner[0][1])
                    scores.append((result["error"], rate, l2))
                copies.path.unlink()
            # The first of the best, as elsewhere.
            held_out, rate, l2 = min(scores, key=lambda item: item[0])
        copies = program.store(copied(division.train_lines, rate, count, seed), ".svm")
        score = program.score(copies, copy_options(l2, count), division.test)
        copies.path.unlink()
        found[str(count)] = score | {"held_out": held_out, "chosen": f"{l2}, {rate}"}
        print(f"{name} {seed} {count} copies: {score['error']:.2f}", file=sys.stderr, flush=True)
    return found | {"options": ""}


def copied(lines, rate, count, seed):
    return labeled.corrupted(lines, float(rate), count, seed)


def copy_options(l2, count):
    """The strength for a sum over copies that stands for their mean."""
    return ["--loss", "hinge", "--dropout", "0", "--l2", f"{float(l2) * count:g}"]


def settings(candidates, options):
    """Strength and rate of joined options."""
    found = next(c for c in candidates if " ".join(c) == options)
    return f"{found[found.index('--l2') + 1]}, {found[found.index('--dropout') + 1]}"


def deletion_methods(arguments, classes):
    """Candidates of the methods of figure 6."""
    rest = ["--multiclass", "one-vs-rest"] if classes > 2 else []
    bases = {
        "SVM": (METHODS["Dropout-SVM"], ("0",)),
        "Dropout-SVM": (METHODS["Dropout-SVM"], arguments.rates),
        "Dropout-LR": (METHODS["Dropout-LR"], arguments.rates),
        "MCF-Quadratic": (METHODS["MCF-Quadratic"], arguments.rates),
        SOFTMAX: ([*METHODS[SOFTMAX], *rest], arguments.rates),
        "softmax, L2": ([], ("0",)),
        "softmax, dropout": ([], arguments.rates),
    }
    return {name: [[*base, "--dropout", rate, "--l2", l2] for rate in rates
                   for l2 in arguments.strengths] for name, (base, rates) in bases.items()}


def deletion(program, corpus, arguments):
    """Figure 6: errors by the rate of features left out of test data."""
    methods = deletion_methods(arguments, corpus.classes)
    parts = []
    for train, test in labeled.divide(corpus, arguments.folds):
        parts.append(Division(program, train, test, corpus.suffix, 1))

    def work(method, part):
        train, dev = parts[part].inner[0]
        on_dev = [(options, program.score(train, options, dev, "deletions"))
                  for options in methods[method]]
        results = {}
        for rate in RATES:
            rate = f"{float(rate):.1f}"
            options, score = min(on_dev, key=lambda item: item[1]["errors"][rate])
            test = program.score(train, options, parts[part].test, "deletions")
            results[rate] = {"options": " ".join(options), "error": test["errors"][rate],
                             "held_out": score["errors"][rate]}
        return results

    cells = [(method, part) for part in range(len(parts)) for method in methods]
    found = run_all(arguments, cells, work, corpus.name)
    rows = [f"{float(rate):.1f}" for rate in RATES]
    scores = {(method, rate): [found[method, part][rate] for part in range(len(parts))]
              for method in methods for rate in rows}
    text = [score_table("left out", rows, methods, scores), NOTE]
    text.append(against_plain(scores, rows))
    lines = {method: [(float(rate), mean(scores[method, rate])) for rate in rows]
             for method in methods}
    linear = ["SVM", "Dropout-SVM", "Dropout-LR", "MCF-Quadratic"]
    others = ["softmax, L2", "softmax, dropout"]
    panels = [(title, [(method, lines[method]) for method in group])
              for title, group in ((", linear", linear), (", others", others))]
    plain = {method: {rate: scores[method, rate] for rate in rows} for method in methods}
    return {"results": plain, "text": text, "panels": panels, "x": "features left out"}


def against_plain(scores, rows):
    """Dropout against none, by rate of features left out."""
    pairs = [("Dropout-SVM", "SVM"), ("softmax, dropout", "softmax, L2"),
             ("Dropout-SVM", "MCF-Quadratic")]
    titles = [f"{a} − {b} | p" for a, b in pairs]
    lines = ["Differences in points, and p-values over the divisions:\n",
             f"| left out | {' | '.join(titles)} |", "|---:" * (2 * len(pairs) + 1) + "|"]
    for row in rows:
        cells = [x for a, b in pairs for x in difference(scores[a, row], scores[b, row])]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def times(program, corpus, arguments):
    """Figure 10: processor seconds of training by method and rate, one run at a time."""
    methods = dict(METHODS)
    if corpus.classes > 2:
        methods[SOFTMAX] = [*methods[SOFTMAX], "--multiclass", "one-vs-rest"]
    train, test = labeled.divide(corpus, labeled.TENTHS)[0]
    files = program.store(train, corpus.suffix), program.store(test, corpus.suffix)
    found = {(method, rate): [] for method in methods for rate in arguments.rates}
    for round in range(1, arguments.rounds + 1):
        for (method, rate), results in found.items():
            options = [*methods[method], "--dropout", rate, "--l2", arguments.strengths[0]]
            results.append(program.score(files[0], options, files[1], round=round))
            print(f"{corpus.name} round {round} {method} {rate}: {results[-1]['seconds']:.2f} s",
                  file=sys.stderr, flush=True)
    text = [f"{len(train)} training documents, {len(test)} test documents, L2 "
            f"{arguments.strengths[0]}; the least of {arguments.rounds} rounds, with reading, one "
            "thread.\n"]
    least = {key: [{"seconds": min(r["seconds"] for r in results),
                    "predicting": min(r["predicting"] for r in results),
                    "error": results[0]["error"]}] for key, results in found.items()}
    for title, score in (("Seconds of training", "seconds"),
                         ("Seconds of prediction", "predicting"), ("Errors in percent", "error")):
        text += [f"{title}:\n", timing_table(arguments.rates, methods, least, score)]
    text.append(NOTE)
    lines = [(method, [(float(rate), least[method, rate][0]["seconds"])
                       for rate in arguments.rates]) for method in methods]
    plain = {method: {rate: without_documents(found[method, rate]) for rate in arguments.rates}
             for method in methods}
    return {"results": plain, "text": text, "panels": [("", lines)], "x": "dropout rate"}


def timing_table(rates, methods, found, score):
    lines = [f"| rate | {' | '.join(methods)} |", "|---:" * (len(methods) + 1) + "|"]
    for rate in rates:
        cells = (f"{found[method, rate][0][score]:.2f}" for method in methods)
        lines.append(f"| {rate} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def heading(corpus, arguments):
    """What was run, with the options that shorten it."""
    options = ["Words"] if arguments.words else []
    options += [f"Rates {', '.join(arguments.rates)}",
               f"L2 strengths {', '.join(arguments.strengths)}"]
    if arguments.figure != "time":
        options.append("test file" if corpus.test is not None else f"{arguments.folds} folds")
    if arguments.figure == "rates":
        options.append(f"{arguments.inner} tenths of the training documents to choose by")
    return f"{'; '.join(options)}.\n"


def paper(figure):
    """The table of the paper, whose corpus is another one."""
    if figure != "rates":
        return ""
    lines = ["## The paper, CIFAR-10\n", "For orientation only: errors on another corpus.\n",
             f"| method | {' | '.join(f'rate {rate}' for rate in PAPER_RATES)} |",
             "|---|---:|---:|---:|"]
    lines += [f"| {method} | {' | '.join(f'{x:.1f}' for x in row)} |"
              for method, row in TABLE3.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
