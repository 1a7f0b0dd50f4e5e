#!/usr/bin/env bash
# Measures the gradients of the noise term.
#
#   run.sh DROPCHAIN CORPORA
#
# DROPCHAIN is the absolute path of the program; CORPORA contains wnut17/ and ewt/. Tables go to
# standard output, JSON beside this file.
set -euo pipefail
dropchain=$1 corpora=$(readlink -f "$2")
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$corpora"

# The defaults at the time.
rates="--dropout 0.5 --edge-dropout 0.5 --l2 0.02"
bench() { # NAME OPTIONS…
  local name=$1
  shift
  echo "== $name: $*"
  # shellcheck disable=SC2086
  "$dropchain" bench gradients "$@" $rates --quiet --json "$here/$name.json"
  echo
}

names="wnut17/train.conll --template ner-finkel"
tags="ewt/train.conllu --label upos --template pos-sancl"
approximate="--engines adjoint,local,window=1,window=2,window=4"
# $names, $tags and $approximate are split into words.
# shellcheck disable=SC2086
{
  # On part of the corpora, because of the slowest engine.
  for weights in zero random trained; do
    bench "wnut17-600-$weights" $names --limit 600 --weights $weights --repeat 2
    bench "ewt-200-$weights" $tags --limit 200 --weights $weights --repeat 2
  done
  # On whole corpora.
  for weights in zero random trained; do
    bench "wnut17-$weights" $names --weights $weights --repeat 7 $approximate
    bench "ewt-$weights" $tags --weights $weights --repeat 5 $approximate
  done
  # Training: all engines on part of a corpus for a few iterations, the fast ones on all of it.
  bench wnut17-300-training $names --limit 300 --dev wnut17/dev.conll --repeat 1 \
    --train --max-iterations 12
  bench wnut17-training $names --dev wnut17/dev.conll --repeat 1 $approximate \
    --train --collapse on
}
# To the minimum.
cd "$here/../../../corpora/sample"
# shellcheck disable=SC2086
bench sample-training train.conll --columns word,upos,ner --template ner-finkel --dev dev.conll \
  --weights trained --repeat 1 $approximate --train --patience 1000
cd "$corpora"
rates="" # the defaults of 2026-11-21
since="--collapse on --train --repeat 1 $approximate --threads 1"
# shellcheck disable=SC2086
{
  bench ewt-3000-training $tags --limit 3000 --dev ewt/dev.conllu $since
  bench wnut17-io-training $names --scheme io --dev wnut17/dev.conll $since
}
