"""Corpora of labeled lines, texts or features in SVMlight's format, and how they are divided."""

import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

SVMLIGHT = (".svm", ".svmlight", ".libsvm")
TENTHS = 10


@dataclass(frozen=True)
class Corpus:
    """Lines (class, text or features); test lines if they are given apart."""

    name: str
    train: list
    test: list = None
    suffix: str = ".txt"  # .svm: features

    @property
    def classes(self):
        return len({label for label, _ in self.train})


def add_arguments(parser):
    """Adds the arguments that name corpora, results and the program."""
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", default="target/release/dropchain")
    parser.add_argument("--corpus", nargs="+", action="append", default=[], metavar="NAME FILE",
                        help="NAME TRAIN, or NAME TRAIN TEST")
    parser.add_argument("--only", nargs="+", help="names of corpora")


def check_arguments(parser, arguments):
    if any(len(corpus) not in (2, 3) for corpus in arguments.corpus):
        parser.error("--corpus: expected a name, a training file, and perhaps a test file")


def read(name, train, test=None):
    """A corpus of a training file and a test file, if there is one."""
    suffix = ".svm" if Path(train).suffix in SVMLIGHT else ".txt"
    if test and (Path(test).suffix in SVMLIGHT) != (suffix == ".svm"):
        sys.exit(f"{train} and {test}: expected files of one format")
    lines = read_lines(train)
    return Corpus(name, lines, read_lines(test) if test else None, suffix)


def read_lines(path):
    """Class and text, or class and features, of a file or of a folder per class."""
    path = Path(path)
    if path.is_dir():
        return [(folder.name, clean(file.read_text(encoding="utf-8")))
                for folder in sorted(path.iterdir()) for file in sorted(folder.iterdir())]
    lines = path.read_text(encoding="utf-8").split("\n")
    if path.suffix not in SVMLIGHT:
        pairs = (line.split("\t", 1) for line in lines if line)
        return grouped((label, clean(text)) for label, text in pairs)
    found = []
    for line in lines:
        label, _, features = line.partition("#")[0].strip().partition(" ")
        if label:
            found.append((label, features.strip()))
    return found


def grouped(lines):
    """Lines by class, in the order of first appearance."""
    return [(label, body) for label, bodies in by_class(lines).items() for body in bodies]


def by_class(lines):
    """The texts or features of lines by class."""
    found = {}
    for label, body in lines:
        found.setdefault(label, []).append(body)
    return found


def part(classes, is_in):
    """The lines whose number in their class is in a part: is_in(number, size of the class)."""
    return [(label, body) for label, bodies in classes.items()
            for i, body in enumerate(bodies) if is_in(i, len(bodies))]


def public(corpora, name, *files):
    """The folder of a public corpus; without its files, an error that says where they come from."""
    folder = corpora / name
    for file in files:
        if not (folder / file).exists():
            sys.exit(f"{folder / file} not found; download it with `corpora/fetch.sh {name}`, "
                     "which writes to corpora/public")
    return folder


def read_reviews(corpora):
    """RT-2k. The names of its files begin with their fold."""
    folder = public(corpora, "movie-reviews", "neg", "pos")
    return Corpus("rt-2k", [(label, clean(file.read_text(encoding="utf-8")))
                            for label in ("neg", "pos")
                            for file in sorted((folder / label).glob("*.txt"))])


def read_snippets(corpora):
    """RTs."""
    file = public(corpora, "rt-polarity", "rt-polarity.neg", "rt-polarity.pos") / "rt-polarity"
    return Corpus("rts", [(label, clean(line)) for label in ("neg", "pos")
                          for line in file.with_suffix(f".{label}").open(encoding="utf-8")])


def clean(text):
    return " ".join(text.split())


def digits():
    """The 1,797 images of 8 × 8 pixels from 0 to 1 that scikit-learn has."""
    data = scikit("digits").load_digits()
    rows = [features(row) for row in data.data / 16]
    return Corpus("digits", [(str(y), row) for y, row in zip(data.target, rows)], suffix=".svm")


