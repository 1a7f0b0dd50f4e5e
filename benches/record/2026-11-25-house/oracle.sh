#!/usr/bin/env bash
# Runs one build of dropchain on heads of the corpora, and writes what must not change when the
# program is restructured: oracle.sh PROGRAM CORPORA OUT [MPI_PROGRAM] [PYTHON]
#
# OUT/NAME.iterations, .weights, .tags, .json and .scores are the results, OUT/sums.md5 their
# checksums, which are compared with those in oracle.md5. An MPI_PROGRAM or a PYTHON of '' or '-' is
# left out. OUT/runs has models, logs and texts of errors.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "$1") corpora=$(realpath "$2") out=$(realpath -m "$3")
mpi=${4:--} python=${5:--}
export LC_ALL=C PYTHONHASHSEED=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# ---- What may be renamed: arguments of the program, and keys of its log and of its JSON ----

mpirun=(mpirun --oversubscribe --bind-to none)
train=(train) classify=(classify train --penalize-bias) regress=(regress train)
tag=(tag) eval=(eval) inspect=(inspect --json --top 100000000)
tag_nbest=(--nbest 3) tag_marginals=(--marginals) tag_json=(--output jsonl)
tag_columns=(--output conll)
classify_predict=(classify predict --output jsonl) classify_eval=(classify eval --json)
classify_inspect=(classify inspect --json --top 100000000)
regress_predict=(regress predict --output jsonl) regress_eval=(regress eval --json)
regress_inspect=(regress inspect --json --top 100000000)
# The names of the numbers of an iteration in the log, in the order of NAME.iterations.
export ITERATION="iteration objective log_likelihood dropout l2 l1 gradient_norm evaluations nonzero
  learning_rate dev_f1 dev_accuracy recall_bias"
# The names of the results of a configuration of `tune`.
export FOUND="number mean_f1 mean_accuracy standard_error fold_scores best_iteration iterations
  recall_bias objective"

