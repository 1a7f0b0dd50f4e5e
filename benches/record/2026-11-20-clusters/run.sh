#!/bin/sh
# sh run.sh DROPCHAIN CORPORA: the cost of clustering, and what clusters gain.
set -eu
program=$1 corpora=$2
templates=$(cd "$(dirname "$0")/../../../features" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
tweets=$corpora/wnut17/unlabeled.txt
wnut_train=$corpora/wnut17/train.conll
ewt_train=$corpora/ewt/train.conllu

# with_clusters TEMPLATE FILE: the shipped template and clusters of a token and its neighbors.
with_clusters() {
  cat "$templates/$1.tpl"
  for position in -1 0 +1; do
    echo "cluster(\"$2\", 4, 6, 10, 20)[$position]"
  done
}

for clusters in 100 256 500 1000; do
  echo "== W-NUT 2017, $clusters clusters"
  command time -f '%U s of processor time, %M KB' "$program" cluster "$tweets" "$wnut_train" \
    --clusters "$clusters" --output "wnut$clusters.txt" --quiet
done 2>&1

echo "== EWT, the first 1000 training sentences, 500 clusters of all of them and the tweets"
awk 'BEGIN { RS = ""; ORS = "\n\n" } NR <= 1000' "$ewt_train" >small.conllu
"$program" cluster "$ewt_train" "$tweets" --clusters 500 --output paths.txt --quiet
with_clusters pos paths.txt >with.tpl
for template in "$templates/pos.tpl" with.tpl; do
  "$program" train small.conllu --dev "$corpora/ewt/dev.conllu" --template "$template" \
    --model m --quiet
  "$program" tag m "$corpora/ewt/test.conllu" --output conllu \
    >"$(basename "$template" .tpl).conllu"
done
"$program" compare "$corpora/ewt/test.conllu" pos.conllu with.conllu

echo "== W-NUT 2017, names, 1000 clusters"
with_clusters ner wnut1000.txt >names.tpl
for template in "$templates/ner.tpl" names.tpl; do
  "$program" train "$wnut_train" --dev "$corpora/wnut17/dev.conll" --template "$template" \
    --model m --quiet
  "$program" tag m "$corpora/wnut17/test.conll" >"$(basename "$template" .tpl).conll"
done
"$program" compare "$corpora/wnut17/test.conll" ner.conll names.conll
