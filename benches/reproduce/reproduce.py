#!/usr/bin/env python3
"""Reproduces a table of Wang et al. (2013), "Feature Noising for Log-linear Structured Prediction".

    cargo build --release
    corpora/fetch.sh
    python3 benches/reproduce/reproduce.py table4 corpora/public OUT [--conll2003 FOLDER]

Writes OUT/table4.md and OUT/table4.json. README.md in this folder describes the tables.
"""

import argparse, json, os, signal, sys

import report, tables
from corpora import PUBLIC, UserError, conll2003, public
from runs import Runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "target", "release", "dropchain")


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def at_least_two(text):
    number = int(text)
    if number < 2:
        raise ValueError
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Reproduces a table of Wang et al. (2013): tunes on development data, tests "
        "once, and writes OUT/TABLE.md and OUT/TABLE.json. After an interruption, the same command "
        "resumes.",
        epilog="Example: python3 benches/reproduce/reproduce.py table4 corpora/public /tmp/paper",
    )
    parser.add_argument("table", choices=sorted(tables.CORPORA), help="table of the paper")
    parser.add_argument(
        "corpora",
        metavar="CORPORA",
        help="folder of the public corpora, as corpora/fetch.sh creates it",
    )
    parser.add_argument(
        "out", metavar="OUT", help="folder for the results and for the logs and models of all runs"
    )
    parser.add_argument(
        "--conll2003",
        metavar="PATH",
        nargs="+",
        help="a folder with eng.train, eng.testa and eng.testb, or the three files: the paper's "
        "corpus, which may not be redistributed",
    )
    parser.add_argument(
        "--only",
        metavar="CORPUS",
        nargs="+",
        help=f"use only these public corpora: {', '.join(PUBLIC)}",
    )
    parser.add_argument(
        "--stop",
        choices=tables.STOPS,
        nargs="+",
        default=tables.STOPS,
        help="how training ends: early, by the score on development data; or at convergence "
        "(default: a table has both)",
    )
    parser.add_argument(
        "--folds",
        metavar="N",
        type=at_least_two,
        default=0,
        help="also train the chosen models on all but each of N folds of the training data and "
        "score them on that fold: mean, deviation and paired differences",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=positive,
        default=os.cpu_count() or 1,
        help="total number of threads, over concurrent runs (default: all processors); results do "
        "not depend on it",
    )
    parser.add_argument(
        "--program",
        metavar="FILE",
        default=PROGRAM,
        help="the dropchain program (default: target/release/dropchain)",
    )
    return parser.parse_args()


def open_corpora(args):
    """Returns the corpora of the table; missing ones are an error before any work is done."""
    wanted = tables.CORPORA[args.table]
    for name in args.only or ():
        if name not in PUBLIC:
            raise UserError(f"--only {name}: expected one of {', '.join(PUBLIC)}")
        if name not in wanted:
            raise UserError(f"--only {name}: {args.table} uses {', '.join(wanted)}")
    given = [conll2003(args.conll2003)] if args.conll2003 and args.table != "table5" else []
    names = [name for name in wanted if name in (args.only or wanted)]
    return given + [public(args.corpora, name, args.out) for name in names]


def write(path, text):
    """Writes a file atomically."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(part, path)


def interrupt(*_):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the runs are being stopped already
    raise KeyboardInterrupt


def main():
    args = parse_arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        runner = Runner(args.program, args.out, args.threads)
        corpora = open_corpora(args)
        for corpus in corpora:
            runner.check(corpus)
        result = tables.make(
            args.table, runner, corpora, args.out, tuple(dict.fromkeys(args.stop)), args.folds
        )
        target = os.path.join(args.out, args.table)
        text = report.markdown(result, ["python3", *sys.argv])
        write(target + ".json", json.dumps(result, indent=1) + "\n")
        write(target + ".md", text)
    except UserError as error:
        sys.exit(f"reproduce: {error}")
    except OSError as error:
        sys.exit(f"reproduce: {error.filename or args.out}: {error.strerror}")
    except KeyboardInterrupt:
        print("reproduce: interrupted; the same command resumes", file=sys.stderr)
        sys.exit(130)
    print(text)


if __name__ == "__main__":
    main()
