#!/usr/bin/env python3
"""What a user waits for: training with defaults, tagging ten million tokens, a request to a server.

    pip install python-crfsuite libwapiti
    cargo build --release
    python3 benches/compare/waits.py CORPORA > table.md

Wall-clock time and peak memory of whole processes. dropchain trains with the template that is named
and no other option; CRFsuite and Wapiti with the templates of CRFsuite's chunking example (those of
words alone where there is nothing else) and their defaults, from Python. So the models differ, as
do the scores: this is no comparison of equal work (`training.py` is). CORPORA is the folder that
corpora/fetch.sh fills.
"""

import http.client, json, os, re, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attributes import CHUNKING_TEMPLATES, PROGRAM, WORD_TEMPLATES, expand, read_conll, read_conllu

# Name, training file, options of dropchain, templates for the others.
TASKS = [
    ("names in news, Dutch", "conll2002-ned/ned.train", ["--template", "ner"], WORD_TEMPLATES),
    ("parts of speech, EWT", "ewt/train.conllu", ["--label", "upos", "--template", "pos"],
     WORD_TEMPLATES),
    ("chunks, CoNLL-2000", "conll2000/train.txt", ["--template", "chunk"], CHUNKING_TEMPLATES),
    ("names in tweets, W-NUT", "wnut17/train.conll", ["--template", "ner"], WORD_TEMPLATES),
]
TOKENS = 10_000_000


def sentences(path):
    return list(read_conllu(path, 3) if path.endswith("conllu") else read_conll(path))


def crfsuite(path, templates, model):
    """Trains with CRFsuite, in a process of its own."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in sentences(path):
        items = [list(expand(templates, sentence, t)) for t in range(len(sentence))]
        trainer.append(items, [row[-1] for row in sentence])
    trainer.train(model)


def wapiti(path, templates, model):
    """Trains with Wapiti, in a process of its own."""
    from wapiti import Model

    patterns = "".join(
        f"U{number}:" + "/".join(f"%x[{offset},{column}]" for column, offset in template) + "\n"
        for number, template in enumerate(templates))
    trained = Model(patterns=patterns + "B\n")
    trained.train(["\n".join(map(" ".join, sentence)) for sentence in sentences(path)])
    trained.save(model)


def run(command, output=os.devnull):
    """Runs a command; returns seconds, peak megabytes, and its messages."""
    with open(output, "wb") as stdout, tempfile.TemporaryFile() as stderr:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = status
        stderr.seek(0)
        messages = stderr.read().decode()
    if status:
        sys.exit(f"{command}: {messages}")
    return seconds, usage.ru_maxrss / 1024, messages


def request(model):
    """Returns the median milliseconds of a request with one sentence."""
    server = subprocess.Popen([PROGRAM, "serve", model, "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = next(found for line in server.stdout
                    if (found := re.search(r"127\.0\.0\.1:(\d+)", line)))[1]
        connection = http.client.HTTPConnection("127.0.0.1", int(port))
        body = json.dumps({"text": "Ada Lovelace lived in London."})
        times = []
        for _ in range(500):
            start = time.perf_counter()
            connection.request("POST", "/tag", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)
    finally:
        server.terminate()


def main():
    corpora = sys.argv[1]
    own = [sys.executable, os.path.abspath(__file__)]
    print("| training, defaults | dropchain, s | 2 threads | MB | CRFsuite, s | MB "
          "| Wapiti, s | MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        for number, (name, file, options, _) in enumerate(TASKS):
            path = os.path.join(corpora, file)
            train = [PROGRAM, "train", path, *options, "--model", model]
            one = run([*train, "--threads", "1"])
            two = run([*train, "--threads", "2"])
            cells = [f"{one[0]:.1f}", f"{two[0]:.1f}", f"{one[1]:.0f}"]
            for peer in (crfsuite, wapiti):
                other = os.path.join(folder, "other")
                seconds, megabytes, _ = run([*own, peer.__name__, path, str(number), other])
                cells += [f"{seconds:.1f}", f"{megabytes:.0f}"]
            print("|", " | ".join([name, *cells]), "|", flush=True)
        path = os.path.join(corpora, TASKS[0][1])
        run([PROGRAM, "train", path, *TASKS[0][2], "--model", model])
        text = open(path, encoding="utf-8").read().strip() + "\n\n"
        tokens = sum(1 for line in text.splitlines() if line)
        many = os.path.join(folder, "many")
        with open(many, "w", encoding="utf-8") as out:
            out.writelines([text] * (TOKENS // tokens + 1))
        total = (TOKENS // tokens + 1) * tokens
        for threads in "12":
            seconds, megabytes, _ = run([PROGRAM, "tag", model, many, "--threads", threads],
                                        os.path.join(folder, "tagged"))
            print(f"\ntagging {total} tokens of Dutch news, threads: {threads}; {seconds:.1f} s, "
                  f"{1e-6 * total / seconds:.2f} million tokens per second, {megabytes:.0f} MB")
        print(f"\none request with a sentence to `serve`, median: {request(model):.2f} ms")


if __name__ == "__main__":
    if len(sys.argv) == 5:
        peer, path, task, model = sys.argv[1:]
        {"crfsuite": crfsuite, "wapiti": wapiti}[peer](path, TASKS[int(task)][3], model)
    else:
        main()
