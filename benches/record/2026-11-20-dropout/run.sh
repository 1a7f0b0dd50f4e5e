#!/bin/sh
# Development scores with L2 alone and with dropout and a little L2: one log for each run, for plot.py.
#
#   sh run.sh PROGRAM CORPORA LOGS
set -eu
program=$1
corpora=$2
logs=$3
mkdir -p "$logs"

# run NAME DROPOUT L2 OPTIONS…
run() {
  name=$1 dropout=$2 l2=$3
  shift 3
  "$program" train "$@" --dropout "$dropout" --l2 "$l2" --model "$logs/model" \
    --log "$logs/$name.$dropout.$l2.jsonl" --quiet
}

pos() { run ewt "$@" "$corpora/ewt/train.conllu" --dev "$corpora/ewt/dev.conllu" --label upos --template pos-sancl; }
spanish() {
  run esp "$@" "$corpora/conll2002-esp/esp.train" --dev "$corpora/conll2002-esp/esp.testa" --template ner-finkel
}
tweets() {
  run wnut17 "$@" "$corpora/wnut17/train.conll" --dev "$corpora/wnut17/dev.conll" --template ner-finkel --scheme io
}

for l2 in 0.003 0.01 0.03 0.1; do pos 0 $l2; done
for l2 in 0.003 0.01 0.03; do pos 0.3 $l2; done
for rate in 0.1 0.5 0.7; do pos $rate 0.01; done
for l2 in 0.3 0.5 1 2; do spanish 0 $l2; done
for l2 in 0.03 0.1 0.3; do spanish 0.3 $l2; done
for rate in 0.1 0.5 0.7; do spanish $rate 0.1; done
for l2 in 0.1 0.3 1 3; do tweets 0 $l2; done
for l2 in 0.03 0.1 0.3; do tweets 0.3 $l2; done
for rate in 0.1 0.5 0.7; do tweets $rate 0.1; done
