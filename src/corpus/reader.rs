//! Sentences from files, whatever their format.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::sync::Arc;

use super::conll::Conll;
use super::conllu::Conllu;
use super::crfsuite::Crfsuite;
use super::format::Format;
use super::jsonl::Jsonl;
use super::lines::{Input, Lines};
use super::text::Text;
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence};

/// Size of the buffer before a file, in bytes.
const BUFFER: usize = 64 << 10;

/// How inputs are to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format of all inputs; told by each file's name where it is `None`.
    pub format: Option<Format>,
    /// CoNLL: the names of the columns, in file order; without them `word`, numbers and `label`.
    /// JSON lines: the only keys, beside the tokens and the labels, that are columns; without them
    /// every key that holds as many strings as there are tokens. CoNLL-U, CRFsuite's format and raw
    /// text have columns of their own.
    pub columns: Option<Vec<String>>,
    /// Which column holds the labels: its name or its number, from 0 or, negative, from the end.
    /// The default is the last column of CoNLL (none where `unlabeled`), `upos` of CoNLL-U and the key
    /// `labels` of JSON lines.
    pub label: Option<String>,
    /// Labels need not be there: the inputs are to be tagged.
    pub unlabeled: bool,
    /// CoNLL: lines that begin with `#` are comments. (In CoNLL-U they always are.)
    pub comments: bool,
}

/// How a format is read.
pub(super) trait Parse: Send {
    /// The next sentence; `None` at the end of the file. Reads no line beyond the one that ends the
    /// sentence.
    fn next(&mut self, lines: &mut Lines) -> Result<Option<Sentence>>;

    /// What separates the columns, where the format has several ways and the file has shown one.
    fn separator(&self) -> Option<char> {
        None
    }
}

/// An input whose turn has not come.
enum Source {
    Named(String),
    Open(Input, String),
}

/// The input being read.
struct Current {
    lines: Lines,
    parser: Box<dyn Parse>,
    sentences: u64, // without document boundaries
}

/// The sentences of some inputs, one at a time. After an error there are none.
pub struct Reader {
    options: ReadOptions,
    waiting: VecDeque<Source>,
    current: Option<Current>,
    columns: Option<(Arc<Schema>, Arc<str>)>, // of the first input, with its name
    separator: char,
    sentences_required: bool, // an input without a sentence is an error
}

impl Reader {
    /// Reads files one after the other; `-` is standard input. gzip is known by its first bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a file does not exist; [`Error::Parameter`] when there is no source, or
    /// standard input is given twice.
    pub fn open<S: AsRef<str>>(sources: &[S], options: &ReadOptions) -> Result<Self> {
        let mut waiting = VecDeque::with_capacity(sources.len());
        let mut stdin = false;
        for source in sources {
            let source = source.as_ref();
            if source != "-" {
                // Said now, not after minutes of reading the files before it.
                fs::metadata(source).map_err(|error| Error::io(source, error))?;
            } else if std::mem::replace(&mut stdin, true) {
                return Err(Error::parameter("standard input can be read only once"));
            }
            waiting.push_back(Source::Named(source.to_owned()));
        }
        if waiting.is_empty() {
            return Err(Error::parameter("no input to read"));
        }
        Ok(Self::new(waiting, options))
    }

    /// Reads an open stream that errors call `name`.
    #[must_use]
    pub fn from_read(
        input: Box<dyn io::BufRead + Send>,
        name: &str,
        options: &ReadOptions,
    ) -> Self {
        let source = Source::Open(input, name.to_owned());
        Self::new(VecDeque::from([source]), options)
    }

    fn new(waiting: VecDeque<Source>, options: &ReadOptions) -> Self {
        Self {
            options: options.clone(),
            waiting,
            current: None,
            columns: None,
            separator: '\t',
            sentences_required: false,
        }
    }

    /// Makes an input without a sentence an error.
    pub(super) fn require_sentences(&mut self) {
        self.sentences_required = true;
    }

    /// What separates the columns of the CoNLL file that the last sentence came from: a space where
    /// it has runs of blanks, else a tab. A tab also before the first sentence and in other formats.
    #[must_use]
    pub fn separator(&self) -> char {
        self.separator
    }

