#!/usr/bin/env bash
# Trains the same models with two builds of dropchain and compares models, logs (without seconds)
# and tagged text byte by byte: models.sh BEFORE AFTER CORPORA
set -euo pipefail
before=$(realpath "$1") after=$(realpath "$2") corpora=$(realpath "$3")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$corpora"
head -3000 conll2000/train.txt >"$out/head.txt"

run() { # name, then arguments of train
  local name=$1
  shift
  "$program" train "$@" --quiet --model "$name.model" --log "$name.log" 2>"$name.err"
  sed -Ei 's/"seconds":[0-9.e-]+/"seconds":0/' "$name.log"
}

all() {
  program=$1 to=$2
  local head=../head.txt chunks=$corpora/conll2000 ewt=$corpora/ewt wnut=$corpora/wnut17
  local spanish=$corpora/conll2002-esp
  mkdir "$out/$to" && cd "$out/$to"
  run chunks "$chunks/train.txt" --template chunk --max-iterations 40
  run chunks-l2 "$chunks/train.txt" --template chunk --max-iterations 30 --states observed \
    --boundary off --dropout 0 --l2 1 --threads 1
  run names "$wnut/train.conll" --dev "$wnut/dev.conll" --template ner --max-iterations 60 \
    --patience 10
  run pos "$ewt/train.conllu" --dev "$ewt/dev.conllu" --label upos --template pos \
    --max-iterations 30
  run l1 "$ewt/dev.conllu" --label xpos --template pos --max-iterations 30 --l1 0.3 \
    --states observed
  run spanish "$spanish/esp.train" --dev "$spanish/esp.testa" --template ner --dropout 0 \
    --max-iterations 25
  run edges "$wnut/dev.conll" --template ner-finkel-edges --max-iterations 25 --scheme bioes
  run edges-observed "$wnut/dev.conll" --template ner-finkel-edges --max-iterations 25 \
    --states observed --precision f64
  run message $head --template minimal --gradient message --max-iterations 30 --precision f64
  run window $head --template chunk --gradient window=2 --max-iterations 30
  run local $head --template chunk --gradient local --max-iterations 30
  run sampled $head --template chunk --noise monte-carlo --samples 2 --seed 7 \
    --max-iterations 26 --states observed
  run sampled-edges "$wnut/dev.conll" --template ner-finkel-edges --noise monte-carlo \
    --samples 2 --max-iterations 24 --collapse off
  run additive $head --template chunk --noise additive --dropout 0.01 --max-iterations 30
  run gaussian $head --template chunk --noise gaussian --dropout 0.3 --max-iterations 30 --order 0
  run unlabeled "$wnut/dev.conll" --template ner --max-iterations 30 --discover --min-count 2 \
    --prune 0.001 --unlabeled "$wnut/test.conll"
  "$program" tune "$wnut/dev.conll" --folds 3 --template minimal --max-iterations 20 --quiet \
    --model tune.model >/dev/null
  "$program" tag names.model "$wnut/test.conll" --format conll --marginals >names.tag
  "$program" tag chunks.model "$chunks/test.txt" --format conll --nbest 3 >chunks.tag
  "$program" eval pos.model "$ewt/test.conllu" --label upos --json >pos.eval
  rm -- *.err
  md5sum -- * >"$out/$to.md5"
}

all "$before" before
all "$after" after
diff "$out/before.md5" "$out/after.md5"
echo "$(wc -l <"$out/after.md5") files are identical"
