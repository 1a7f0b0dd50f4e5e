"""Trains models with python-crfsuite in every way, and tags with them.

Usage: models.py FOLDER

Writes sentences to FOLDER/test.crfsuite and, for every model, FOLDER/NAME.crfsuite and
FOLDER/NAME.jsonl: for each sentence the best labels and their probability, the marginals (one
object per token), and the probability of the labels in test.crfsuite. Prints the names.

Exits with status 3 if python-crfsuite is not installed.
"""

import json
import random
import sys
from pathlib import Path

try:
    import pycrfsuite
except ImportError:
    sys.exit(3)

# Random labels follow one another in ways that are not valid in any scheme.
LABELS = ["B-PER", "I-PER", "O", "B-Größe", "I-東京", "."]
WORDS = ["Ann", "Köln", "São Paulo", "東京", "10:30", "a\\b", "\U0001f600", "=", "e\u0301", "left"]

ALGORITHMS = {
    "lbfgs": {"c2": 0.1},
    "lbfgs-l1": {"c1": 0.3, "c2": 0.01},
    "l2sgd": {"c2": 0.1, "max_iterations": 30},
    "ap": {"max_iterations": 20},
    "pa": {"max_iterations": 20},
    "arow": {"max_iterations": 20},
}


def token(rng, label):
    """The attributes of a token: of its word, which mostly tells the label, and random ones."""
    word = WORDS[LABELS.index(label)] if rng.random() < 0.7 else rng.choice(WORDS)
    attributes = {"word=" + word: 1.0, "size": round(rng.uniform(-2, 3), 3)}
    if rng.random() < 0.5:
        attributes[f"rare={rng.randrange(60)}"] = rng.choice([0.5, 2.0, -1.25])
    if rng.random() < 0.2:
        attributes["é:" + word[0]] = 1e-3
    return attributes


def corpus(seed, sentences):
    rng = random.Random(seed)
    for _ in range(sentences):
        labels = [rng.choice(LABELS) for _ in range(rng.randint(1, 9))]
        yield [token(rng, label) if rng.random() < 0.95 else {} for label in labels], labels


def escape(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def to_text(sentences):
    """The sentences in CRFsuite's format."""
    lines = []
    for tokens, labels in sentences:
        for attributes, label in zip(tokens, labels):
            fields = [f"{escape(name)}:{value!r}" for name, value in attributes.items()]
            lines.append("\t".join([label, *fields]))
        lines.append("")
    return "\n".join(lines) + "\n"


def train(name, params, file):
    trainer = pycrfsuite.Trainer(algorithm=name.split("-")[0], verbose=False)
    trainer.set_params(params)
    for tokens, labels in corpus(1, 60):
        trainer.append(tokens, labels)
    trainer.train(str(file))


def tag(file, sentences):
    tagger = pycrfsuite.Tagger()
    with tagger.open(str(file)):
        known = tagger.labels()
        for tokens, given in sentences:
            labels = tagger.tag(tokens)
            yield {
                "labels": labels,
                "probability": tagger.probability(labels),
                "given": tagger.probability(given),
                "marginals": [
                    {label: tagger.marginal(label, t) for label in known}
                    for t in range(len(tokens))
                ],
            }


def main():
    folder = Path(sys.argv[1])
    test = list(corpus(2, 25))
    (folder / "test.crfsuite").write_text(to_text(test), encoding="utf-8")
    for algorithm, params in ALGORITHMS.items():
        for states in [False, True]:
            for transitions in [False, True]:
                name = f"{algorithm}-{states:d}{transitions:d}"
                file = folder / f"{name}.crfsuite"
                generation = {
                    "feature.possible_states": states,
                    "feature.possible_transitions": transitions,
                }
                train(algorithm, {**params, **generation}, file)
                lines = [json.dumps(line) + "\n" for line in tag(file, test)]
                (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
                print(name)


if __name__ == "__main__":
    main()