# run NAME TEST [ARGUMENTS OF train]: trains, then tags and scores TEST (- for neither).
runs() {
  # Batch training: engines, noises, penalties, orders, templates.
  run chunks chunks-test.txt chunks.txt --template chunk --max-iterations 25
  run chunks-l2 chunks-test.txt chunks.txt --template chunk --max-iterations 20 --states observed \
    --boundary off --dropout 0 --l2 1 --threads 1
  run names names-test.conll names.conll --dev names-dev.conll --template ner --max-iterations 40 \
    --patience 10
  run pos tags-dev.conllu tags.conllu --dev tags-dev.conllu --label upos --template pos \
    --max-iterations 20
  run l1 - tags.conllu --label xpos --template pos --max-iterations 20 --l1 0.3 --states observed
  run spanish esp.testa esp.train --dev esp.testa --template ner --dropout 0 --max-iterations 20
  run edges names-test.conll names-dev.conll --template ner-finkel-edges --max-iterations 22 \
    --scheme bioes
  run edges-observed - names.conll --template ner-finkel-edges --max-iterations 22 \
    --states observed --precision f64
  run message chunks-test.txt chunks.txt --template minimal --gradient message \
    --max-iterations 25 --precision f64
  run window - chunks.txt --template chunk --gradient window=2 --max-iterations 25 \
    --states observed
  run local - chunks.txt --template chunk --gradient local --max-iterations 25 --states observed
  run sampled - chunks.txt --template chunk --noise monte-carlo=2 --seed 7 \
    --max-iterations 24 --states observed
  run sampled-edges - names-dev.conll --template ner-finkel-edges --noise monte-carlo=2 \
    --max-iterations 22
  run additive - chunks.txt --template minimal --noise additive --dropout 0.01 \
    --max-iterations 25
  run gaussian chunks-test.txt chunks.txt --template minimal --noise gaussian --dropout 0.3 \
    --max-iterations 25 --order 0
  run unlabeled names-test.conll names-dev.conll --template ner --max-iterations 25 \
    --min-count 2 --prune 0.001 --unlabeled names-test.conll
  run half chunks-test.txt chunks.txt --template minimal --precision f16 --max-iterations 15
  run caseless names-test.conll names.conll --template ner --caseless --max-iterations 15 \
    --states observed
  run lists names-test.conll names.conll --template ner --gazetteer list.txt --clusters text.txt \
    --max-iterations 15 --states observed

  # Online learners, and other starts.
  run sgd chunks-test.txt chunks.txt --algorithm sgd --template minimal --max-iterations 12
  run sgd-plain - chunks.txt --algorithm sgd --template minimal --max-iterations 8 --dropout 0
  run sgd-sampled - chunks.txt --algorithm sgd --template minimal --max-iterations 8 \
    --noise monte-carlo --warm-up 2
  run ap chunks-test.txt chunks.txt --algorithm ap --template chunk --max-iterations 6 \
    --states observed
  run pa names-test.conll names.conll --algorithm pa --template ner --max-iterations 6 \
    --dev names-dev.conll --precision f64
  run arow names-test.conll names.conll --algorithm arow --template ner --max-iterations 6 \
    --precision f64
  run online-start chunks-test.txt chunks.txt --warm-start online --template chunk \
    --max-iterations 16 --states observed
  run init names-test.conll names-dev.conll --init names.model --max-iterations 8
  run towards names-test.conll names-dev.conll --towards names.model --l2 1 --max-iterations 15
  run towards-sgd - names-dev.conll --towards names.model --algorithm sgd --max-iterations 5

  # Labels that are not known, two passes, documents, other formats, what limits memory.
  run partial chunks-test.txt partial.txt --partial-labels --template minimal --max-iterations 25
  run partial-ap - partial.txt --partial-labels --template minimal --algorithm ap \
    --max-iterations 5
  run two-passes names-test.conll names.conll --dev names-dev.conll --template ner-two-passes \
    --max-iterations 25
  run documents esp.testa esp.train --template ner-document --document marks \
    --max-iterations 15 --states observed
  run stopped - chunks.txt --template minimal --max-iterations 12 --checkpoint c.checkpoint \
    --checkpoint-every 12
  run resumed - chunks.txt --template minimal --max-iterations 20 --checkpoint c.checkpoint \
    --checkpoint-every 12 --resume

  # Threads: more text, so that it is divided.
  run threads-1 - wide.txt --template chunk --states observed --max-iterations 24 --threads 1
  run threads-2 - wide.txt --template chunk --states observed --max-iterations 24 --threads 2
  [ "$mpi" = - ] || for ranks in 1 2 3; do
    run_ranks $ranks "mpi-$ranks" - wide.txt --template chunk --states observed \
      --max-iterations 24 --threads 1
  done

  # Documents and numbers.
  run_classes softmax reviews-test.tsv reviews.tsv --max-iterations 20
  run_classes softmax-plain reviews-test.tsv reviews.tsv --dropout 0 --max-iterations 20
  run_classes softmax-shared reviews-test.tsv reviews.tsv --masks inputs \
    --dev reviews-test.tsv --max-iterations 20
  run_classes softmax-gaussian reviews-test.tsv reviews.tsv --masks inputs \
    --noise gaussian-scores --max-iterations 15
  run_classes informative - reviews.tsv --dropout 0 --l2-informativeness 0.1 --max-iterations 15
  run_classes logistic reviews-test.tsv reviews.tsv --loss logistic
  run_classes logistic-plain - reviews.tsv --loss logistic --dropout 0
  run_classes hinge reviews-test.tsv reviews.tsv --loss hinge --dropout 0.5
  run_classes hinge-plain - reviews.tsv --loss hinge --dropout 0 --l2 1
  run_classes squared - reviews.tsv --loss squared
  run_classes hidden reviews-test.tsv reviews.tsv --loss hinge --hidden 8 --max-iterations 20
  run_classes hidden-plain - reviews.tsv --loss logistic --hidden 4 --dropout 0 \
    --max-iterations 20
  run_classes sources sources.tsv sources.tsv --max-iterations 20 --chars 3..4 --tf log
  run_classes sources-hinge sources.tsv sources.tsv --loss hinge
  run_classes sources-rest sources.tsv sources.tsv --multiclass one-vs-rest --max-iterations 15
  run_classes classes-sampled - reviews.tsv --noise monte-carlo --samples 2 --max-iterations 12
  local table=(--label y --columns "a,b,c,d" --categories town)
  run_numbers ridge numbers.csv numbers.csv "${table[@]}" --l2 2
  run_numbers lasso numbers.csv numbers.csv "${table[@]}" --l2 0 --l1 20
  run_numbers noisy-numbers numbers.csv numbers.csv "${table[@]}" --l2 0.1 --dropout 0.2 \
    --standardize
  run_numbers elastic numbers.csv numbers.csv "${table[@]}" --l2 1 --l1 2
  run_numbers poisson counts.csv counts.csv "${table[@]}" --loss poisson
  run_numbers insensitive numbers.csv numbers.csv "${table[@]}" --loss insensitive --l2 0.01 \
    --dropout 0.1

  # Searches, explanations, known labels, clusters.
  other tune found tune names-dev.conll --folds 3 --template minimal --max-iterations 12 --quiet \
    --model tune.model --json
  other tune-classes table classify tune reviews.tsv --folds 3 --max-iterations 10 --quiet \
    --model tune-classes.model
  touch tune-classes.classes
  other explain explain explain names.model names-test.conll --output json --all
  other forced lines tag chunks.model partial.txt --forced label "${tag_json[@]}"
  other clusters table cluster text.txt --clusters 20 --output clusters.paths --quiet
}

