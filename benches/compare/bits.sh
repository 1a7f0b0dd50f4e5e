#!/usr/bin/env bash
# Compares two builds of the program bit by bit, before and after a change that should change
# nothing: benches/compare/bits.sh OLD NEW CORPORA. Both train small models of every kind on heads
# of the corpora, tag, search and check; models, outputs and messages must be the same, but for
# seconds and times of files. Takes a minute per build.
set -euo pipefail
corpora=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir "$folder/programs"

# Runs a command of the program as NAME: run NAME ARGUMENT…
run() {
  local name=$1 code=0
  shift
  timeout 300 "$program" "$@" >"$name.out" 2>"$name.err" </dev/null || code=$?
  echo "exit code $code" >>"$name.err"
}

# Runs all commands with a build, in a folder: run_all old PROGRAM. Its name is in messages.
run_all() {
  mkdir "$folder/$1" "$folder/programs/$1"
  program=$folder/programs/$1/dropchain
  ln -s "$(realpath "$2")" "$program"
  pushd "$folder/$1" >/dev/null
  head -6000 "$corpora/conll2002-ned/ned.train" >t.conll
  head -2500 "$corpora/conll2002-ned/ned.testa" >d.conll
  head -6000 "$corpora/conll2000/train.txt" >c.txt
  head -4000 "$corpora/ewt/train.conllu" >e.conllu
  head -4000 "$corpora/wnut17/train.conll" >w.conll
  head -300 "$corpora/wnut17/unlabeled.txt" >u.txt
  for class in pos neg; do
    head -400 "$corpora/rt-polarity/rt-polarity.$class" | iconv -f latin1 -t utf8 |
      sed "s/^/$class\t/" >>r.tsv
  done
  local train=(train t.conll --quiet --max-iterations 12)
  run dev "${train[@]}" --dev d.conll -m dev.model
  run message "${train[@]}" --noise gaussian --gradient message -m message.model
  run window "${train[@]}" --gradient window=1 --collapse off -m window.model
  for noise in monte-carlo reweighted additive; do
    run "$noise" "${train[@]}" --noise "$noise" -m "$noise.model"
  done
  run l1 "${train[@]}" --l1 0.5 --dropout 0 -m l1.model
  for algorithm in ap arow sgd; do
    run "$algorithm" "${train[@]}" --algorithm "$algorithm" -m "$algorithm.model"
  done
  run unlabeled "${train[@]}" --unlabeled d.conll -m unlabeled.model
  run document "${train[@]}" --template ner-document -m document.model
  run passes "${train[@]}" --template ner-two-passes -m passes.model
  run order "${train[@]}" --order 0 -m order.model
  run observed "${train[@]}" --states observed -m observed.model
  run chunks train c.txt --quiet --max-iterations 12 -m chunks.model --threads 2
  for label in upos xpos; do
    run "$label" train e.conllu --label "$label" --quiet --max-iterations 8 -m "$label.model"
  done
  run init train w.conll --quiet --max-iterations 15 --init dev.model -m init.model
  run tune tune t.conll --dev d.conll --quiet --max-iterations 8 --l2 0.05,0.5 --json
  run cluster cluster u.txt t.conll --clusters 20 --output cluster.out
  run clusters train w.conll --quiet --max-iterations 8 --clusters u.txt -m clusters.model
  run jsonl tag dev.model d.conll --marginals --nbest 3 --output jsonl
  run spans tag dev.model u.txt --format text --output spans
  run documents tag document.model d.conll
  run eval eval dev.model d.conll --json
  run explain explain dev.model d.conll --output json
  run inspect inspect upos.model --json
  run check check t.conll --dev d.conll --json --suspicious 5 --inconsistent
  run convert convert e.conllu --output jsonl
  for noise in dropout monte-carlo gaussian-scores reweighted; do
    run "classes-$noise" classify train r.tsv -m "classes-$noise.model" --quiet --noise "$noise"
  done
  run classes classify predict classes-dropout.model r.tsv
  sed -i -E 's/[0-9.]+ s\b|"seconds": ?[0-9.e-]+|"modified": ?"[^"]*"//g' ./*.out ./*.err
  popd >/dev/null
}

run_all old "$1"
run_all new "$2"
diff -r "$folder/old" "$folder/new"
count() { find "$folder/new" -name "*.$1" | wc -l; }
echo "the same: $(count model) models, $(count out) outputs"