def scikit(name):
    try:
        import sklearn.datasets
    except ImportError:
        sys.exit(f"{name}: scikit-learn has it, but is not installed; leave {name} out by --only")
    return sklearn.datasets


def features(values):
    """Values other than 0 in the format of SVMlight."""
    return " ".join(f"{i}:{value:.6g}" for i, value in enumerate(values, 1) if value)


def text_of(lines, suffix):
    """The contents of a file of these lines."""
    separator = " " if suffix == ".svm" else "\t"
    return "".join(f"{label}{separator}{body}\n" for label, body in lines)


def deal(lines, parts, seed):
    """Parts of one size, at random, each with its share of every class."""
    lines = list(lines)
    random.Random(seed).shuffle(lines)
    lines.sort(key=lambda line: line[0])
    return [lines[part::parts] for part in range(parts)]


def join(parts, without):
    """All lines of the parts but one."""
    return [line for i, part in enumerate(parts) if i != without for line in part]


def divide(corpus, folds):
    """Training and test lines: those of the corpus, or each of some folds once as test lines."""
    if corpus.test is not None:
        return [(corpus.train, corpus.test)]
    parts = deal(corpus.train, folds, 1)
    return [(join(parts, i), part) for i, part in enumerate(parts)]


def divide_small(corpus, size, folds):
    """Like divide, but with at most a number of training lines, of as few other folds as need be.

    If these fit into one fold, no two divisions share training or test lines.
    """
    if corpus.test is not None:
        return [(sample(deal(corpus.train, 1, 1)[0], size), corpus.test)]
    parts = deal(corpus.train, folds, 1)
    found = []
    for i, test in enumerate(parts):
        others = []
        for k in range(1, folds):
            if len(others) < size:
                others += parts[(i + k) % folds]
        others.sort(key=lambda line: line[0])
        found.append((sample(others, size), test))
    return found


def sample(lines, size):
    """At most a number of lines, at even distances."""
    step = max(1.0, len(lines) / size)
    return [lines[int(i * step)] for i in range(min(size, len(lines)))]


def hold_out(train, inner):
    """Pairs of nine tenths and the other tenth of training lines, at most ten."""
    parts = deal(train, TENTHS, 2)
    return [(join(parts, i), parts[i]) for i in range(inner)]


def parse(body):
    """Features by number."""
    cells = (cell.split(":") for cell in body.split())
    return {int(number): float(value) for number, value in cells}


def with_features(corpus, pairs=True):
    """A corpus whose texts are words between blanks, and pairs of them, as features."""
    if corpus.suffix == ".svm":
        return corpus
    numbers = {}

    def convert(lines):
        return [(label, indicators(text, numbers, pairs)) for label, text in lines]

    test = convert(corpus.test) if corpus.test is not None else None
    return replace(corpus, train=convert(corpus.train), test=test, suffix=".svm")


def indicators(text, numbers, pairs=True):
    """The words of a text, and pairs of them, numbered as they come."""
    words = text.lower().split()
    names = {*words, *(zip(words, words[1:]) if pairs else ())}
    found = sorted(numbers.setdefault(name, len(numbers) + 1) for name in sorted(names, key=str))
    return " ".join(f"{number}:1" for number in found)


def corrupted(lines, rate, copies, seed):
    """Copies of lines whose features are left out at a rate; those that remain grow.

    More copies with the same seed begin with those of fewer.
    """
    for copy in range(copies):
        rng = random.Random(f"{seed} {rate} {copy}")
        for label, body in lines:
            kept = []
            for cell in body.split():
                if rng.random() >= rate:
                    number, value = cell.split(":")
                    kept.append(f"{number}:{float(value) / (1 - rate):.6g}")
            yield label, " ".join(kept)
