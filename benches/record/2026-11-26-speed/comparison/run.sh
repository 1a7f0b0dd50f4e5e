#!/bin/sh
# Compares dropchain with what people use instead, each on its task, and prints the tables of
# README.md:
#
#   pip install crfpy libwapiti python-crfsuite spacy
#   cargo build --release
#   run.sh CORPORA
#
# CORPORA is the folder that corpora/fetch.sh fills.
set -eu
corpora=$(realpath "$1")
cd "$(dirname "$0")/../../compare"
grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2
nproc
pip list 2> /dev/null | grep -iE '^(crfpy|libwapiti|python-crfsuite|spacy) '
echo
echo 'Chunks, CoNLL-2000'
python3 template_programs.py "$corpora/conll2000"
echo
echo 'Names, Dutch, CoNLL-2002'
folder=$corpora/conll2002-ned
python3 spacy_ner.py nl "$folder/ned.train" "$folder/ned.testa" "$folder/ned.testb"
