#!/bin/sh
# Draws the figures of the documentation from the sample corpus, in about two minutes on two cores;
# screens.py needs the Python packages pyte and rich, and Chromium:
#
#     cargo build --release
#     docs/figures/draw.sh [PROGRAM]
#
# A test compares what does not depend on time: `cargo test -p dropchain-cli figure`.
set -eu
cd "$(dirname "$0")/../.."
program=${1:-target/release/dropchain}

"$program" bench gradients corpora/sample/train.conll --columns word,upos,ner --template ner \
    --sweep labels,length,attributes --repeat 15 \
    --figure docs/figures/gradients.svg --json docs/figures/gradients.json > /dev/null

docs/figures/screens.py "$program"
