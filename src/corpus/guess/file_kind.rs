//! Kinds of files: those that are no text, by their first bytes, and what is said of those that
//! nothing reads.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// What a file is. Its [`Display`](std::fmt::Display) form says so, and what reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileKind {
    /// Columns of tokens, or nothing that tells.
    #[error("the file looks like columns of tokens; `format` conll reads it")]
    Columns,
    /// A table of tokens, with this separator and perhaps a header row.
    #[error("the file looks like columns of tokens; `format` conll reads it")]
    Csv {
        /// The separator of its cells.
        separator: char,
        /// The first row has the names of columns.
        has_header: bool,
    },
    /// CoNLL-U.
    #[error("the file looks like CoNLL-U; `format` conllu reads it")]
    Conllu,
    /// Attributes in CRFsuite's format.
    #[error("the file looks like attributes in CRFsuite's format; `format` crfsuite reads it")]
    Crfsuite,
    /// JSON with an object per line: of tokens, or of something that their reader names.
    #[error("the file looks like JSON lines; `format` jsonl reads it")]
    Jsonl,
    /// JSON with an object per line, of texts: what it looks like, and what reads their labels.
    #[error("the file looks like {0}; {1}")]
    JsonTexts(&'static str, &'static str),
    /// One word per line, without labels.
    #[error("the file looks like one word per line; expected a label after each")]
    Words,
    /// Running text.
    #[error(
        "the file looks like running text; expected tokens with labels, one on each line (a model \
         tags text: dropchain tag MODEL FILE)"
    )]
    Prose,
    /// Words with tags: what stands before each tag, and the parts of the first token.
    #[error(
        "the file looks like tokens {example}, a sentence on each line (as WikiNER); {columns}: \
         sed 's/$/ /' FILE | tr ' {0}' '\\n\\t'",
        example = example(.0, .1),
        columns = COLUMNS
    )]
    Tagged(char, usize),
    /// A table with a text per row.
    #[error(
        "the file looks like a table with a text in each row; expected a token in each (dropchain \
         classify learns classes of texts)"
    )]
    Documents,
    /// Features of each token and its label, as of MALLET: the fewest and the most cells of lines.
    #[error(
        "the lines have from {0} to {1} cells, as of features with the label last (MALLET's \
         SimpleTagger); expected the same columns in each line, or the label first and then \
         attributes, all separated by tabs (`format` crfsuite)"
    )]
    FeatureLines(usize, usize),
    /// Text of another kind: what it looks like, and what to do with it.
    #[error("the file looks like {0}; {1}")]
    Other(&'static str, &'static str),
    /// UTF-16 without a byte order mark, by the name of the encoding.
    #[error(
        "the file looks like UTF-16 without a byte order mark (every second byte is NUL); expected \
         UTF-8 (`encoding` {0} reads it)"
    )]
    Utf16(&'static str),
    /// A model or a checkpoint.
    #[error("the file is {0}; expected text")]
    Model(&'static str),
    /// No text: what it is, and what makes text of it.
    #[error("the file is no text, but {0}; expected text ({1})")]
    Binary(&'static str, &'static str),
}

/// How many bytes are looked at.
const BYTES: usize = 64;

/// The first four bytes of all files of this program.
const OWN: &[u8] = b"DROP";

/// The length of the line that they begin.
const OWN_LINE: usize = 8;

/// First bytes, what they are of, and what makes text of it.
const BINARY: [(&[u8], &str, &str); 13] = [
    (b"PAR1", "a Parquet table", PANDAS),
    (b"ARROW1", "an Arrow table", PANDAS),
    (b"PK\x03\x04", "a zip archive", "unzip it"),
    (b"PK\x05\x06", "an empty zip archive", "unzip it"),
    (b"\xfd7zXZ\0", "compressed by xz", "xz -dc FILE"),
    (b"BZh", "compressed by bzip2", "bzip2 -dc FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x FILE"),
    (
        b"x\x9c",
        "compressed by zlib, as spaCy's DocBin",
        "Corpus.read of the Python package reads it",
    ),
    (b"%PDF-", "a PDF", "pdftotext FILE"),
    (b"SQLite format 3\0", "a database of SQLite", "export a table"),
    (b"\xd0\xcf\x11\xe0", "an Office document", "save it as text"),
    (b"\x89PNG", "a picture", "expected text"),
];

const PANDAS: &str =
    "with pandas: read_parquet or read_feather, then to_json(…, orient='records', lines=True)";

/// What is expected of files that nothing reads.
const COLUMNS: &str = "expected one token per line, its columns separated by tabs or blanks, and a \
                       blank line after each sentence; docs/formats.md says how to convert";

/// A token with so many parts, as an example.
fn example(separator: &char, parts: &usize) -> String {
    ["word", "tag", "label"][..*parts.clamp(&2, &3)].join(&separator.to_string())
}

/// Opens a regular file.
pub(super) fn open_regular(path: &Path) -> Option<File> {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| File::open(path).ok())?
}

