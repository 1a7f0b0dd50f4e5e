#!/usr/bin/env bash
# The commands of the README on the sample corpus: run.sh DROPCHAIN > output.txt
set -euo pipefail
dropchain=$(realpath "$1")
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
cd "$(dirname "${BASH_SOURCE[0]}")/../../../corpora/sample"
ner=$models/ner.model tuned=$models/tuned.model

show() {
  printf '\n$ %s\n' "${*//$models\//}" | sed "s|$dropchain|dropchain|"
  "$@" 2>&1 | sed "s|$models/||"
}

echo 'Ada Lovelace met Charles Babbage in London.' | show "$dropchain" demo
show "$dropchain" train train.conll --columns word,upos,ner --dev dev.conll --template ner \
  --model "$ner"
echo 'Ada Lovelace lived in London. She never saw Canada.' |
  show "$dropchain" tag "$ner" --output inline
echo 'Ada Lovelace lived in London.' | show "$dropchain" tag "$ner" --output jsonl
show "$dropchain" eval "$ner" test.conll
show "$dropchain" tune train.conll --columns word,upos,ner --folds 5 --template ner \
  --model "$tuned" --quiet
