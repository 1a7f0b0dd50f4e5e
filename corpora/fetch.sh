#!/bin/sh
# Obtains the public corpora that tests and measurements use. See --help.
#
# A corpus appears whole or not at all: its files are downloaded into a temporary folder,
# unpacked, held against the SHA-256 sums below, and only then moved to their place.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dest=$here/public
mirror=${DROPCHAIN_CORPORA_MIRROR:-}

all_corpora='ewt wnut17 conll2000 conll2002-esp'

usage() {
    cat <<'EOF'
Usage: fetch.sh [--list | --help] [CORPUS...]

Obtains public corpora into corpora/public (ignored by git), all of them or those named.
Files that are there and right are left alone.

Corpora:
  ewt            ewt/{train,dev,test}.conllu             POS, English web text
  wnut17         wnut17/{train,dev,test}.conll           NER, English, emerging entities
  conll2000      conll2000/{train,test}.txt              chunking, English news
  conll2002-esp  conll2002-esp/esp.{train,testa,testb}   NER, Spanish news

Options:
  --list   show every corpus with its license and whether it is present and right
  --help   show this text

Environment:
  DROPCHAIN_CORPORA_MIRROR   take files from here instead of their homes: an address (https://
                             or, with curl, file://) below which the files above lie under the
                             same names. They are verified all the same.

Needs curl or wget, sha256sum or shasum, and gzip.
Exit status: 0 everything asked for is present and right, 1 something failed, 2 bad usage.
EOF
}

# license CORPUS
license() {
    case $1 in
        ewt) echo 'CC BY-SA 4.0' ;;
        wnut17) echo 'CC BY 4.0' ;;
        conll2000 | conll2002-esp) echo 'research use only' ;;
    esac
}

# One line per file of a corpus: its name, its SHA-256 sum, and the addresses to try in turn.
# The sum is that of the unpacked file, so it does not depend on how a host compressed it.
files_of() {
    github=https://raw.githubusercontent.com
    ewt=$github/UniversalDependencies/UD_English-EWT/r2.16
    wnut=$github/leondz/emerging_entities_17/master
    clips=https://www.clips.uantwerpen.be/conll2000/chunking
    # The shared tasks' own host is not always up (and serves conll2002 in Latin-1): this
    # repository keeps copies of both, in UTF-8.
    copies=$github/teropa/nlp/master/resources/corpora
    case $1 in
        ewt) cat <<EOF ;;
train.conllu 3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b $ewt/en_ewt-ud-train.conllu
dev.conllu 531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6 $ewt/en_ewt-ud-dev.conllu
test.conllu e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd $ewt/en_ewt-ud-test.conllu
EOF
        wnut17) cat <<EOF ;;
train.conll 731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5 $wnut/wnut17train.conll
dev.conll e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8 $wnut/emerging.dev.conll
test.conll 2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0 $wnut/emerging.test.annotated
EOF
        conll2000) cat <<EOF ;;
train.txt 82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea $clips/train.txt.gz $copies/conll2000/train.txt
test.txt 73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628 $clips/test.txt.gz $copies/conll2000/test.txt
EOF
        conll2002-esp) cat <<EOF ;;
esp.train a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008 $copies/conll2002/esp.train
esp.testa 85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87 $copies/conll2002/esp.testa
esp.testb 1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016 $copies/conll2002/esp.testb
EOF
    esac
}

complain() {
    echo "fetch.sh: $*" >&2
}

# download ADDRESS FILE
download() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --location --silent --show-error --connect-timeout 20 --retry 2 \
            --output "$2" -- "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --timeout=20 --tries=3 --output-document="$2" -- "$1"
    else
        complain 'found neither curl nor wget; one of them is needed to download'
        return 1
    fi
}

# is_right FILE SUM: whether the file is there and has this SHA-256 sum
is_right() {
    [ -f "$1" ] || return 1
    [ "$(sum_of "$1")" = "$2" ]
}

# sum_of FILE
sum_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1" | cut -d ' ' -f 1
    else
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    fi
}

# is_present CORPUS: whether all its files are there and right
is_present() {
    files_of "$1" | while read -r name sum _; do
        is_right "$dest/$1/$name" "$sum" || exit 1
    done
}

# obtain FILE SUM ADDRESS...: the unpacked, verified file from the first address that has it
obtain() {
    file=$1
    sum=$2
    shift 2
    raw=$temporary/download
    for address in "$@"; do
        rm -f -- "$raw"
        if ! download "$address" "$raw" || [ ! -f "$raw" ]; then
            complain "cannot download $address"
            continue
        fi
        if gzip -t <"$raw" 2>/dev/null; then
            gzip -dc <"$raw" >"$file"
        else
            mv -- "$raw" "$file"
        fi
        is_right "$file" "$sum" && return 0
        complain "$address: SHA-256 is $(sum_of "$file") after unpacking; expected $sum"
        rm -f -- "$file"
    done
    return 1
}

# stage CORPUS FOLDER: obtains into the folder the files that are missing or wrong
stage() {
    files_of "$1" | while read -r name sum addresses; do
        file=$dest/$1/$name
        if is_right "$file" "$sum"; then
            continue
        fi
        if [ -e "$file" ]; then
            complain "$file is not the expected file; fetching it again"
        fi
        if [ -n "$mirror" ]; then
            addresses=${mirror%/}/$1/$name
        fi
        # shellcheck disable=SC2086 # addresses are a list, split on purpose
        obtain "$2/$name" "$sum" $addresses || exit 1
    done
}

# fetch CORPUS
fetch() {
    if is_present "$1"; then
        echo "$1: present and right"
        return 0
    fi
    echo "$1: fetching (license: $(license "$1"))"
    mkdir -p -- "$temporary/$1"
    stage "$1" "$temporary/$1" || return 1
    mkdir -p -- "$dest/$1" || return 1
    for file in "$temporary/$1"/*; do
        if [ -f "$file" ]; then
            mv -f -- "$file" "$dest/$1/" || return 1
        fi
    done
    is_present "$1" || return 1
    echo "$1: done"
}

list() {
    for corpus in $all_corpora; do
        state=absent
        if is_present "$corpus"; then
            state=present
        fi
        printf '%-14s %-8s %s\n' "$corpus" "$state" "$(license "$corpus")"
    done
}

for argument in "$@"; do
    case $argument in
        --help | -h)
            usage
            exit 0
            ;;
        --list)
            list
            exit 0
            ;;
        *)
            case " $all_corpora " in
                *" $argument "*) ;;
                *)
                    complain "unknown corpus or option '$argument'; the corpora are: $all_corpora"
                    exit 2
                    ;;
            esac
            ;;
    esac
done
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086 # a list of names, split on purpose
    set -- $all_corpora
fi

# Beside the destination, so that moving a file into place is a rename.
mkdir -p -- "$dest"
temporary=$(mktemp -d "$dest/.fetch.XXXXXX")
trap 'rm -rf -- "$temporary"; rmdir -- "$dest" 2>/dev/null || :' EXIT
trap 'exit 1' HUP INT TERM

failed=0
for corpus in "$@"; do
    if ! fetch "$corpus"; then
        complain "$corpus: failed; nothing of it was changed"
        failed=1
    fi
done
exit $failed
