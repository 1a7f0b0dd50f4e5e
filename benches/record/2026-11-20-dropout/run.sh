#!/bin/sh
# Development scores with L2 alone and with dropout and a little L2: the table of docs/dropout.md.
#
#   sh run.sh PROGRAM CORPORA
set -eu
program=$1
corpora=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run() {
  echo "$1: $("$program" train "$@" --model "$scratch/model" 2>&1 | grep stopped)"
}

cd "$corpora"
for strength in 0.01 0.03 0.1 0.3; do
  run ewt/train.conllu --dev ewt/dev.conllu --template pos-sancl --dropout 0 --l2 $strength
done
run ewt/train.conllu --dev ewt/dev.conllu --template pos-sancl --dropout 0.3 --l2 0.02
run ewt/train.conllu --dev ewt/dev.conllu --template pos-sancl --dropout 0.5 --l2 0.02
spanish="conll2002-esp/esp.train --dev conll2002-esp/esp.testa --template ner-finkel"
for strength in 0.1 0.3 1; do
  run $spanish --dropout 0 --l2 $strength
done
run $spanish --dropout 0.3 --l2 0.02
run $spanish --dropout 0.5 --l2 0.05
tweets="wnut17/train.conll --dev wnut17/dev.conll --template ner-finkel"
run $tweets --dropout 0 --l2 0.1
run $tweets --dropout 0.2 --l2 0.02
