#!/bin/bash
# Trains again and again in one process (1000 times by default), prints its resident memory, and
# fails if it grows by more than 4 MB after the first tenth.
#
#   trainings.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/../.."
DROPCHAIN_TRAININGS=${1:-1000} cargo test --release --test main -- \
  --ignored --exact memory::sequential_trainings --nocapture