    /// The next sentence of any input.
    fn advance(&mut self) -> Result<Option<Sentence>> {
        loop {
            if self.current.is_none() {
                let Some(source) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.current = Some(start(source, &self.options)?);
            }
            let Some(current) = &mut self.current else {
                return Ok(None);
            };
            if let Some(sentence) = current.parser.next(&mut current.lines)? {
                current.sentences += u64::from(!sentence.layout.document_start);
                self.separator = current.parser.separator().unwrap_or('\t');
                self.agree(&sentence)?;
                return Ok(Some(sentence));
            }
            if self.sentences_required && current.sentences == 0 {
                return Err(Error::input(
                    Place::file(&**current.lines.file()),
                    "no sentence found; expected at least one",
                ));
            }
            self.current = None;
        }
    }

    /// Checks that `sentence` has the columns of the first input.
    fn agree(&mut self, sentence: &Sentence) -> Result<()> {
        let schema = sentence.schema();
        let Some((first, file)) = &self.columns else {
            self.columns = Some((schema.clone(), sentence.file().clone()));
            return Ok(());
        };
        if Arc::ptr_eq(schema, first) || schema == first {
            return Ok(());
        }
        Err(Error::input(
            sentence.place(0),
            format!(
                "the columns are {}, but those of {file} are {}",
                describe(schema),
                describe(first)
            ),
        ))
    }
}

impl Iterator for Reader {
    type Item = Result<Sentence>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.waiting.clear();
            self.current = None;
        }
        next.transpose()
    }
}

/// All sentences of some files, for training and evaluation.
///
/// # Errors
///
/// Those of [`Reader::open`] and of reading; [`Error::Input`] when a file has no sentence.
pub fn read_all<S: AsRef<str>>(sources: &[S], options: &ReadOptions) -> Result<Vec<Sentence>> {
    let mut reader = Reader::open(sources, options)?;
    reader.require_sentences();
    reader.collect()
}

/// Opens an input for its turn.
fn start(source: Source, options: &ReadOptions) -> Result<Current> {
    let (input, name): (Input, String) = match source {
        Source::Open(input, name) => (input, name),
        Source::Named(name) if name == "-" => (
            Box::new(BufReader::with_capacity(BUFFER, io::stdin())),
            name,
        ),
        Source::Named(name) => {
            let file = File::open(&name).map_err(|error| Error::io(&name, error))?;
            (Box::new(BufReader::with_capacity(BUFFER, file)), name)
        }
    };
    let format = options.format.unwrap_or_else(|| Format::guess(&name));
    let parser: Box<dyn Parse> = match format {
        Format::Text => Box::new(Text::default()),
        Format::Conll => Box::new(Conll::new(options.clone())),
        Format::Conllu => Box::new(Conllu::new(options.clone())),
        Format::Crfsuite => Box::new(Crfsuite::new()?),
        Format::Jsonl => Box::new(Jsonl::new(options.clone())),
    };
    Ok(Current {
        lines: Lines::new(input, Arc::from(name)),
        parser,
        sentences: 0,
    })
}

