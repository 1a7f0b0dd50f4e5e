"""The corpora of the reproduction: where their files are, how they are cut, and how models of them are trained."""
import hashlib, os
from dataclasses import dataclass

CHUNK_DEV = 936  # CoNLL-2000 has no development file: the last sentences of its training file are it
ROTATIONS = 3  # each third of a corpus is test data once
FIFTH = 5  # one in five sentences of a training third is development data

NAMES = ("--template", "ner-finkel", "--scheme", "io")  # as the paper: no B and I
CHUNKS = ("--columns", "word,pos,chunk", "--template", "chunk")
POS = ("--label", "upos", "--template", "pos-sancl", "--patience", "80")


class Fault(Exception):
    """What the user can mend."""


@dataclass(frozen=True)
class Corpus:
    """Three files and how to train on them."""

    name: str
    title: str
    files: dict  # by split: train, dev, test, and unlabeled where there is such a part
    options: tuple  # of training
    form: str = "conll"
    measure: str = "f1"
    l2: float = 0.1  # where the search for dropout's strength of L2 starts

    @property
    def reading(self):
        """Options of eval and compare for its files."""
        return ("--format", self.form) + (("--label", "upos") if self.form == "conllu" else ())


PUBLIC = {
    "conll2002-esp": ("CoNLL-2002 Spanish", ("esp.train", "esp.testa", "esp.testb")),
    "wnut17": ("W-NUT 2017", ("train.conll", "dev.conll", "test.conll")),
    "conll2000": ("CoNLL-2000 chunks", ("train.txt", "test.txt")),
    "ewt": ("EWT", ("train.conllu", "dev.conllu", "test.conllu")),
}
CONLL2003 = ("eng.train", "eng.testa", "eng.testb")


def public(folder, name, out):
    """A corpus that `corpora/fetch.sh` obtains."""
    title, names = PUBLIC[name]
    paths = [os.path.join(folder, name, file) for file in names]
    for path in paths:
        if not os.path.isfile(path):
            raise Fault(
                f"{path} is not there; get it with `corpora/fetch.sh {name}`, which writes to corpora/public, "
                "or leave this corpus out with --only"
            )
    if name == "conll2000":
        train, test = paths
        files = cut_chunks(train, test, os.path.join(out, "corpora", name))
        return Corpus(name, title, files, CHUNKS)
    files = dict(zip(("train", "dev", "test"), paths))
    if name == "ewt":
        for split in ("dev", "test"):
            genres(files[split], os.path.join(out, "corpora", name, split, "gold"))
        return Corpus(name, title, files, POS, form="conllu", measure="accuracy", l2=0.01)
    return Corpus(name, title, files, NAMES)


def conll2003(paths):
    """CoNLL-2003 from a folder or from its three files."""
    if len(paths) == 1:
        if not os.path.isdir(paths[0]):
            raise Fault(f"--conll2003 {paths[0]}: expected a folder with {', '.join(CONLL2003)}, or these three files")
        paths = [os.path.join(paths[0], name) for name in CONLL2003]
    elif len(paths) != 3:
        raise Fault(f"--conll2003: {len(paths)} files; expected a folder, or three: train, development and test")
    for path in paths:
        if not os.path.isfile(path):
            raise Fault(f"{path} is not there; expected a file of CoNLL-2003, which has to be had from its publishers")
        first = next(iter(blocks(path)), None)
        if first is None or len(first[0].split()) != 4:
            found = "no sentence" if first is None else f"`{first[0].strip()}`"
            raise Fault(f"{path}: {found}; expected lines of four columns: word, pos, chunk, ner")
    files = dict(zip(("train", "dev", "test"), paths))
    return Corpus("conll2003", "CoNLL-2003 English", files, ("--columns", "word,pos,chunk,ner") + NAMES)


def blocks(path):
    """The sentences of a file as lists of lines, without the marks of documents' beginnings."""
    block = []
    with open(path, encoding="utf-8", newline="\n") as file:
        try:
            for line in file:
                if line.strip(" \t\r\n") and not line.startswith("-DOCSTART-"):
                    block.append(line if line.endswith("\n") else line + "\n")
                elif block:
                    yield block
                    block = []
        except UnicodeDecodeError as error:
            raise Fault(f"{path}: not UTF-8 text ({error.reason})") from None
    if block:
        yield block


def write(path, sentences):
    """Writes sentences, whole or not at all; returns the path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8", newline="\n") as out:
        for block in sentences:
            out.writelines(block)
            out.write("\n")
    os.replace(part, path)
    return path


def cut_chunks(train, test, folder):
    sentences = list(blocks(train))
    if len(sentences) <= CHUNK_DEV:
        raise Fault(f"{train}: {len(sentences)} sentences; expected more than the {CHUNK_DEV} that become development data")
    return {
        "train": write(os.path.join(folder, "train.conll"), sentences[:-CHUNK_DEV]),
        "dev": write(os.path.join(folder, "dev.conll"), sentences[-CHUNK_DEV:]),
        "test": test,
    }


def thirds(corpus, out):
    """The corpus as a whole, shuffled and cut into thirds: three corpora, each third being the test data of one.

    Sentences are put in the order of a hash of their number, so that the cut is the same everywhere.
    """
    sentences = [block for split in ("train", "dev", "test") for block in blocks(corpus.files[split])]
    if len(sentences) < ROTATIONS * FIFTH:
        raise Fault(f"{corpus.title}: {len(sentences)} sentences; too few to be cut into thirds")
    order = sorted(range(len(sentences)), key=lambda i: hashlib.sha256(f"thirds {i}".encode()).digest())
    parts = [[sentences[i] for i in order[third::ROTATIONS]] for third in range(ROTATIONS)]
    for rotation in range(ROTATIONS):
        train, test, unlabeled = (parts[(rotation + k) % ROTATIONS] for k in range(ROTATIONS))
        name = f"{corpus.name}.third{rotation + 1}"
        held_out = len(train) // FIFTH
        splits = {"train": train[held_out:], "dev": train[:held_out], "test": test, "unlabeled": unlabeled}
        folder = os.path.join(out, "corpora", name)
        files = {split: write(os.path.join(folder, f"{split}.conll"), part) for split, part in splits.items()}
        yield Corpus(name, corpus.title, files, corpus.options, l2=corpus.l2)


def join(paths, target):
    """One file of the sentences of several."""
    return write(target, (block for path in paths for block in blocks(path)))


def genres(path, folder):
    """Cuts a CoNLL-U file of EWT by genre, the beginning of its sentences' names: genre → file."""
    parts = {}
    for number, block in enumerate(blocks(path), 1):
        name = next((line for line in block if line.startswith("# sent_id = ")), "")
        genre, dash, _ = name.removeprefix("# sent_id = ").partition("-")
        if not dash:
            raise Fault(f"{path}: sentence {number} has no line `# sent_id = GENRE-…`")
        parts.setdefault(genre, []).append(block)
    return {genre: write(os.path.join(folder, f"{genre}.conllu"), parts[genre]) for genre in sorted(parts)}
