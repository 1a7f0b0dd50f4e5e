"""Many labels, before and after work by label pairs: python3 run.py BEFORE AFTER EWT > result.md

The growth with the number of labels alone: python3 run.py AFTER EWT > growth.md
The memory of two programs: python3 run.py --memory BEFORE AFTER EWT > memory.md

BEFORE and AFTER are programs, EWT is the folder of the corpus. The values of columns are joined in
the column of XPOS, since BEFORE has no joined labels. Processor seconds are those of one thread.
"""
import json
import os
import subprocess
import sys
import tempfile

KINDS = {
    "UPOS": lambda f: f[3],
    "XPOS": lambda f: f[4],
    "UPOS and FEATS": lambda f: f[3] + "~" + f[5],
    "UPOS, FEATS and DEPREL": lambda f: "~".join([f[3], f[5], f[7]]),
    "UPOS, FEATS and last letter": lambda f: "~".join([f[3], f[5], f[1].lower()[-1:]]),
    "UPOS, FEATS, last letter and length mod 3":
        lambda f: "~".join([f[3], f[5], f[1].lower()[-1:], str(len(f[1]) % 3)]),
}


def join(source, target, kind, most):
    labels, sentences = set(), 0
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                fields[4] = KINDS[kind](fields)
                labels.add(fields[4])
                out.write("\t".join(fields) + "\n")
            elif len(fields) == 1 and not line.startswith("#"):
                out.write(line)
                sentences += 1
                if sentences == most:
                    break
    return len(labels)


def train(program, folder, *arguments):
    log = os.path.join(folder, "log")
    command = [program, "train", os.path.join(folder, "train.conllu"), "--format", "conllu"]
    command += ["--label", "xpos", "--template", "pos-sancl", "--states", "observed", "--quiet"]
    command += ["--force", "--log", log, "--model", os.path.join(folder, "model"), *arguments]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    with open(log, encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    last = [event for event in events if event["event"] == "iteration"]
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1000,
        "iterations": last,
        "end": events[-1],
    }


def before_and_after(before, after, corpus, folder):
    columns = "labels | K | sentences | noise | program | evaluations | processor s | peak MB"
    print(f"| {columns} | objective |")
    print("|---|--:|--:|---|---|--:|--:|--:|--:|")
    cases = [("UPOS and FEATS", None, 2), ("UPOS, FEATS and DEPREL", 1000, 1)]
    for kind, most, iterations in cases:
        k = join(f"{corpus}/train.conllu", f"{folder}/train.conllu", kind, most)
        for noise in ["0", "0.3"]:
            for name, program in [("before", before), ("after", after)]:
                result = train(
                    program, folder, "--dropout", noise, "--edge-dropout", noise,
                    "--warm-up", "0", "--max-iterations", str(iterations), "--threads", "1",
                )
                last = result["iterations"][-1]
                print(
                    f"| {kind} | {k} | {most or 'all'} | {noise} | {name} | {last['evaluations']}"
                    f" | {result['cpu']:.1f} | {result['memory']:.0f} | {last['objective']!r} |",
                    flush=True,
                )


def growth(program, corpus, folder):
    print("\n| labels | K | noise | iterations | minutes, two threads | peak MB | dev accuracy |")
    print("|---|--:|---|--:|--:|--:|--:|")
    for kind in KINDS:
        k = join(f"{corpus}/train.conllu", f"{folder}/train.conllu", kind, None)
        join(f"{corpus}/dev.conllu", f"{folder}/dev.conllu", kind, None)
        noises = ["0", "0.3", "0.3, reweighted"]
        for noise in noises[:1] if k > 1000 else noises[:2] if k > 100 else noises:
            rate, _, engine = noise.partition(", ")
            result = train(
                program, folder, "--dropout", rate, "--dev", f"{folder}/dev.conllu",
                "--max-iterations", "30" if k > 1000 else "60", "--threads", "2",
                *(["--gradient", engine] if engine else []),
            )
            scores = [event.get("dev_accuracy") for event in result["iterations"]]
            best = max(score for score in scores if score is not None)
            print(
                f"| {kind} | {k} | {noise} | {len(scores)} | {result['end']['seconds'] / 60:.1f}"
                f" | {result['memory']:.0f} | {100 * best:.2f} |",
                flush=True,
            )


def memory(before, after, corpus, folder):
    print("| labels | K | noise | program | peak MB | processor s | objective after 8 iterations |")
    print("|---|--:|---|---|--:|--:|--:|")
    cases = [("XPOS", "0.3"), ("UPOS and FEATS", "0.3"), ("UPOS and FEATS", "0")]
    cases += [(kind, "0") for kind in list(KINDS)[3:]]
    for kind, noise in cases:
        k = join(f"{corpus}/train.conllu", f"{folder}/train.conllu", kind, None)
        join(f"{corpus}/dev.conllu", f"{folder}/dev.conllu", kind, None)
        for name, program in [("before", before), ("after", after)]:
            result = train(
                program, folder, "--dropout", noise, "--edge-dropout", noise, "--warm-up", "0",
                "--dev", f"{folder}/dev.conllu", "--max-iterations", "8", "--threads", "2",
            )
            print(
                f"| {kind} | {k} | {noise} | {name} | {result['memory']:.0f}"
                f" | {result['cpu']:.1f} | {result['iterations'][-1]['objective']!r} |",
                flush=True,
            )


def main():
    is_memory = "--memory" in sys.argv
    *before, after, corpus = [a for a in sys.argv[1:] if a != "--memory"]
    with tempfile.TemporaryDirectory() as folder:
        if is_memory:
            return memory(before[0], after, corpus, folder)
        if before:
            before_and_after(before[0], after, corpus, folder)
        growth(after, corpus, folder)


if __name__ == "__main__":
    main()
