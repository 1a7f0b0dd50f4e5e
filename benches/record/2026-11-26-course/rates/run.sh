#!/bin/sh
# Development scores with L2 alone and with dropout and a little L2. Writes one log per run; plot.py
# makes tables and plots of them.
#
#   sh run.sh PROGRAM CORPORA LOGS
set -eu
program=$1
ewt=$2/ewt
esp=$2/conll2002-esp
wnut=$2/wnut17
conll2000=$2/conll2000
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
  run ewt "$@" "$ewt/train.conllu" --dev "$ewt/dev.conllu" --label upos --template pos-sancl \
    --patience 80
}
spanish() {
  run esp "$@" "$esp/esp.train" --dev "$esp/esp.testa" --template ner-finkel
}
tweets() {
  run wnut17 "$@" "$wnut/train.conll" --dev "$wnut/dev.conll" --template ner-finkel --scheme io
}
# The first 3,000 training sentences.
small_pos() {
  run ewt-3000 "$@" "$logs/small.conllu" --dev "$ewt/dev.conllu" --label upos \
    --template pos-sancl --patience 80
}
awk -v RS= -v ORS='\n\n' 'NR <= 3000' "$ewt/train.conllu" >"$logs/small.conllu"

# dropchain's own templates.
own_pos() {
  run ewt-pos "$@" "$ewt/train.conllu" --dev "$ewt/dev.conllu" --label upos --template pos
}
own_spanish() {
  run esp-ner "$@" "$esp/esp.train" --dev "$esp/esp.testa" --template ner
}
own_tweets() {
  run wnut17-ner "$@" "$wnut/train.conll" --dev "$wnut/dev.conll" --template ner --scheme io
}
chunks() {
  run conll2000 "$@" "$logs/chunk.train" --format conll --dev "$logs/chunk.dev" --template chunk
}
# The last 936 training sentences are the development data.
awk -v RS= -v ORS='\n\n' -v last=8000 -v a="$logs/chunk.train" -v b="$logs/chunk.dev" \
  '{ print > (NR <= last ? a : b) }' "$conll2000/train.txt"

for l2 in 0.1 0.3 1 3; do tweets 0 0 $l2; done
for rates in "0.1 0.1" "0.3 0.3" "0.5 0.5" "0.1 0.6" "0.3 0.6" "0.5 0.6" "0.7 0.6" "0.3 0.8"; do
  tweets $rates 0.1
done
for l2 in 0.03 0.3; do tweets 0.3 0.6 $l2; done
for l2 in 0.3 0.5 1 2; do spanish 0 0 $l2; done
for rates in "0.3 0.3" "0.1 0.6" "0.3 0.6" "0.5 0.6" "0.3 0.8"; do spanish $rates 0.1; done
for l2 in 0.001 0.003 0.01 0.03; do pos 0 0 $l2; done
for rates in "0.3 0.3" "0.1 0.6" "0.2 0.6" "0.3 0.6" "0.4 0.6" "0.5 0.6" "0.3 0.7" "0.2 0.8" \
  "0.3 0.8" "0.4 0.8" "0.3 0.9"; do
  pos $rates 0.01
done
for l2 in 0.003 0.02 0.03 0.1; do pos 0.3 0.6 $l2; done
pos 0.3 0.8 0.03
for l2 in 0.001 0.003 0.01 0.03 0.1 0.3 1; do small_pos 0 0 $l2; done
for l2 in 0.01 0.1; do small_pos 0.3 0.6 $l2; done

for l2 in 0.1 0.3 1; do own_tweets 0 0 $l2; done
for rates in "0.3 0.3" "0.3 0.6"; do own_tweets $rates 0.1; done
for l2 in 0.3 0.5 1 2; do own_spanish 0 0 $l2; done
for rates in "0.3 0.3" "0.3 0.6"; do own_spanish $rates 0.1; done
for l2 in 0.03 0.1 0.3; do own_pos 0 0 $l2; done
for rates in "0.1 0.3" "0.3 0.6"; do own_pos $rates 0.1; done
own_pos 0.3 0.6 0.03
for l2 in 0.1 0.3 1; do chunks 0 0 $l2; done
for rates in "0.1 0.3" "0.3 0.3" "0.3 0.6"; do chunks $rates 0.1; done
