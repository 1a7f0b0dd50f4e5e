#!/bin/sh
# sh run.sh DROPCHAIN CORPORA: how long clusters take, and what they bring.
set -eu
program=$1 corpora=$2
templates=$(cd "$(dirname "$0")/../../../features" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
tweets=$corpora/wnut17/unlabeled.txt

for clusters in 100 256 500 1000; do
  echo "== W-NUT 2017, $clusters clusters"
  command time -f '%U s of processor time, %M KB' "$program" cluster "$tweets" "$corpora/wnut17/train.conll" \
    --clusters "$clusters" --output "wnut$clusters.txt" --quiet
done 2>&1

echo "== EWT, the first 1000 training sentences, 500 clusters of all of them and the tweets"
awk 'BEGIN { RS = ""; ORS = "\n\n" } NR <= 1000' "$corpora/ewt/train.conllu" >small.conllu
"$program" cluster "$corpora/ewt/train.conllu" "$tweets" --clusters 500 --output paths.txt --quiet
for position in -1 0 +1; do
  echo "cluster(\"paths.txt\", 4, 6, 10, 20)[$position]"
done | cat "$templates/pos.tpl" - >with.tpl
for template in "$templates/pos.tpl" with.tpl; do
  "$program" train small.conllu --dev "$corpora/ewt/dev.conllu" --template "$template" --model m --quiet
  "$program" tag m "$corpora/ewt/test.conllu" --output conllu >"$(basename "$template" .tpl).conllu"
done
"$program" compare "$corpora/ewt/test.conllu" pos.conllu with.conllu

echo "== W-NUT 2017, names, 1000 clusters"
for position in -1 0 +1; do
  echo "cluster(\"wnut1000.txt\", 4, 6, 10, 20)[$position]"
done | cat "$templates/ner.tpl" - >names.tpl
for template in "$templates/ner.tpl" names.tpl; do
  "$program" train "$corpora/wnut17/train.conll" --dev "$corpora/wnut17/dev.conll" --template "$template" \
    --model m --quiet
  "$program" tag m "$corpora/wnut17/test.conll" >"$(basename "$template" .tpl).conll"
done
"$program" compare "$corpora/wnut17/test.conll" ner.conll names.conll
