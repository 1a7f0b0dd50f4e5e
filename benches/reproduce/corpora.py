"""The corpora: where their files are, how they are split, and how models are trained on them."""

import hashlib, os
from dataclasses import dataclass, replace

CHUNK_DEV = 936  # CoNLL-2000 has no development file: the last sentences of its training file
ROTATIONS = 3  # each third of a corpus is the test data once
FIFTH = 5  # one in five sentences of a training third is development data
BLOCK = 20  # adjacent sentences of a fold that stay together where a corpus marks no documents

NAMES = ("--template", "ner-finkel", "--scheme", "io")  # IO labels, as in the paper
CHUNKS = ("--columns", "word,pos,chunk", "--template", "chunk")
POS = ("--label", "upos", "--template", "pos-sancl", "--patience", "80")


class UserError(Exception):
    """An error that the user can fix."""


@dataclass(frozen=True)
class Corpus:
    """A corpus with its splits, and how to train on it."""

    name: str
    title: str
    files: dict  # split → path; splits: train, dev, test, and in table 3 unlabeled
    train_options: tuple
    format: str = "conll"
    metric: str = "f1"
    l2: float = 0.1  # start of the search for the L2 strength with dropout

    @property
    def format_options(self):
        """Options of `eval` and `compare` for its files."""
        label = ("--label", "upos") if self.format == "conllu" else ()
        return ("--format", self.format) + label


PUBLIC = {
    "conll2002-esp": ("CoNLL-2002 Spanish", ("esp.train", "esp.testa", "esp.testb")),
    "conll2002-ned": ("CoNLL-2002 Dutch", ("ned.train", "ned.testa", "ned.testb")),
    "wnut17": ("W-NUT 2017", ("train.conll", "dev.conll", "test.conll")),
    "conll2000": ("CoNLL-2000 chunks", ("train.txt", "test.txt")),
    "ewt": ("EWT", ("train.conllu", "dev.conllu", "test.conllu")),
}
CONLL2003 = ("eng.train", "eng.testa", "eng.testb")


def public(folder, name, out):
    """Returns a corpus that `corpora/fetch.sh` downloads."""
    title, names = PUBLIC[name]
    paths = [os.path.join(folder, name, file) for file in names]
    for path in paths:
        if not os.path.isfile(path):
            raise UserError(
                f"{path} not found; download it with `corpora/fetch.sh {name}`, which writes to "
                "corpora/public, or exclude this corpus with --only"
            )
    if name == "conll2000":
        train, test = paths
        files = split_chunks(train, test, os.path.join(out, "corpora", name))
        return Corpus(name, title, files, CHUNKS)
    files = dict(zip(("train", "dev", "test"), paths))
    if name == "ewt":
        for split in ("dev", "test"):
            split_genres(files[split], os.path.join(out, "corpora", name, split, "gold"))
        return Corpus(name, title, files, POS, format="conllu", metric="accuracy", l2=0.01)
    return Corpus(name, title, files, NAMES)


def conll2003(paths):
    """Returns CoNLL-2003, given its folder or its three files."""
    if len(paths) == 1:
        if not os.path.isdir(paths[0]):
            raise UserError(
                f"--conll2003 {paths[0]}: expected a folder with {', '.join(CONLL2003)}, "
                "or these three files"
            )
        paths = [os.path.join(paths[0], name) for name in CONLL2003]
    elif len(paths) != 3:
        raise UserError(
            f"--conll2003: {len(paths)} files; expected a folder, or three files: "
            "train, development and test"
        )
    for path in paths:
        if not os.path.isfile(path):
            raise UserError(
                f"{path} not found; expected a file of CoNLL-2003, which only its publishers "
                "may distribute"
            )
        first = next(read_sentences(path), None)
        if first is None or len(first[0].split()) != 4:
            actual = "no sentence" if first is None else f"`{first[0].strip()}`"
            raise UserError(f"{path}: {actual}; expected four columns: word, pos, chunk, ner")
    files = dict(zip(("train", "dev", "test"), paths))
    options = ("--columns", "word,pos,chunk,ner") + NAMES
    return Corpus("conll2003", "CoNLL-2003 English", files, options)


def read_sentences(path):
    """Yields the sentences of a file as lists of lines, without `-DOCSTART-` lines."""
    for lines in read_blocks(path):
        if not is_mark(lines):
            yield lines


def read_blocks(path):
    """Yields the sentences and `-DOCSTART-` lines of a file, in order, as lists of lines."""
    sentence = []
    with open(path, encoding="utf-8", newline="\n") as file:
        try:
            for line in file:
                is_text = line.strip(" \t\r\n") and not line.startswith("-DOCSTART-")
                if is_text:
                    sentence.append(line if line.endswith("\n") else line + "\n")
                    continue
                if sentence:
                    yield sentence
                    sentence = []
                if line.startswith("-DOCSTART-"):
                    yield [line if line.endswith("\n") else line + "\n"]
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: invalid UTF-8 ({error.reason})") from None
    if sentence:
        yield sentence


def is_mark(lines):
    """Returns whether a block is a `-DOCSTART-` line."""
    return lines[0].startswith("-DOCSTART-")


