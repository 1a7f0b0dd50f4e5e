"""Attribute files for the comparisons: all programs train and tag from the same files.

The attributes are those of CRFsuite's chunking example, or word windows, affixes and shapes where
a corpus has words alone.
"""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("DROPCHAIN") or os.path.join(ROOT, "target", "release", "dropchain")

# The 19 templates of CRFsuite's chunking example: lists of (column, offset), where column 0 is the
# word and column 1 the part of speech.
CHUNKING_TEMPLATES = (
    [[(0, i)] for i in range(-2, 3)]
    + [[(0, -1), (0, 0)], [(0, 0), (0, 1)]]
    + [[(1, i)] for i in range(-2, 3)]
    + [[(1, i), (1, i + 1)] for i in range(-2, 2)]
    + [[(1, i), (1, i + 1), (1, i + 2)] for i in range(-2, 1)]
)
# The templates that need only words.
WORD_TEMPLATES = [template for template in CHUNKING_TEMPLATES if template[0][0] == 0]
COLUMN_NAMES = ["w", "pos"]


def read_conll(path):
    """Yields the sentences of a column file as lists of rows."""
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


def read_conllu(path, label_column):
    """Yields the sentences of a CoNLL-U file as lists of [word, label]."""
    sentence = []
    for line in open(path, encoding="utf-8"):
        cells = line.rstrip("\n").split("\t")
        if len(cells) == 10 and cells[0].isdigit():
            sentence.append([cells[1].replace(" ", "\u00a0"), cells[label_column]])
        elif not line.strip() and sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def expand(templates, sentence, t):
    """Yields the attributes of token t, named as in CRFsuite's example."""
    for template in templates:
        cells = [(column, t + offset, offset) for column, offset in template]
        if all(0 <= i < len(sentence) for _, i, _ in cells):
            name = "|".join(f"{COLUMN_NAMES[c]}[{o}]" for c, _, o in cells)
            yield name + "=" + "|".join(sentence[i][c] for c, i, _ in cells)
    if t == 0:
        yield "__BOS__"
    if t == len(sentence) - 1:
        yield "__EOS__"


def chunking_attributes(sentence, t):
    """Yields the attributes of CRFsuite's chunking example."""
    return expand(CHUNKING_TEMPLATES, sentence, t)


def collapsed_shape(word):
    """Returns the word's character classes with runs collapsed, such as `Aa` or `0-0`."""
    classes = (
        "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word
    )
    shape = ""
    for character_class in classes:
        if not shape.endswith(character_class):
            shape += character_class
    return shape


def word_attributes(sentence, t):
    """Yields attributes that need only words: window, prefixes and suffixes, shape."""
    word = sentence[t][0]
    yield from expand(WORD_TEMPLATES, sentence, t)
    yield "lower=" + word.lower()
    yield "shape=" + collapsed_shape(word)
    for length in range(1, min(4, len(word)) + 1):
        yield f"prefix{length}=" + word[:length].lower()
        yield f"suffix{length}=" + word[-length:].lower()


def escape(text):
    return text.replace("\\", "\\\\").replace(":", "\\:")


def write_attributes(sentences, target, attributes=chunking_attributes):
    """Writes CRFsuite's format, the last cell of a row being the label; returns the token count."""
    tokens = 0
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences:
            for t, cells in enumerate(sentence):
                fields = (cells[-1], *attributes(sentence, t))
                out.write("\t".join(map(escape, fields)) + "\n")
                tokens += 1
            out.write("\n")
    return tokens


def read_attributes(path):
    """Yields the sentences of an attribute file as (labels, attribute lists)."""
    labels, items = [], []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line:
            cells = line.split("\t")
            label, *names = (cell.replace("\\:", ":").replace("\\\\", "\\") for cell in cells)
            labels.append(label)
            items.append(names)
        elif items:
            yield labels, items
            labels, items = [], []