/// The columns of a schema, for a message.
fn describe(schema: &Schema) -> String {
    let names = schema.names();
    match schema.label().and_then(|label| names.get(label)) {
        Some(label) => format!("{} (label: {label})", names.join(" ")),
        None => format!("{} (no label)", names.join(" ")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::{BufRead, Cursor, Read, Write};

    /// Options for one format.
    pub fn options(format: Format) -> ReadOptions {
        ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        }
    }

    /// The sentences of `text`, a file named `x`.
    pub fn sentences(text: &str, options: &ReadOptions) -> Result<Vec<Sentence>> {
        let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
        Reader::from_read(input, "x", options).collect()
    }

    /// The message that reading `text` ends with.
    pub fn fault(text: &str, options: &ReadOptions) -> String {
        sentences(text, options).unwrap_err().to_string()
    }

    /// A directory with files.
    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        directory
    }

    fn path(directory: &tempfile::TempDir, name: &str) -> String {
        directory.path().join(name).to_str().unwrap().to_owned()
    }

    fn read(directory: &tempfile::TempDir, names: &[&str]) -> Result<Vec<Sentence>> {
        let sources: Vec<String> = names.iter().map(|name| path(directory, name)).collect();
        read_all(&sources, &ReadOptions::default())
    }

    /// Fails the test when it is asked for more than it has.
    struct Interactive(Cursor<&'static [u8]>);

    impl Read for Interactive {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl BufRead for Interactive {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            let buffer = self.0.fill_buf()?;
            assert!(!buffer.is_empty(), "read beyond the end of the sentence");
            Ok(buffer)
        }

        fn consume(&mut self, amount: usize) {
            self.0.consume(amount);
        }
    }

    #[test]
    fn a_sentence_comes_as_soon_as_its_last_line_is_there() {
        let inputs: [(Format, &'static [u8]); 5] = [
            (Format::Text, b"Ann left\n"),
            (Format::Conll, b"Ann B\nleft O\n\n"),
            (Format::Conllu, b"1\tAnn\t_\tX\t_\t_\t_\t_\t_\t_\n\n"),
            (Format::Crfsuite, b"B\tw=Ann\n\n"),
            (
                Format::Jsonl,
                b"{\"tokens\":[\"Ann\"],\"labels\":[\"B\"]}\n",
            ),
        ];
        for (format, bytes) in inputs {
            let input = Box::new(Interactive(Cursor::new(bytes)));
            let mut reader = Reader::from_read(input, "-", &options(format));
            assert!(!reader.next().unwrap().unwrap().is_empty(), "{format}");
        }
    }

    #[test]
    fn files_are_read_in_order_packed_or_not() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        packed.write_all(b"\xef\xbb\xbfb\tO\r\n\r\nc\tO").unwrap();
        let packed = packed.finish().unwrap();
        let files: [(&str, &[u8]); 2] = [("a.txt", b"a\tO"), ("b.conll", &packed)];
        let directory = directory(&files);
        let read = read(&directory, &["a.txt", "b.conll"]).unwrap();
        let words: Vec<&str> = read.iter().map(|s| s.cell(0, 0)).collect();
        assert_eq!(words, ["a", "b", "c"]);
        assert_eq!(
            read[2].place(0).to_string(),
            format!("{}:3", path(&directory, "b.conll"))
        );
    }

    #[test]
    fn a_missing_file_is_named_before_anything_is_read() {
        let directory = directory(&[("a", b"a O")]);
        let missing = path(&directory, "b");
        let sources = [path(&directory, "a"), missing.clone()];
        let error = Reader::open(&sources, &ReadOptions::default())
            .err()
            .unwrap();
        assert!(matches!(&error, Error::Io { path, .. } if path.as_os_str() == missing.as_str()));
    }

    #[test]
    fn a_read_error_names_its_file() {
        let directory = directory(&[]);
        let source = path(&directory, "");
        let error = read_all(&[&source], &ReadOptions::default()).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if path.as_os_str() == source.as_str()));
    }

    #[test]
    fn a_file_without_a_sentence_is_an_error_where_all_are_read() {
        let directory = directory(&[("a", b"a O"), ("b", b"\n \n")]);
        assert_eq!(
            read(&directory, &["a", "b"]).unwrap_err().to_string(),
            format!(
                "{}: no sentence found; expected at least one",
                path(&directory, "b")
            )
        );
        assert!(sentences("", &options(Format::Conll)).unwrap().is_empty());
    }

    #[test]
    fn all_files_must_have_the_columns_of_the_first() {
        let directory = directory(&[("a", b"a O"), ("b", b"\nb NN O")]);
        let (a, b) = (path(&directory, "a"), path(&directory, "b"));
        assert_eq!(
            read(&directory, &["a", "b"]).unwrap_err().to_string(),
            format!(
                "{b}:2: the columns are word 1 label (label: label), \
                 but those of {a} are word label (label: label)"
            )
        );
    }

    #[test]
    fn sources_must_be_some_and_standard_input_at_most_one() {
        let open = |sources: &[&str]| {
            let reader = Reader::open(sources, &ReadOptions::default());
            reader.err().unwrap().to_string()
        };
        assert_eq!(open(&[]), "no input to read");
        assert_eq!(open(&["-", "-"]), "standard input can be read only once");
    }

    #[test]
    fn nothing_follows_an_error() {
        let input = Box::new(Cursor::new("a O\nb\nc O\n"));
        let mut reader = Reader::from_read(input, "x", &options(Format::Conll));
        assert!(reader.next().unwrap().is_err());
        assert!(reader.next().is_none());
    }

    #[test]
    fn the_separator_is_that_of_the_file() {
        for (text, separator) in [("a\tO\n", '\t'), ("a O\n", ' ')] {
            let input = Box::new(Cursor::new(text));
            let mut reader = Reader::from_read(input, "x", &options(Format::Conll));
            assert_eq!(reader.separator(), '\t');
            reader.next().unwrap().unwrap();
            assert_eq!(reader.separator(), separator);
        }
    }
}
