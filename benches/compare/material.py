"""What the comparisons with other programs share: corpora, and attributes made from them."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "target", "release", "dropchain")

# The 19 templates of CRFsuite's chunking example, for columns (word, part of speech).
CHUNKING = (
    [[(0, i)] for i in range(-2, 3)]
    + [[(0, -1), (0, 0)], [(0, 0), (0, 1)]]
    + [[(1, i)] for i in range(-2, 3)]
    + [[(1, i), (1, i + 1)] for i in range(-2, 2)]
    + [[(1, i), (1, i + 1), (1, i + 2)] for i in range(-2, 1)]
)
# The same for text that has words alone.
WORDS = [template for template in CHUNKING if template[0][0] == 0]
NAMES = ["w", "pos"]


def sentences(path):
    """The sentences of a file of columns: lists of lists of cells."""
    sentence = []
    for line in open(path, encoding="utf-8"):
        cells = line.split()
        if cells:
            sentence.append(cells)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def conllu(path, label):
    """The sentences of a CoNLL-U file as pairs of word and the column `label`."""
    sentence = []
    for line in open(path, encoding="utf-8"):
        cells = line.rstrip("\n").split("\t")
        if len(cells) == 10 and cells[0].isdigit():
            sentence.append([cells[1].replace(" ", "\u00a0"), cells[label]])
        elif not line.strip() and sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def from_templates(templates, sentence, t):
    for template in templates:
        places = [(column, t + offset, offset) for column, offset in template]
        if all(0 <= i < len(sentence) for _, i, _ in places):
            name = "|".join(f"{NAMES[c]}[{o}]" for c, _, o in places)
            yield name + "=" + "|".join(sentence[i][c] for c, i, _ in places)
    if t == 0:
        yield "__BOS__"
    if t == len(sentence) - 1:
        yield "__EOS__"


def attributes(sentence, t):
    """The attributes of CRFsuite's chunking example."""
    return from_templates(CHUNKING, sentence, t)


def shape(word):
    kinds = ("A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word)
    out = ""
    for kind in kinds:
        if not out.endswith(kind):
            out += kind
    return out


def spelling(sentence, t):
    """Attributes of words alone: words around, prefixes and suffixes, shape."""
    word = sentence[t][0]
    yield from from_templates(WORDS, sentence, t)
    yield "lower=" + word.lower()
    yield "shape=" + shape(word)
    for length in range(1, min(4, len(word)) + 1):
        yield f"prefix{length}=" + word[:length].lower()
        yield f"suffix{length}=" + word[-length:].lower()


def escape(text):
    return text.replace("\\", "\\\\").replace(":", "\\:")


def write_attributes(sentences, target, attributes=attributes):
    """Writes CRFsuite's format, the last cell of a token being its label; returns the number of tokens."""
    tokens = 0
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences:
            for t, cells in enumerate(sentence):
                out.write("\t".join(escape(a) for a in (cells[-1], *attributes(sentence, t))) + "\n")
                tokens += 1
            out.write("\n")
    return tokens


def ready(path):
    """The sentences of such a file: labels, and lists of attributes."""
    labels, items = [], []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line:
            label, *names = (cell.replace("\\:", ":").replace("\\\\", "\\") for cell in line.split("\t"))
            labels.append(label)
            items.append(names)
        elif items:
            yield labels, items
            labels, items = [], []