def read_documents(path):
    """Returns the documents of a file as lists of blocks, each with the mark that begins it.

    A file without marks is one document.
    """
    documents = [[]]
    for lines in read_blocks(path):
        if is_mark(lines) or lines[0].startswith("# newdoc"):
            documents.append([])
        documents[-1].append(lines)
    return [document for document in documents if document]


def write_sentences(path, sentences):
    """Writes sentences atomically and returns the path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8", newline="\n") as out:
        for sentence in sentences:
            out.writelines(sentence)
            out.write("\n")
    os.replace(part, path)
    return path


def split_chunks(train, test, folder):
    """Splits development data off CoNLL-2000's training file; returns split → path."""
    sentences = list(read_sentences(train))
    if len(sentences) <= CHUNK_DEV:
        raise UserError(
            f"{train}: {len(sentences)} sentences; expected more than the {CHUNK_DEV} that "
            "become development data"
        )
    return {
        "train": write_sentences(os.path.join(folder, "train.conll"), sentences[:-CHUNK_DEV]),
        "dev": write_sentences(os.path.join(folder, "dev.conll"), sentences[-CHUNK_DEV:]),
        "test": test,
    }


def thirds(corpus, out):
    """Shuffles all sentences and splits them into thirds; yields a corpus per rotation.

    Each third is the test data of one rotation. The order is that of a hash of the sentence number,
    so the split is the same on every machine.
    """
    splits = ("train", "dev", "test")
    sentences = [s for split in splits for s in read_sentences(corpus.files[split])]
    if len(sentences) < ROTATIONS * FIFTH:
        raise UserError(f"{corpus.title}: {len(sentences)} sentences; too few for thirds")
    rank = lambda i: hashlib.sha256(f"thirds {i}".encode()).digest()
    order = sorted(range(len(sentences)), key=rank)
    parts = [[sentences[i] for i in order[third::ROTATIONS]] for third in range(ROTATIONS)]
    for rotation in range(ROTATIONS):
        train, test, unlabeled = (parts[(rotation + k) % ROTATIONS] for k in range(ROTATIONS))
        name = f"{corpus.name}.third{rotation + 1}"
        held_out = len(train) // FIFTH
        contents = {
            "train": train[held_out:],
            "dev": train[:held_out],
            "test": test,
            "unlabeled": unlabeled,
        }
        folder = os.path.join(out, "corpora", name)
        files = {
            split: write_sentences(os.path.join(folder, f"{split}.conll"), part)
            for split, part in contents.items()
        }
        yield Corpus(name, corpus.title, files, corpus.train_options, l2=corpus.l2)


def folds(corpus, count, out):
    """Splits the training data of a corpus into folds; yields a corpus per fold.

    Its test data are the fold, its training data the other folds, its development data those of the
    corpus. Documents stay in one fold if there are enough of them, else blocks of adjacent
    sentences do. The order in which they are dealt is that of a hash of their number, so the split
    is the same on every machine.
    """
    units = read_documents(corpus.files["train"])
    if len(units) < count:
        blocks = [lines for document in units for lines in document]
        units = [blocks[i : i + BLOCK] for i in range(0, len(blocks), BLOCK)]
    if len(units) < count:
        raise UserError(
            f"--folds {count}: {corpus.files['train']} has {len(units)} blocks of {BLOCK} "
            "sentences; expected at least one for each fold"
        )
    rank = lambda i: hashlib.sha256(f"folds {i}".encode()).digest()
    size = lambda unit: sum(len(lines) for lines in unit)
    fold_of, sizes = {}, [0] * count
    for i in sorted(range(len(units)), key=rank):
        fold_of[i] = sizes.index(min(sizes))
        sizes[fold_of[i]] += size(units[i])
    extension = "conllu" if corpus.format == "conllu" else "conll"
    for fold in range(count):
        name = f"{corpus.name}.fold{fold + 1}of{count}"
        contents = {
            "train": [b for i, unit in enumerate(units) if fold_of[i] != fold for b in unit],
            "test": [b for i, unit in enumerate(units) if fold_of[i] == fold for b in unit],
        }
        folder = os.path.join(out, "corpora", name)
        files = {
            split: write_sentences(os.path.join(folder, f"{split}.{extension}"), blocks)
            for split, blocks in contents.items()
        }
        yield replace(corpus, name=name, files={**files, "dev": corpus.files["dev"]})


def concatenate(paths, target):
    """Writes the sentences of several files to one; returns its path."""
    return write_sentences(target, (s for path in paths for s in read_sentences(path)))


def split_genres(path, folder):
    """Splits a CoNLL-U file of EWT by genre, the prefix of `sent_id`; returns genre → path."""
    prefix = "# sent_id = "
    parts = {}
    for number, sentence in enumerate(read_sentences(path), 1):
        sent_id = next((line for line in sentence if line.startswith(prefix)), "")
        genre, dash, _ = sent_id.removeprefix(prefix).partition("-")
        if not dash:
            raise UserError(f"{path}: sentence {number} has no line `# sent_id = GENRE-…`")
        parts.setdefault(genre, []).append(sentence)
    return {
        genre: write_sentences(os.path.join(folder, f"{genre}.conllu"), parts[genre])
        for genre in sorted(parts)
    }
