"""F1 on esp.testa after three updates with 300 sentences each of a model of 1,000 sentences."""
import json, subprocess, sys, time
program, corpus = sys.argv[1:3]
text = open(f"{corpus}/esp.train", encoding="latin1").read().split("\n\n")
write = lambda name, part: open(name, "w").write("\n\n".join(part) + "\n\n")
write("dev.conll", open(f"{corpus}/esp.testa", encoding="latin1").read().split("\n\n"))
write("base.conll", text[:1000])
weeks = [f"week{i}.conll" for i in range(3)]
for i, week in enumerate(weeks):
    write(week, text[1000 + 300 * i : 1300 + 300 * i])
def run(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
def score(model):
    return 100 * json.loads(run("eval", model, "dev.conll", "--json", "--quiet"))["f1"]
run("train", "base.conll", "--model", "base.model", "--quiet")
print(f"base model: {score('base.model'):.2f}")
ways = {
    "init, new data": lambda old, i: [weeks[i], "--init", old],
    "towards, new data": lambda old, i: [weeks[i], "--towards", old],
    "towards, new data, L2 1": lambda old, i: [weeks[i], "--towards", old, "--l2", "1"],
    "init, all data": lambda old, i: ["base.conll", *weeks[: i + 1], "--init", old],
    "all anew": lambda old, i: ["base.conll", *weeks[: i + 1]],
}
for name, way in ways.items():
    old, scores, start = "base.model", [], time.process_time()
    seconds = 0
    for i in range(3):
        new, began = f"{len(name)}-{i}.model", time.time()
        run("train", *way(old, i), "--model", new, "--quiet")
        seconds += time.time() - began
        scores.append(score(new))
        old = new
    print(f"{name:25}", *(f"{s:.2f}" for s in scores), f"{seconds:.0f} s", flush=True)
