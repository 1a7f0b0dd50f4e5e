#!/usr/bin/env bash
# The search of docs/tuning.md on Spanish names: run.sh DROPCHAIN CONLL2002_ESP > output.txt
set -euo pipefail
dropchain=$(realpath "$1")
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
cd "$2"

show() {
  printf '\n$ dropchain %s\n' "$*"
  time "$dropchain" "$@" --model "$models/es.model" --quiet
}

exec 2>&1
TIMEFORMAT='CPU seconds: %U user, %S system'
show tune esp.train --dev esp.testa --template ner
show tune esp.train --dev esp.testa --template ner --first-rung 15
show train esp.train --dev esp.testa --template ner --log "$models/log.jsonl"
grep -o '"dev_f1":[0-9.]*' "$models/log.jsonl" | sort -t: -k2 -n | tail -1
