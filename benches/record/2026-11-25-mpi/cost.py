"""What an evaluation costs by token and by weight.

Trains on a corpus, and on two copies of it, which have the same weights.

    python3 cost.py DROPCHAIN CORPORA > cost.md
"""

import json
import pathlib
import subprocess
import sys
import tempfile

dropchain, corpora = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
folder = pathlib.Path(tempfile.mkdtemp())
text = pathlib.Path(f"{corpora}/conll2000/train.txt").read_text()
print("| copies | tokens | weights | ms per evaluation |\n|---:|---:|---:|---:|")
points = []
for copies in [1, 2]:
    (folder / "train.txt").write_text((text.rstrip("\n") + "\n\n") * copies)
    options = "--template chunk --dropout 0 --threads 1 --max-iterations 20 --quiet --force"
    times = []
    for _ in range(3):
        files = ["--model", "m", "--log", "log"]
        subprocess.run(
            [dropchain, "train", "train.txt", *options.split(), *files], cwd=folder, check=True
        )
        log = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
        iterations = [line for line in log if line["event"] == "iteration"]
        first, last = iterations[4], iterations[-1]
        evaluations = last["evaluations"] - first["evaluations"]
        times.append(1e3 * (last["seconds"] - first["seconds"]) / evaluations)
    time, tokens, weights = sorted(times)[1], log[0]["tokens"], log[0]["weights"]
    points.append((tokens, time))
    print(f"| {copies} | {tokens} | {weights} | {time:.1f} |")
(once, time), (twice, longer) = points
by_token = (longer - time) / (twice - once)
by_weight = (time - once * by_token) / weights
print(f"\n{1e3 * by_token:.2f} µs per token and {1e6 * by_weight:.1f} ns per weight")
