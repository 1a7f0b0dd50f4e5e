#!/bin/sh
# Downloads the public corpora that tests and measurements use. See --help.
#
# A corpus is complete or absent: its files are downloaded into a temporary folder, unpacked,
# verified against the SHA-256 checksums below, and only then moved into place.
set -eu
export LC_ALL=C

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dest=$here/public
mirror=${DROPCHAIN_CORPORA_MIRROR:-}

all_corpora='ewt wnut17 conll2000 conll2002-esp conll2002-ned rt-polarity movie-reviews'

usage() {
    cat <<'EOF'
Usage: fetch.sh [--list | --help] [CORPUS...]

Downloads public corpora into corpora/public (ignored by git): all of them, or those named.
Files that are present and intact are left alone.

Corpora:
  ewt            ewt/{train,dev,test}.conllu             POS, English web text
  wnut17         wnut17/{train,dev,test}.conll           NER, English, emerging entities
  conll2000      conll2000/{train,test}.txt              chunking, English news
  conll2002-esp  conll2002-esp/esp.{train,testa,testb}   NER, Spanish news
  conll2002-ned  conll2002-ned/ned.{train,testa,testb}   NER, Dutch news
  rt-polarity    rt-polarity/rt-polarity.{neg,pos}       sentiment of 10,662 snippets (RTs)
  movie-reviews  movie-reviews/{neg,pos}/*.txt           sentiment of 2,000 reviews (RT-2k)

Options:
  --list   list the corpora with their licenses and whether they are present and intact
  --help   print this text

Environment:
  DROPCHAIN_CORPORA_MIRROR   base URL of a mirror (https:// or, with curl, file://) that has the
                             files above under the same names, or rt-polarity.zip and
                             movie-reviews.zip. They are verified as well.

Needs curl or wget, sha256sum or shasum, and gzip; the last two corpora, unzip.
Exit status: 0 all requested corpora are present and intact, 1 failure, 2 bad usage.
EOF
}

# license CORPUS
license() {
    case $1 in
        ewt) echo 'CC BY-SA 4.0' ;;
        wnut17) echo 'CC BY 4.0' ;;
        rt-polarity) echo 'CC BY 4.0' ;;
        conll2000 | conll2002-* | movie-reviews) echo 'research use only' ;;
    esac
}

# files_of CORPUS: a line per file with its name, SHA-256 checksum, and the URLs to try in order.
# The checksum is that of the unpacked file, so it does not depend on a host's compression.
files_of() {
    github=https://raw.githubusercontent.com
    ewt=$github/UniversalDependencies/UD_English-EWT/r2.16
    wnut=$github/leondz/emerging_entities_17/master
    clips=https://www.clips.uantwerpen.be/conll2000/chunking
    # The shared tasks' own host is not always up, and serves conll2002 in Latin-1; this
    # repository has copies of both, in UTF-8.
    copies=$github/teropa/nlp/master/resources/corpora
    case $1 in
        ewt) cat <<EOF ;;
train.conllu 3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b \
    $ewt/en_ewt-ud-train.conllu
dev.conllu 531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6 \
    $ewt/en_ewt-ud-dev.conllu
test.conllu e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd \
    $ewt/en_ewt-ud-test.conllu
EOF
        wnut17) cat <<EOF ;;
train.conll 731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5 \
    $wnut/wnut17train.conll
dev.conll e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8 \
    $wnut/emerging.dev.conll
test.conll 2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0 \
    $wnut/emerging.test.annotated
EOF
        conll2000) cat <<EOF ;;
train.txt 82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea \
    $clips/train.txt.gz \
    $copies/conll2000/train.txt
test.txt 73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628 \
    $clips/test.txt.gz \
    $copies/conll2000/test.txt
EOF
        conll2002-esp) cat <<EOF ;;
esp.train a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008 \
    $copies/conll2002/esp.train
esp.testa 85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87 \
    $copies/conll2002/esp.testa
esp.testb 1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016 \
    $copies/conll2002/esp.testb
EOF
        conll2002-ned) cat <<EOF ;;
ned.train 0a419dcb356b62c8cff38515675550b3d5dbea9f45a1c4956328dbd5cc7fcdbc \
    $copies/conll2002/ned.train
ned.testa 51259d4bfe52462f211d3d0b67173a7ecbfa296e199f6c6bd0895f4c78155057 \
    $copies/conll2002/ned.testa
ned.testb 2aa748edb82e6f9c4d82e57a4bed69ded18cfa4803122c75070335d513517488 \
    $copies/conll2002/ned.testb
EOF
    esac
}

# archive_of CORPUS: of a corpus that is a zip archive of a folder, the SHA-256 checksum of its
# files, one after the other, and the URL; nothing of others
archive_of() {
    packages=https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora
    case $1 in
        rt-polarity) echo "095638c0bc2cb58887f02511aee01f581bae2cd0f4758f7b7f0c6cef2001d48c \
            $packages/sentence_polarity.zip" ;;
        movie-reviews) echo "8e9743dac585c460c6a7f1f155339f7d2a9fa4c9433af5f8fed70602b15cf124 \
            $packages/movie_reviews.zip" ;;
    esac
}

# documents_of FOLDER: the files of an archived corpus, in the order of their checksum
documents_of() {
    for name in "$1"/rt-polarity.neg "$1"/rt-polarity.pos "$1"/neg/*.txt "$1"/pos/*.txt; do
        if [ -f "$name" ]; then
            cat -- "$name"
        fi
    done
}

complain() {
    echo "fetch.sh: $*" >&2
}

# download URL FILE
download() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --location --silent --show-error --connect-timeout 20 --retry 2 \
            --output "$2" -- "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --timeout=20 --tries=3 --output-document="$2" -- "$1"
    else
        complain 'needs curl or wget'
        return 1
    fi
}

# is_intact FILE CHECKSUM: whether the file exists and has this SHA-256 checksum
is_intact() {
    [ -f "$1" ] || return 1
    [ "$(checksum <"$1")" = "$2" ]
}

# checksum: the SHA-256 checksum of standard input
checksum() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum | cut -d ' ' -f 1
    else
        shasum -a 256 | cut -d ' ' -f 1
    fi
}

# is_present CORPUS: whether all its files exist and are intact
is_present() {
    archive=$(archive_of "$1")
    if [ -n "$archive" ]; then
        [ "$(documents_of "$dest/$1" | checksum)" = "${archive%% *}" ]
        return
    fi
    files_of "$1" | while read -r name sum _; do
        is_intact "$dest/$1/$name" "$sum" || exit 1
    done
}

# download_verified FILE CHECKSUM URL...: downloads and unpacks from the first URL that works
download_verified() {
    file=$1
    sum=$2
    shift 2
    raw=$temporary/download
    for url in "$@"; do
        rm -f -- "$raw"
        if ! download "$url" "$raw" || [ ! -f "$raw" ]; then
            complain "cannot download $url"
            continue
        fi
        if gzip -t <"$raw" 2>/dev/null; then
            gzip -dc <"$raw" >"$file"
        else
            mv -- "$raw" "$file"
        fi
        is_intact "$file" "$sum" && return 0
        complain "$url: SHA-256 is $(checksum <"$file") after unpacking; expected $sum"
        rm -f -- "$file"
    done
    return 1
}

# stage CORPUS FOLDER: downloads the missing or damaged files of a corpus into the folder
stage() {
    files_of "$1" | while read -r name sum urls; do
        file=$dest/$1/$name
        if is_intact "$file" "$sum"; then
            continue
        fi
        if [ -e "$file" ]; then
            complain "$file has the wrong checksum; downloading it again"
        fi
        if [ -n "$mirror" ]; then
            urls=${mirror%/}/$1/$name
        fi
        # shellcheck disable=SC2086 # a list of URLs, split on purpose
        download_verified "$2/$name" "$sum" $urls || exit 1
    done
}

# fetch_archive CORPUS SUM URL: downloads and unpacks an archive, and moves its folder into place
fetch_archive() {
    if ! command -v unzip >/dev/null 2>&1; then
        complain 'needs unzip'
        return 1
    fi
    url=$3
    if [ -n "$mirror" ]; then
        url=${mirror%/}/$1.zip
    fi
    if ! download "$url" "$temporary/$1.zip"; then
        complain "cannot download $url"
        return 1
    fi
    unzip -q "$temporary/$1.zip" -d "$temporary/$1" || return 1
    for folder in "$temporary/$1"/*; do
        sum=$(documents_of "$folder" | checksum)
        if [ "$sum" = "$2" ]; then
            rm -rf -- "${dest:?}/$1"
            mv -- "$folder" "$dest/$1"
            return
        fi
    done
    complain "$url: SHA-256 of its documents is $sum; expected $2"
    return 1
}

# fetch CORPUS
fetch() {
    if is_present "$1"; then
        echo "$1: present and intact"
        return 0
    fi
    echo "$1: downloading (license: $(license "$1"))"
    archive=$(archive_of "$1")
    if [ -n "$archive" ]; then
        # shellcheck disable=SC2086 # a checksum and a URL, split on purpose
        fetch_archive "$1" $archive || return 1
        echo "$1: done"
        return
    fi
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

# On the file system of the destination, so that moving a file into place is a rename.
mkdir -p -- "$dest"
temporary=$(mktemp -d "$dest/.fetch.XXXXXX")
trap 'rm -rf -- "$temporary"; rmdir -- "$dest" 2>/dev/null || :' EXIT
trap 'exit 1' HUP INT TERM

failed=0
for corpus in "$@"; do
    if ! fetch "$corpus"; then
        complain "$corpus: failed; no file was changed"
        failed=1
    fi
done
exit $failed