# ---- Everything below should stay as it is ----

# Says why a run failed; the others go on.
fail() {
  echo "failed: $1: $(tail -n 1 "$1.err")" >&2
  touch failed
  return 1
}

# other NAME KIND [ARGUMENTS]: keeps what another command prints.
other() {
  local name=$1 kind=$2
  shift 2
  "$program" "$@" >"$name.$kind" 2>"$name.err" || fail "$name" || rm -f "$name.$kind"
}

run() {
  local name=$1 test=$2
  shift 2
  "$program" "${train[@]}" "$@" --quiet --model "$name.model" --log "$name.log" \
    2>"$name.err" || fail "$name" || return 0
  results "$name" "$test"
}

run_ranks() {
  local ranks=$1 name=$2 test=$3
  shift 3
  "${mpirun[@]}" -n "$ranks" "$mpi" "${train[@]}" "$@" --quiet --model "$name.model" \
    --log "$name.log" 2>"$name.err" || fail "$name" || return 0
  results "$name" "$test"
}

results() {
  local name=$1 test=$2
  [ "$test" != - ] || return 0
  "$program" "${tag[@]}" "$name.model" "$test" "${tag_columns[@]}" "${tag_marginals[@]}" \
    >"$out/$name.tags" 2>>"$name.err" || fail "$name" || true
  "$program" "${tag[@]}" "$name.model" "$test" "${tag_json[@]}" "${tag_marginals[@]}" \
    "${tag_nbest[@]}" >"$name.lines" 2>>"$name.err" || fail "$name" || true
  "$program" "${eval[@]}" "$name.model" "$test" --json >"$name.eval" 2>>"$name.err" ||
    fail "$name" || true
}

run_classes() {
  local name=$1 test=$2
  shift 2
  "$program" "${classify[@]}" "$@" --quiet --model "$name.model" --log "$name.log" \
    2>"$name.err" || fail "$name" || return 0
  touch "$name.classes"
  [ "$test" != - ] || return 0
  "$program" "${classify_predict[@]}" "$name.model" --format labeled "$test" \
    >"$name.lines" 2>>"$name.err" || fail "$name" || true
  "$program" "${classify_eval[@]}" "$name.model" "$test" >"$name.eval" 2>>"$name.err" ||
    fail "$name" || true
}

run_numbers() {
  local name=$1 test=$2
  shift 2
  "$program" "${regress[@]}" "$@" --quiet --model "$name.model" 2>"$name.err" ||
    fail "$name" || return 0
  "$program" "${regress_predict[@]}" "$name.model" "$test" >"$name.lines" 2>>"$name.err" ||
    fail "$name" || true
  "$program" "${regress_eval[@]}" "$name.model" "$test" >"$name.eval" 2>>"$name.err" ||
    fail "$name" || true
  touch "$name.numbers"
}

