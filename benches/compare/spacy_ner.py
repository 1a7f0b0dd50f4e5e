#!/usr/bin/env python3
"""Compares dropchain with spaCy's small pipeline for CPUs on names, on the same files, in one run.

    pip install spacy
    cargo build --release
    python3 benches/compare/spacy_ner.py LANGUAGE TRAIN DEV TEST > table.md

LANGUAGE is spaCy's code, such as nl. The files have columns, the word first, and labels in the
scheme IOB1 or IOB2 in the last one; -DOCSTART- lines are skipped. spaCy trains what
`spacy init config --pipeline ner --optimize efficiency` writes, with its own early stopping;
dropchain trains with --template ner. Both choose by the development file, tag tokens as they are in
the files, and are scored by conlleval's rules. Training is measured in wall time, as both use all
processors; tagging in words per second of a whole process that reads the test file twenty times
over, loading the model included.
"""

import os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import PROGRAM, read_conll

COPIES = 20


def sentences(path):
    """Yields words and labels of each sentence."""
    for rows in read_conll(path):
        if not rows[0][0].startswith("-DOCSTART-"):
            yield [row[0] for row in rows], [row[-1] for row in rows]


def write_columns(path, tagged):
    with open(path, "w", encoding="utf-8") as file:
        for words, *columns in tagged:
            file.writelines("\t".join(row) + "\n" for row in zip(words, *columns))
            file.write("\n")


def iob2(labels):
    """B- at the start of every name."""
    result = []
    for before, label in zip(["O", *labels], labels):
        continues = label.startswith("I-") and before[2:] == label[2:] and before != "O"
        result.append(label if label == "O" or continues else "B-" + label[2:])
    return result


def to_docs(language, source, target):
    """Writes a corpus in spaCy's format, in a separate process."""
    import spacy
    from spacy.tokens import Doc, DocBin
    from spacy.training import iob_to_biluo, biluo_tags_to_spans

    vocab = spacy.blank(language).vocab
    docs = DocBin()
    for words, labels in sentences(source):
        doc = Doc(vocab, words=words)
        doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(iob2(labels)))
        docs.add(doc)
    docs.to_disk(target)


def tag(model, source, target):
    """Tags a file with spaCy, in a separate process."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(model)
    read = [words for words, _ in sentences(source)]
    docs = nlp.pipe(Doc(nlp.vocab, words=words) for words in read)
    labels = ([f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc] for doc in docs)
    write_columns(target, zip(read, labels))


def run(*command, output=None):
    """Runs a command and returns its wall time in seconds."""
    clock = time.monotonic()
    with open(output or os.devnull, "wb") as stdout:
        subprocess.run(command, stdout=stdout, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - clock


def score(gold, predicted):
    """F1 of conlleval, in percent."""
    columns = predicted + ".gold"
    write_columns(columns, sentences(gold))
    report = subprocess.run([PROGRAM, "eval", "--predictions", predicted, columns],
                            capture_output=True, text=True, check=True).stdout
    return float(report.split("FB1:")[1].split()[0])


def main():
    language, train, dev, test = sys.argv[1:]
    own = [sys.executable, os.path.abspath(__file__)]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        words = sum(len(words) for words, _ in sentences(test))
        many = path("many")
        write_columns(many, list(sentences(test)) * COPIES)

        for source, name in ((train, "train"), (dev, "dev")):
            run(*own, "to_docs", language, source, path(f"{name}.spacy"))
        run(sys.executable, "-m", "spacy", "init", "config", path("config.cfg"), "--lang", language,
            "--pipeline", "ner", "--optimize", "efficiency")
        seconds = run(sys.executable, "-m", "spacy", "train", path("config.cfg"), "--output",
                      path("spacy"), "--paths.train", path("train.spacy"), "--paths.dev",
                      path("dev.spacy"))
        model = path("spacy/model-best")
        for source, name in ((dev, "dev"), (test, "test")):
            run(*own, "tag", model, source, path(f"spacy.{name}"))
        tagging = run(*own, "tag", model, many, path("spacy.many"))
        rows["spaCy, `efficiency`"] = (seconds, tagging, "spacy")

        files = {}
        for source, name in ((train, "train"), (dev, "dev"), (test, "test")):
            files[name] = path(f"{name}.conll")
            write_columns(files[name], sentences(source))
        model = path("ner.model")
        seconds = run(PROGRAM, "train", files["train"], "--columns", "word,ner", "--dev",
                      files["dev"], "--template", "ner", "--model", model, "--quiet")
        for name in ("dev", "test"):
            run(PROGRAM, "tag", model, files[name], output=path(f"dropchain.{name}"))
        tagging = run(PROGRAM, "tag", model, many, output=path("dropchain.many"))
        rows["dropchain, `ner`"] = (seconds, tagging, "dropchain")

        print("| | dev F1 | test F1 | training, s | words per second |")
        print("|---|---|---|---|---|")
        for name, (seconds, tagging, prefix) in rows.items():
            scores = [score(gold, path(f"{prefix}.{part}"))
                      for gold, part in ((dev, "dev"), (test, "test"))]
            print(f"| {name} | {scores[0]:.2f} | {scores[1]:.2f} | {seconds:.1f} | "
                  f"{words * COPIES / tagging:,.0f} |")


if sys.argv[1] in ("to_docs", "tag"):
    globals()[sys.argv[1]](*sys.argv[2:])
else:
    main()
