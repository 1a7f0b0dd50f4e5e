#!/usr/bin/env bash
# Measures the errors of the approximate gradients along the training, of the noise term alone and
# of the whole gradient.
#
#   run.sh DROPCHAIN CORPORA
#
# DROPCHAIN is the absolute path of the program; CORPORA contains wnut17/ and ewt/. Tables go to
# standard output, JSON beside this file.
set -euo pipefail
dropchain=$1 corpora=$(readlink -f "$2")
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$corpora"

bench() { # NAME OPTIONS…
  local name=$1
  shift
  echo "== $name: $*"
  "$dropchain" bench gradients "$@" --dropout 0.5 --edge-dropout 0.5 --l2 0.02 --collapse off \
    --engines adjoint,reweighted,local,window=1,window=2 --repeat 2 --threads 1 --quiet \
    --json "$here/$name.json"
  echo
}

for iterations in 6 10 20; do
  bench "wnut17-$iterations" wnut17/train.conll --template ner-finkel --scheme io --limit 1000 \
    --weights "trained=$iterations"
  bench "ewt-$iterations" ewt/train.conllu --label upos --template pos-sancl --limit 1000 \
    --weights "trained=$iterations"
done
