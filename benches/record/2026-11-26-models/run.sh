#!/bin/sh
# Trains the models of docs/models.md, makes them small, and scores both on the test files:
#
#     run.sh PROGRAM CORPORA OUT > results.txt
set -eu
program=$(realpath "$1")
corpora=$(realpath "$2")
mkdir -p "$3"
cd "$3"

# one NAME TEST TRAINING-ARGUMENT...
one() {
    name=$1 test=$2
    shift 2
    start=$(date +%s.%N)
    "$program" train "$@" --model "$name.model" --quiet --force
    end=$(date +%s.%N)
    rm -f "$name.small.model"
    "$program" convert "$name.model" --model "$name.small.model" --precision f16 --prune 0.001 \
        2>/dev/null
    echo "$name seconds $(echo "$end - $start" | bc) size $(wc -c <"$name.model")" \
        "small $(wc -c <"$name.small.model")"
    for model in "$name.model" "$name.small.model"; do
        "$program" eval "$model" "$test" 2>/dev/null | grep '^accuracy'
    done
}

ewt=$corpora/ewt ned=$corpora/conll2002-ned/ned esp=$corpora/conll2002-esp/esp
one wnut "$corpora/wnut17/test.conll" "$corpora/wnut17/train.conll" \
    --dev "$corpora/wnut17/dev.conll" --dropout 0 --l2 0.1
one dutch "$ned.testb" "$ned.train" --dev "$ned.testa" --columns word,pos,ner
one spanish "$esp.testb" "$esp.train" --dev "$esp.testa" --columns word,pos,ner
one upos "$ewt/test.conllu" "$ewt/train.conllu" --dev "$ewt/dev.conllu" --label upos
one xpos "$ewt/test.conllu" "$ewt/train.conllu" --dev "$ewt/dev.conllu" --label xpos
one chunks "$corpora/conll2000/test.txt" "$corpora/conll2000/train.txt" \
    --dev 10% --columns word,pos,chunk --scheme bioes