texts() {
  head -3000 "$corpora/conll2000/train.txt" >chunks.txt
  head -20000 "$corpora/conll2000/train.txt" >wide.txt
  head -1000 "$corpora/conll2000/test.txt" >chunks-test.txt
  head -3000 "$corpora/wnut17/train.conll" >names.conll
  head -1500 "$corpora/wnut17/dev.conll" >names-dev.conll
  head -1000 "$corpora/wnut17/test.conll" >names-test.conll
  head -2500 "$corpora/ewt/train.conllu" >tags.conllu
  head -1000 "$corpora/ewt/dev.conllu" >tags-dev.conllu
  head -3000 "$corpora/conll2002-esp/esp.train" >esp.train
  head -1000 "$corpora/conll2002-esp/esp.testa" >esp.testa
  # In four of five sentences every other label is unknown.
  awk 'NF == 0 { sentence++; print; next }
    sentence % 5 && NR % 2 { $NF = NR % 7 || $NF == "O" ? "_" : $NF "|O" }
    { print }' chunks.txt >partial.txt
  awk 'NF == 2 && $2 ~ /^B-/ && NR % 3 == 0 { print $1 }' names-dev.conll >list.txt
  awk 'NF { printf "%s ", $1; next } { print "" }' names.conll >text.txt
  for class in pos neg; do
    sed "s/^/$class\t/" "$corpora/rt-polarity/rt-polarity.$class" >"$class.tsv"
  done
  { head -500 pos.tsv; head -500 neg.tsv; } >reviews.tsv
  { tail -150 pos.tsv; tail -150 neg.tsv; } >reviews-test.tsv
  for source in chunks.txt names.conll esp.train; do
    awk -v class="${source%.*}" 'NF { text = text " " $1; next }
      text { print class "\t" text; text = "" }' "$source"
  done >sources.tsv
  # Numbers of a multiplicative congruential generator.
  for kind in numbers counts; do
    awk -v kind=$kind 'function random() { s = s * 16807 % 2147483647; return s / 2147483647 }
      BEGIN {
        s = 1
        print "a,b,c,d,town,y"
        for (i = 0; i < 400; i++) {
          a = random() * 2 - 1; b = random() * 2 - 1; c = random() * 2 - 1; d = random() * 2 - 1
          town = int(random() * 5)
          y = 3 * a - 2 * b * c + town / 2 + random()
          if (kind == "counts") y = y < 0 ? 0 : int(y)
          printf "%.3f,%.3f,%.3f,%.3f,t%d,%.4f\n", a, b, c, d, town, y
        }
      }' >$kind.csv
  done
}

