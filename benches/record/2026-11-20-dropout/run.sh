#!/bin/sh
# Development scores with L2 alone and with dropout and a little L2: one log for each run, for plot.py.
#
#   sh run.sh PROGRAM CORPORA LOGS
set -eu
program=$1
corpora=$2
logs=$3
mkdir -p "$logs"

# run NAME DROPOUT EDGE_DROPOUT L2 OPTIONS…
run() {
  name=$1 dropout=$2 edge=$3 l2=$4
  shift 4
  log="$logs/$name.$dropout.$edge.$l2.jsonl"
  test -s "$log" || "$program" train "$@" --dropout "$dropout" --edge-dropout "$edge" --l2 "$l2" \
    --model "$logs/model.$name" --log "$log" --quiet
}

pos() {
  run ewt "$@" "$corpora/ewt/train.conllu" --dev "$corpora/ewt/dev.conllu" --label upos \
    --template pos-sancl --patience 80
}
spanish() {
  run esp "$@" "$corpora/conll2002-esp/esp.train" --dev "$corpora/conll2002-esp/esp.testa" --template ner-finkel
}
tweets() {
  run wnut17 "$@" "$corpora/wnut17/train.conll" --dev "$corpora/wnut17/dev.conll" --template ner-finkel --scheme io
}

for l2 in 0.1 0.3 1 3; do tweets 0 0 $l2; done
for rates in "0.1 0.1" "0.3 0.3" "0.5 0.5" "0.1 0.6" "0.3 0.6" "0.5 0.6" "0.7 0.6" "0.3 0.8"; do tweets $rates 0.1; done
for l2 in 0.03 0.3; do tweets 0.3 0.6 $l2; done
for l2 in 0.3 0.5 1 2; do spanish 0 0 $l2; done
for rates in "0.3 0.3" "0.1 0.6" "0.3 0.6" "0.5 0.6" "0.3 0.8"; do spanish $rates 0.1; done
for l2 in 0.003 0.01 0.03; do pos 0 0 $l2; done
for rates in "0.3 0.3" "0.3 0.6" "0.3 0.8" "0.3 0.9" "0.1 0.6" "0.5 0.6" "0.4 0.8"; do pos $rates 0.01; done
pos 0.3 0.8 0.03
