#!/bin/sh
# Trains and tests the models of the README's accuracy table. Strengths were chosen on development data
# (CoNLL-2000: the last 936 sentences of the training file, training on the others), never on the test files.
#
#   sh run.sh PROGRAM CORPORA > result.txt
set -eu
program=$1
corpora=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# name, test file, then the arguments of train
run() {
  name=$1 test=$2
  shift 2
  echo "== $name: train $*" | sed "s|$corpora/||g"
  "$program" train "$@" --quiet --model "$scratch/model" --log "$scratch/log"
  tail -n 1 "$scratch/log"
  "$program" eval "$scratch/model" "$test" | head -n 2
}

"$program" --version
c=$corpora
run "wnut17" "$c/wnut17/test.conll" "$c/wnut17/train.conll" --dev "$c/wnut17/dev.conll" --template ner --l2 1 --dropout 0
run "conll2002-esp" "$c/conll2002-esp/esp.testb" "$c/conll2002-esp/esp.train" --dev "$c/conll2002-esp/esp.testa" \
  --template ner --l2 1 --dropout 0
run "ewt upos" "$c/ewt/test.conllu" "$c/ewt/train.conllu" --dev "$c/ewt/dev.conllu" --template pos --l2 0.3 --dropout 0
run "conll2000" "$c/conll2000/test.txt" "$c/conll2000/train.txt" --template chunk --l2 0.3 --dropout 0
run "ewt xpos" "$c/ewt/test.conllu" "$c/ewt/train.conllu" --label xpos --dev "$c/ewt/dev.conllu" --template pos --l2 0.3 --dropout 0
