#!/bin/sh
# Measures `dropchain serve` with wrk (Debian package wrk), on the loopback device, and
# `dropchain tag` on the same text in comparison.
#
#   run.sh DROPCHAIN [SECONDS]
#
# Prints the tables of README.md. Trains a model on the sample corpus; SECONDS is the time of each
# of the runs, 10 by default.
set -eu
program=$(realpath "$1")
seconds=${2:-10}
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"

cut -f 1 "$root/corpora/sample/train.conll" |
  awk '/^$/ { print line; line = ""; next } { line = line (line == "" ? "" : " ") $0 }' > text.txt
"$program" train "$root/corpora/sample/train.conll" --columns word,upos,ner --template ner \
  --model ner.model --quiet

# One sentence a request, and 100 in one.
cat > one.lua <<'LUA'
local bodies = {}
for line in io.lines("text.txt") do
  local text = line:gsub('[\\"]', '\\%0')
  bodies[#bodies + 1] = '{"text": "' .. text .. '"}'
end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local i = 0
function request()
  i = i % #bodies + 1
  return wrk.format(nil, "/tag", nil, bodies[i])
end
function done(summary, latency)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout
  io.write(string.format("%d requests/s, p50 %.2f ms, p99 %.2f ms, %d failed\n",
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, failed))
end
LUA
sed 's/^local i = 0/local all = {}\
for i = 1, 100 do all[i] = bodies[i]:sub(10, -2) end\
bodies = { "{\\"texts\\": [" .. table.concat(all, ",") .. "]}" }\
local i = 0/' one.lua > hundred.lua

echo "threads: $(nproc); $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2)"
"$program" serve ner.model --listen 127.0.0.1:0 > out &
server=$!
while ! grep -q listening out; do sleep 0.1; done
address=$(sed 's/listening on //' out)

# The processor time of the server so far, in ticks (10 ms).
ticks() { sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'; }
tokens() {
  curl -s "$address/metrics" | sed -n 's/^dropchain_tokens_total{model="ner"} //p'
}
for script in one hundred; do
  for connections in 1 2 8 32; do
    wrk -t 1 -c $connections -d 1 -s $script.lua "$address" > /dev/null # warm up
    before=$(ticks) tokens_before=$(tokens)
    result=$(wrk -t 1 -c $connections -d "$seconds" -s $script.lua "$address" | tail -1)
    used=$(($(ticks) - before)) tagged=$(($(tokens) - tokens_before))
    echo "$script, $connections connections: $result," \
      "$((tagged / seconds)) tokens/s, server at $((used / seconds)) % of a processor"
  done
done

# The same text through `tag`, repeated until it takes some seconds.
i=0
while [ $i -lt 300 ]; do cat text.txt; i=$((i + 1)); done > long.txt
count=$("$program" tag ner.model long.txt --format text --output jsonl --threads 1 | wc -l)
for threads in 1 "$(nproc)"; do
  began=$(date +%s.%N)
  "$program" tag ner.model long.txt --format text --output jsonl --threads "$threads" > /dev/null
  ended=$(date +%s.%N)
  echo "$count $began $ended $threads" |
    awk '{ printf "tag, %d threads: %d sentences/s\n", $4, $1 / ($3 - $2) }'
done
