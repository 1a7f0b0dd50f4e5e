#!/bin/bash
# Tags a stream of tokens that are all different, and prints the resident memory of `tag` over time
# as CSV: seconds, tokens tagged, kilobytes. Fails if memory grows after the first tenth.
#
#   unique_words.sh PROGRAM [MILLIONS] [TEMPLATE]
set -euo pipefail
program=$(realpath "$1")
millions=${2:-50}
template=${3:-ner}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sample=$(dirname "$0")/../../corpora/sample
"$program" train "$sample/train.conll" --columns word,upos,ner --template "$template" \
  --max-iterations 30 --model "$folder/m" --quiet

# Prints $1 million words of pseudo-random letters and a number, ten to a line.
words() {
  awk -v count="$1" 'BEGIN {
    for (i = 0; i < count * 100000; i++) {
      line = ""
      for (j = 0; j < 10; j++) {
        n++
        x = (n * 7919) % 1000003
        line = line sprintf("%c%c%c%xq%d ", 65 + x % 26, 97 + n % 26, 97 + x % 25, x, n)
      }
      print line
    }
  }'
}

mkfifo "$folder/in" "$folder/out"
words "$millions" > "$folder/in" &
awk -v file="$folder/tagged" 'NF { n++; if (n % 100000 == 0) { print n > file; close(file) } }
  END { print n > file }' < "$folder/out" &
reader=$!
"$program" tag "$folder/m" --format text < "$folder/in" > "$folder/out" &
tag=$!
started=$SECONDS
echo "seconds,tokens,kilobytes"
while kill -0 "$tag" 2> /dev/null; do
  memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$tag/status" 2> /dev/null || true)
  tagged=$(cat "$folder/tagged" 2> /dev/null || true)
  [ -n "$memory" ] && echo "$((SECONDS - started)),${tagged:-0},$memory" | tee -a "$folder/log"
  sleep "${INTERVAL:-1}"
done
wait "$tag"
wait "$reader"
echo "tokens tagged: $(cat "$folder/tagged")"
awk -F, -v millions="$millions" '
  $2 < millions * 100000 { next }
  !first { first = $3 }
  { last = $3; if ($3 > most) most = $3 }
  END {
    printf "after a tenth: %d kB; at the end: %d kB; at most: %d kB\n", first, last, most
    exit last > first + 8192
  }' "$folder/log"
