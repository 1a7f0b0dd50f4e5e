#!/bin/sh
# Windows of documents on development data: windows.sh PROGRAM CORPORA > table.txt
program=$1 corpora=$2
model=$(mktemp)
trap 'rm -f "$model"' EXIT

# corpus, training file, development file, template, rule, window
run() {
  score=$("$program" train "$corpora/$2" --dev "$corpora/$3" --columns word,pos,ner \
    --template "$4" --document "$5" --document-window "$6" --model "$model" --force 2>&1 |
    sed -n 's/.*kept iteration [0-9]*: F1 \([0-9.]*\).*/\1/p' | tail -n 1)
  echo "$1 $4 $5 $6 $score"
}

for window in 300 1000 3000 1000000; do
  run Spanish conll2002-esp/esp.train conll2002-esp/esp.testa ner-document file $window
done
for window in 300 3000; do
  run Dutch conll2002-ned/ned.train conll2002-ned/ned.testa ner-document marks $window
done
run Dutch conll2002-ned/ned.train conll2002-ned/ned.testa ner-document file 1000000
run Spanish conll2002-esp/esp.train conll2002-esp/esp.testa ner-two-passes file 1000000
run Dutch conll2002-ned/ned.train conll2002-ned/ned.testa ner-two-passes file 1000000