impl FileKind {
    /// Lines that end in CR alone.
    pub const CARRIAGE_RETURNS: Self = Self::Other(
        "lines that end in CR alone, as on old Macs",
        "expected LF or CRLF (convert the file, for example with tr '\\r' '\\n')",
    );
    /// JSON of tokens, but not an object per line.
    pub const JSON_TOKENS: Self = Self::Other(
        "JSON of tokens, but not an object per line",
        "expected JSON lines (jq -c '.[]' FILE)",
    );
    /// JSON of texts with spans.
    pub const JSON_SPANS: Self =
        Self::Other("JSON of texts with spans of characters", "`format` spans reads it");
    /// JSON of texts with classes.
    pub const JSON_CLASSES: Self = Self::Other(
        "JSON of texts with classes",
        "dropchain classify reads it, and taggers tokens with labels or texts with spans",
    );
    /// Other JSON.
    pub const JSON: Self = Self::Other(
        "JSON",
        "`format` jsonl reads lines {\"tokens\": […], \"labels\": […]}, `format` spans texts with \
         spans of characters; docs/formats.md says how to convert others",
    );
    /// XML or HTML.
    pub const XML: Self = Self::Other("XML", COLUMNS);
    /// TSV 3 of WebAnno and INCEpTION.
    pub const WEBANNO: Self =
        Self::Other("TSV 3 of WebAnno or INCEpTION", "`format` webanno reads it");
    /// Text with marks of OpenNLP.
    pub const OPENNLP: Self = Self::Other("OpenNLP's text (<START:…> … <END>)", COLUMNS);
    /// PubTator, of texts with spans.
    pub const PUBTATOR: Self = Self::Other(
        "PubTator",
        "docs/formats.md says how to convert it to JSON, which `format` spans reads",
    );
    /// The annotations of BRAT without their text.
    pub const BRAT: Self = Self::Other(
        "annotations of BRAT",
        "`format` brat reads the text NAME.txt with NAME.ann beside it",
    );
    /// Text with spans in brackets, for people to read.
    pub const INLINE: Self = Self::Other(
        "text with spans in brackets, which `tag` writes for people to read",
        "its outputs conll and jsonl are read back",
    );
    /// SVMlight's numbered values.
    pub const SVMLIGHT: Self = Self::Other(
        "numbered features of SVMlight",
        "dropchain classify reads them (`format` svmlight)",
    );
    /// Attributes as in CRFsuite's format, separated by blanks.
    pub const CRFSUITE_BLANKS: Self = Self::Other(
        "CRFsuite's attributes, but separated by blanks",
        "expected tabs (tr ' ' '\\t') and `format` crfsuite",
    );
    /// CoNLL-U separated by blanks.
    pub const CONLLU_BLANKS: Self =
        Self::Other("CoNLL-U, but separated by blanks", "expected single tabs (tr -s ' ' '\\t')");
    /// CoNLL-U Plus with other columns than CoNLL-U.
    pub const CONLLU_PLUS: Self = Self::Other(
        "CoNLL-U Plus",
        "`format` conll reads it, with `comments`, and the names of its first line as `columns`",
    );

    /// Returns whether marks tell the kind, which running text has not.
    pub fn has_marks(self) -> bool {
        matches!(self, Self::Other(..) | Self::Tagged(..))
    }

    /// Returns whether it is a model.
    pub fn is_model(self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// Returns the kind of a regular file that is no text, by its first bytes.
    pub fn of_first_bytes(file: impl AsRef<Path>) -> Option<Self> {
        let mut bytes = Vec::new();
        let read = open_regular(file.as_ref())?.take(BYTES as u64).read_to_end(&mut bytes);
        read.ok().and_then(|_| Self::of_bytes(&bytes))
    }

    /// Returns whether a file that begins so is one of this program, of any kind and version.
    pub fn is_own(bytes: &[u8]) -> bool {
        bytes.starts_with(OWN) && bytes.get(OWN_LINE - 1) == Some(&b'\n')
    }

    /// Returns how many of the first bytes tell: those of the first line, with which the first line
    /// of this program's files begins. `None` if more must be read.
    pub(in crate::corpus) fn telling(bytes: &[u8]) -> Option<usize> {
        let skipped = if bytes.starts_with(OWN) { OWN_LINE } else { 0 };
        let end = bytes.iter().skip(skipped).position(|&byte| byte == b'\n');
        let end = end.map(|end| skipped + end + 1).or((bytes.len() >= BYTES).then_some(BYTES))?;
        Some(end.min(BYTES))
    }

    /// Returns the kind of a file that is no text, by its first bytes.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = &bytes[..Self::telling(bytes).unwrap_or(bytes.len())];
        // Text may begin with the same letters, but has no control characters.
        let has_controls = || bytes.iter().any(|&b| b < b'\t' || (14..32).contains(&b));
        let is_binary = |mark: &[u8]| !mark.is_ascii() || mark.len() > 4 || has_controls();
        if Self::is_own(bytes) && has_controls() {
            return Some(Self::Model("a model or checkpoint of dropchain"));
        }
        if bytes.starts_with(b"lCRF") && has_controls() {
            return Some(Self::Model("a model of CRFsuite"));
        }
        if let Some((_, what, advice)) =
            BINARY.iter().find(|(mark, ..)| bytes.starts_with(mark) && is_binary(mark))
        {
            return Some(Self::Binary(what, advice));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return None; // a mark says that it is UTF-16
        }
        let (even, odd): (Vec<_>, Vec<_>) = bytes.chunks_exact(2).map(|b| (b[0], b[1])).unzip();
        let zeros = |half: &[u8]| half.iter().filter(|&&byte| byte == 0).count();
        let is_zeros = |half: &[u8], other| {
            half.len() >= 4 && 2 * zeros(half) > half.len() && zeros(other) == 0
        };
        match (is_zeros(&odd, &even), is_zeros(&even, &odd)) {
            (true, _) => Some(Self::Utf16("utf-16le")),
            (_, true) => Some(Self::Utf16("utf-16be")),
            _ => None,
        }
    }
}