# canonical.py KIND IN OUT: what is compared of a log or of JSON.
canonical_source() {
  cat <<'PYTHON'
import json, os, sys

kind, source, target = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    if kind in ("iterations", "lines"):
        lines = [json.loads(line) for line in file]
    else:
        document = json.load(file)


def flat(value, path=""):
    """Every leaf with its path; objects in the order of their keys."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from flat(value[key], f"{path}/{key}")
    elif isinstance(value, list):
        for i, element in enumerate(value):
            yield from flat(element, f"{path}/{i}")
    else:
        yield f"{path}\t{value!r}"


def iterations():
    names = os.environ["ITERATION"].split()
    for event in lines:
        if event["event"] == "iteration":
            numbers = [event.get(name) for name in names]
            yield " ".join("-" if number is None else repr(number) for number in numbers)
        elif event["event"] == "end":
            best, bias = event["best_iteration"], event.get("recall_bias", 0.0)
            yield f"best {best} of {event['iterations']}, bias {bias!r}"


def weights():
    for label, entry in document.get("labels", {}).items():
        yield f"start\t{label}\t{entry['start']!r}"
        yield f"end\t{label}\t{entry['end']!r}"
        for to, weight in entry["transitions"].items():
            yield f"transition {label}\t{to}\t{weight!r}"
        for entry in entry["attributes"]:
            yield f"{entry['attribute']}\t{label}\t{entry['weight']!r}"
    for edge in document.get("edges", []):
        yield f"{edge['attribute']}\t{edge['from']} {edge['to']}\t{edge['weight']!r}"
    for label, entry in document.get("classes", {}).items():
        yield f"bias\t{label}\t{entry['bias']!r}"
        for feature in entry["features"]:
            yield f"{feature['feature']}\t{label}\t{feature['weight']!r}"
    for i, unit in enumerate(document.get("hidden_units", [])):
        yield f"hidden {i}\t{unit['class']}\t{unit['weight']!r}"
        yield f"bias\thidden {i}\t{unit['bias']!r}"
        for feature in unit["features"]:
            yield f"{feature['feature']}\thidden {i}\t{feature['weight']!r}"
    if "weights" in document and isinstance(document["weights"], list):
        yield f"bias\t\t{document['bias']!r}"
        for feature in document["weights"]:
            yield f"{feature['feature']}\t\t{feature['weight']!r}"


def tagged():
    kept = ("label", "labels", "probability", "probabilities", "marginals", "nbest", "value")
    for i, line in enumerate(lines):
        yield from flat({key: line[key] for key in kept if key in line}, str(i))


if kind == "weights":
    result = sorted(weights())
elif kind == "iterations":
    result = iterations()
elif kind == "lines":
    result = tagged()
elif kind == "found":
    kept = os.environ["FOUND"].split()
    configurations = document["configurations"]
    result = flat([{key: c[key] for key in kept if key in c} for c in configurations])
else:
    result = flat(document)
with open(target, "w", encoding="utf-8") as file:
    file.writelines(line + "\n" for line in result)
PYTHON
}

# python.py OUT: the classes that have the names of other packages, and documents.
python_source() {
  cat <<'PYTHON'
import os, sys

from dropchain import pycrfsuite
from dropchain.sklearn import CRF

out = sys.argv[1]
X, Y = [[]], [[]]
for line in open("names.conll", encoding="utf-8"):
    if line.strip():
        word, label = line.rstrip("\n").split("\t")
        X[-1].append(word)
        Y[-1].append(label)
    elif X[-1]:
        X.append([])
        Y.append([])
X, Y = [x for x in X if x], [y for y in Y if y]
X = [[{"word": w.lower(), "capital": w[0].isupper(), "suffix": w[-3:], "length": len(w) / 10,
       "near": {"before": x[i - 1] if i else "^"}} for i, w in enumerate(x)] for x in X]
cases = {
    "lbfgs": {"c1": 0.05, "c2": 0.1, "max_iterations": 20},
    "dense": {"c2": 0.2, "max_iterations": 15, "all_possible_states": True,
              "all_possible_transitions": True},
    "rare": {"min_freq": 2, "max_iterations": 15},
    "l2sgd": {"algorithm": "l2sgd", "max_iterations": 6},
    "ap": {"algorithm": "ap", "max_iterations": 6},
    "pa": {"algorithm": "pa", "max_iterations": 6},
    "arow": {"algorithm": "arow", "max_iterations": 6},
}


def write(name, lines):
    with open(os.path.join(out, name), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def features(states, transitions):
    lines = [f"{attribute}\t{label}\t{weight!r}" for (attribute, label), weight in states.items()]
    lines += [f"transition {a}\t{b}\t{weight!r}" for (a, b), weight in transitions.items()]
    return sorted(lines)


for name, parameters in cases.items():
    crf = CRF(**parameters).fit(X[:-20], Y[:-20])
    write(f"python-sklearn-{name}.weights", features(crf.state_features_, crf.transition_features_))
    marginals = crf.predict_marginals(X[-20:])
    write(f"python-sklearn-{name}.tags", (
        f"{label} {sorted(token.items())!r}"
        for labels, tokens in zip(crf.predict(X[-20:]), marginals)
        for label, token in zip(labels, tokens)))

native = {
    "lbfgs": {"c1": 0.05, "c2": 0.1, "max_iterations": 20},
    "l2sgd": {"max_iterations": 6}, "ap": {"max_iterations": 6}, "pa": {"max_iterations": 6},
    "arow": {"max_iterations": 6},
}
for name, parameters in native.items():
    trainer = pycrfsuite.Trainer(name, parameters, verbose=False)
    for i, (x, y) in enumerate(zip(X, Y)):
        trainer.append(x, y, int(i % 5 == 4))
    trainer.train(f"python-{name}.model", 1)
    kept = ("num", "loss", "feature_norm", "error_norm", "active_features", "avg_precision",
            "avg_recall", "avg_f1", "item_accuracy_float", "instance_accuracy_float")
    # Six digits, as the log has them; shares of items have all.
    write(f"python-pycrfsuite-{name}.iterations", (
        repr([(key, value if "_float" in key or isinstance(value, int) else round(value, 6))
              for key in kept if (value := iteration.get(key)) is not None])
        for iteration in trainer.logparser.iterations))
    tagger = pycrfsuite.Tagger()
    tagger.open(f"python-{name}.model")
    info = tagger.info()
    write(f"python-pycrfsuite-{name}.weights", features(info.state_features, info.transitions))
    lines = []
    for x in X[-20:]:
        labels = tagger.tag(x)
        lines += [f"{label} {tagger.marginal(label, i)!r}" for i, label in enumerate(labels)]
        lines.append(repr(tagger.probability(labels)))
    write(f"python-pycrfsuite-{name}.tags", lines)
PYTHON
}

# Writes what is compared of run $1.
extract() {
  local name=$1
  trap 'echo "failed: results of $name" >&2; touch failed' EXIT
  local show=("${inspect[@]}")
  if [ -e "$name.model" ]; then
    [ ! -e "$name.numbers" ] || show=("${regress_inspect[@]}")
    [ ! -e "$name.classes" ] || show=("${classify_inspect[@]}")
    "$program" "${show[@]}" "$name.model" >"$name.content"
    python3 canonical.py weights "$name.content" "$out/$name.weights"
    rm "$name.content"
  fi
  [ ! -e "$name.log" ] || python3 canonical.py iterations "$name.log" "$out/$name.iterations"
  [ ! -e "$name.lines" ] || python3 canonical.py lines "$name.lines" "$out/$name.json"
  [ ! -e "$name.eval" ] || python3 canonical.py json "$name.eval" "$out/$name.scores"
  [ ! -e "$name.found" ] || python3 canonical.py found "$name.found" "$out/$name.found"
  [ ! -e "$name.explain" ] || cp "$name.explain" "$out/$name.explain"
  [ ! -e "$name.paths" ] || cp "$name.paths" "$out/$name.paths"
  trap - EXIT
}

[ "$mpi" = - ] || [ -z "$mpi" ] || mpi=$(realpath "$mpi")
[ -n "$mpi" ] || mpi=-
if [ -e "$out" ] && [ ! -d "$out/runs" ]; then
  echo "$out: exists, and is not the output of this script" >&2
  exit 2
fi
rm -rf "$out"
mkdir -p "$out/runs"
cd "$out/runs"
texts
runs
canonical_source >canonical.py
export -f extract
export program out
export all_inspect="${inspect[*]}" all_classify="${classify_inspect[*]}" \
  all_regress="${regress_inspect[*]}"
find . -maxdepth 1 -regex '.*\.\(model\|found\|explain\|paths\|lines\)' -printf '%f\n' |
  sed 's/\.[a-z]*$//' | sort -u |
  xargs -P 2 -I NAME bash -c 'set -euo pipefail
    read -ra inspect <<<"$all_inspect"
    read -ra classify_inspect <<<"$all_classify"
    read -ra regress_inspect <<<"$all_regress"
    extract NAME' || true
if [ "$python" != - ] && [ -n "$python" ]; then
  python_source >python.py
  "$python" python.py "$out" 2>python.err || fail python || true
fi
cd "$out"
find . -maxdepth 1 -type f ! -name sums.md5 -printf '%f\n' | sort | xargs md5sum >sums.md5
echo "$(wc -l <sums.md5) results in $out"
[ -e "$here/oracle.md5" ] || exit 0
failed=0
[ ! -e runs/failed ] || failed=1
awk -v failed=$failed -v before="$here/oracle.md5" 'BEGIN { while ((getline line < before) > 0) {
    split(line, parts, "  "); sums[parts[2]] = parts[1] } }
  !($2 in sums) { print "new: " $2; next }
  sums[$2] == $1 { same++ }
  sums[$2] != $1 { print "differs: " $2; failed = 1 }
  { delete sums[$2] }
  END { for (name in sums) missing++
    print same + 0 " are those of oracle.md5, " missing + 0 " of it are missing"
    exit failed + 0 }' sums.md5
