//! Streaming the sentences of files in any format.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::conll::ConllParser;
use super::crfsuite::CrfsuiteParser;
use super::jsonl::JsonlParser;
use super::lines::{LineReader, OutputStream};
use super::parse::{Format, ReadFormat, ReadOptions, SentenceParser};
use super::source::InputStream;
use super::text::TextParser;
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence, Separation, SourceFile};

/// Size of the read buffer, in bytes.
const BUFFER: usize = 64 << 10;

/// The input being read.
struct OpenInput {
    lines: LineReader,
    parser: Box<dyn SentenceParser>,
    ready: VecDeque<Sentence>,
    has_begun: bool,        // the parser has looked at the first lines
    error_at: Option<u64>,  // how much had been read at the last error
    is_damaged: bool,       // the rest of what the last error is about is to be skipped
    is_finished: bool,      // the parser stays where an error is
    sentences: u64,         // without document boundaries
    line: Option<u64>,      // of the last sentence
    separation: Separation, // what stands before the next sentence, as far as it is known
}

impl OpenInput {
    /// Parses the next sentence. After an error, the rest of what it is about is skipped first; a
    /// parser with a second error where it has read nothing since the first does not move on, so
    /// that its input is finished. The errors of an input are thus at most two more than its bytes.
    fn next_sentence(&mut self) -> Result<Option<Sentence>> {
        if std::mem::take(&mut self.is_damaged) {
            self.is_finished |= self.parser.recover(&mut self.lines).is_err();
            self.lines.begin_sentence();
        }
        if self.is_finished {
            return Ok(None);
        }
        let parsed = self.parse();
        if let Err(error) = &parsed {
            let read = Some(self.lines.position);
            let is_stuck = std::mem::replace(&mut self.error_at, read) == read;
            self.is_finished = is_stuck || !matches!(error, Error::Input { .. });
            self.is_damaged = !self.is_finished;
        }
        self.lines.begin_sentence();
        parsed
    }

    fn parse(&mut self) -> Result<Option<Sentence>> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.parser.begin(&mut self.lines)?; // an error is not met again
        }
        while self.ready.is_empty() && self.parser.advance(&mut self.lines, &mut self.ready)? {}
        Ok(self.ready.pop_front())
    }

    /// Records what stands before a sentence: the beginning of the input, a document boundary, the
    /// end of a line, and what the parser found.
    fn separate(&mut self, sentence: &mut Sentence) {
        let line = sentence.first_line();
        if line != std::mem::replace(&mut self.line, line) {
            self.separation.add(Separation::LINE);
        }
        let layout = &mut sentence.layout;
        layout.separation.add(std::mem::take(&mut self.separation));
        if layout.document_start {
            self.separation = layout.separation.and(Separation::MARK);
        }
    }
}

/// An iterator over the sentences of some inputs. It ends after an error.
pub struct Reader {
    options: ReadOptions,
    first: Option<LineReader>, // a stream, or a file whose first lines have been looked at
    pending: VecDeque<OsString>, // paths, or `-` for standard input
    current: Option<OpenInput>,
    columns: Option<(Arc<Schema>, SourceFile)>, // of the first input, with its name
    separator: Option<char>, // of the file of the last sentence, if its format has several
    sentences_required: bool, // an input without a sentence is an error
    copy: Option<OutputStream>,
}

impl Reader {
    /// Creates a reader without inputs.
    fn new(options: &ReadOptions) -> Self {
        Self {
            options: options.clone(),
            first: None,
            pending: VecDeque::new(),
            current: None,
            columns: None,
            separator: None,
            sentences_required: false,
            copy: None,
        }
    }

    /// Reads files in order; `-` is standard input. gzip is recognized by its magic bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file does not exist; [`Error::Parameter`] if `sources` is empty or
    /// contains standard input twice.
    pub fn open<S: AsRef<OsStr>>(sources: &[S], options: &ReadOptions) -> Result<Self> {
        check_sources(sources)?;
        let mut pending = VecDeque::with_capacity(sources.len());
        for source in sources {
            pending.extend(files_of(source.as_ref(), options)?);
        }
        if pending.is_empty() {
            return Err(Error::parameter("no input to read"));
        }
        Ok(Self { pending, ..Self::new(options) })
    }

    /// Like [`Reader::open`], with options that depend on the first lines of the first file, at
    /// which they may [peek](LineReader::peek).
    ///
    /// # Errors
    ///
    /// Same as [`Reader::open`]; those of `options`; the first file cannot be read.
    pub fn open_by_content<S: AsRef<OsStr>>(
        sources: &[S],
        options: impl FnOnce(&mut LineReader) -> Result<ReadOptions>,
    ) -> Result<Self> {
        let mut reader = Self::open(sources, &ReadOptions::default())?;
        if let Some(mut lines) = reader.next_input()? {
            reader.options = options(&mut lines)?;
            reader.first = Some(lines);
        }
        Ok(reader)
    }

    /// Reads an open stream; `name` identifies it in error messages.
    pub fn from_read(
        input: Box<dyn io::BufRead + Send>,
        name: &str,
        options: &ReadOptions,
    ) -> Self {
        let first = Some(LineReader::new(input, name));
        Self { first, ..Self::new(options) }
    }

    /// Copies the first input to `copy` while it is read: decompressed, with its line endings and a
    /// byte order mark, so that offsets of raw text ([`Layout::source_start`]) refer to it.
    ///
    /// [`Layout::source_start`]: crate::sentence::Layout::source_start
    #[must_use]
    pub fn with_copy(self, copy: Box<dyn io::Write + Send>) -> Self {
        Self { copy: Some(copy), ..self }
    }

    /// Makes an input without a sentence an error.
    pub fn require_sentences(&mut self) {
        self.sentences_required = true;
    }

    /// The memory in bytes that a sentence, or what waits to be tagged with it, may take.
    pub fn memory_limit(&self) -> u64 {
        self.options.limits.memory.bytes(0)
    }

    /// The column separator of the CoNLL file that the last sentence came from: a space if the file
    /// uses runs of blanks, else a tab. A tab before the first sentence and in other formats.
    pub fn separator(&self) -> char {
        self.separator.unwrap_or('\t')
    }

    /// Opens the next input.
    fn next_input(&mut self) -> Result<Option<LineReader>> {
        if self.first.is_some() {
            return Ok(self.first.take());
        }
        let Some(name) = self.pending.pop_front() else { return Ok(None) };
        let (stream, file) = open_stream(&name)?;
        let mut lines = LineReader::new(stream, file);
        lines.limit_memory(self.memory_limit(), None);
        Ok(Some(lines))
    }

    /// Reads the next sentence of any input.
    fn next_sentence(&mut self) -> Result<Option<Sentence>> {
        loop {
            if self.current.is_none() {
                let Some(lines) = self.next_input()? else { return Ok(None) };
                let mut input = open(lines, &self.options)?;
                input.lines.copy = self.copy.take();
                self.current = Some(input);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(mut sentence) = current.next_sentence()? {
                current.separate(&mut sentence);
                current.sentences += u64::from(!sentence.layout.document_start);
                self.separator = current.parser.separator();
                self.check_columns(&sentence)?;
                return Ok(Some(sentence));
            }
            let is_missing = current.sentences == 0 && current.error_at.is_none();
            let file = current.lines.file().clone();
            self.current = None;
            if self.sentences_required && is_missing {
                let message = "no sentence found; expected at least one";
                return Err(Error::input(Place::file(&*file), message));
            }
        }
    }

    /// Reads the next sentence, or the error of one that cannot be read, after which the next call
    /// goes on with the sentence after it. An error of the input itself ends that input.
    pub fn next_or_error(&mut self) -> Option<Result<Sentence>> {
        self.next_sentence().transpose()
    }

    /// Checks that `sentence` has the columns of the first input.
    fn check_columns(&mut self, sentence: &Sentence) -> Result<()> {
        let schema = sentence.schema();
        let Some((first, file)) = &self.columns else {
            self.columns = Some((schema.clone(), sentence.file().clone()));
            return Ok(());
        };
        if Arc::ptr_eq(schema, first) || schema == first {
            return Ok(());
        }
        let message = format!(
            "the columns are {}, but those of {file} are {}",
            describe(schema),
            describe(first)
        );
        Err(Error::input(sentence.place(0), message))
    }
}

impl Iterator for Reader {
    type Item = Result<Sentence>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_sentence();
        if next.is_err() {
            self.pending.clear();
            self.current = None;
        }
        next.transpose()
    }
}

/// Checks that there are inputs, that files exist, and that standard input is read once at most.
/// So a mistake is an error now, not after minutes of reading earlier files.
pub fn check_sources<S: AsRef<OsStr>>(sources: &[S]) -> Result<()> {
    let mut stdin = false;
    for source in sources {
        let source = source.as_ref();
        if source != "-" {
            fs::metadata(source).map_err(|error| Error::io(source, error))?;
        } else if std::mem::replace(&mut stdin, true) {
            return Err(Error::parameter("standard input can be read only once"));
        }
    }
    match sources {
        [] => Err(Error::parameter("no input to read")),
        _ => Ok(()),
    }
}

/// Checks that a file that nobody named, such as one of a folder, is a regular one, or a link to
/// one: others may have no end.
///
/// # Errors
///
/// [`Error::Input`] if it is not; [`Error::Io`] if it does not exist.
pub fn check_regular(path: &Path) -> Result<()> {
    match fs::metadata(path).map_err(|error| Error::io(path, error))?.is_file() {
        true => Ok(()),
        false => Err(Error::input(
            Place::file(path.to_string_lossy()),
            "is no regular file, but a pipe, a device or a folder; expected one, or a link to one",
        )),
    }
}

/// Returns the paths of all that is in a folder, sorted.
///
/// # Errors
///
/// [`Error::Io`] if the folder cannot be read.
pub fn paths_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder);
    let paths = entries.and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = paths.map_err(|error| Error::io(folder, error))?;
    paths.sort_unstable();
    Ok(paths)
}

/// Returns the files to read for a source ([`ReadFormat::files`]).
pub fn files_of(source: &OsStr, options: &ReadOptions) -> Result<Vec<OsString>> {
    match &options.reader {
        Some(reader) => reader.files(source),
        None => Ok(vec![source.to_owned()]),
    }
}

/// Opens a file, or standard input if the name is `-`. Reading adds to the checksum of the file.
pub fn open_stream(name: &OsStr) -> Result<(InputStream, SourceFile)> {
    let source = SourceFile::from(name.to_string_lossy());
    if name == "-" {
        let stream = source.reader(io::stdin());
        return Ok((Box::new(BufReader::with_capacity(BUFFER, stream)), source));
    }
    let file = File::open(name).map_err(|error| Error::io(name, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let folder = name.to_string_lossy();
        let files = folder.trim_end_matches('/');
        let message = format!(
            "is a folder; expected files, such as {files}/*.txt (`format` brat reads a folder of \
             texts with annotations)"
        );
        return Err(Error::input(Place::file(folder), message));
    }
    Ok((Box::new(BufReader::with_capacity(BUFFER, source.reader(file))), source))
}

/// Selects the parser of an input.
fn open(mut lines: LineReader, options: &ReadOptions) -> Result<OpenInput> {
    options.decode(&mut lines);
    lines.limit_memory(options.limits.memory.bytes(0), None);
    let parser = match &options.reader {
        Some(reader) if reader.reads(&mut lines)? => reader.parser(options)?,
        _ => match options.format {
            Some(format) => format.parser(options)?,
            None => Format::of_input(&mut lines, options)?.parser(options)?,
        },
    };
    let per_byte = parser.memory_per_byte();
    lines.limit_memory(options.limits.memory.bytes(0), Some(per_byte));
    Ok(OpenInput {
        lines,
        parser,
        ready: VecDeque::new(),
        has_begun: false,
        error_at: None,
        is_damaged: false,
        is_finished: false,
        sentences: 0,
        line: None,
        separation: Separation::INPUT,
    })
}

impl ReadFormat for Format {
    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        let options = options.clone();
        Ok(match self {
            Self::Text => Box::new(TextParser::new(&options)),
            Self::Conll => Box::new(ConllParser::new(options, false)),
            Self::Conllu => Box::new(ConllParser::new(options, true)),
            Self::Crfsuite => Box::new(CrfsuiteParser::new(options)?),
            Self::Jsonl => Box::new(JsonlParser::new(options)),
        })
    }
}

/// Describes the columns of a schema in an error message.
fn describe(schema: &Schema) -> String {
    let names = schema.names();
    match schema.label().and_then(|label| names.get(label)) {
        Some(label) => format!("{} (label: {label})", schema.list()),
        None => format!("{} (no label)", schema.list()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Cursor, Read, Write};

    use super::*;
    use crate::corpus::Corpus;
    use crate::corpus::tests::{options, sentences};

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

    fn read(directory: &tempfile::TempDir, names: &[&str]) -> Result<Corpus> {
        let sources: Vec<String> = names.iter().map(|name| path(directory, name)).collect();
        Corpus::read(&sources, &ReadOptions::default())
    }

    /// Panics when it is read beyond its end, like a terminal that would block.
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
    fn a_sentence_is_returned_as_soon_as_its_last_line_is_read() {
        let inputs: [(Format, &'static [u8]); 5] = [
            (Format::Text, b"Ann left\n"),
            (Format::Conll, b"Ann B\nleft O\n\n"),
            (Format::Conllu, b"1\tAnn\t_\tX\t_\t_\t_\t_\t_\t_\n\n"),
            (Format::Crfsuite, b"B\tw=Ann\n\n"),
            (Format::Jsonl, b"{\"tokens\":[\"Ann\"],\"labels\":[\"B\"]}\n"),
        ];
        for (format, bytes) in inputs {
            let input = Box::new(Interactive(Cursor::new(bytes)));
            let mut reader = Reader::from_read(input, "-", &options(format));
            assert!(!reader.next().unwrap().unwrap().is_empty(), "{format}");
        }
    }

    #[test]
    fn files_are_read_in_order_compressed_or_not() {
        let mut compressed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        compressed.write_all(b"\xef\xbb\xbfb\tO\r\n\r\nc\tO").unwrap();
        let compressed = compressed.finish().unwrap();
        let files: [(&str, &[u8]); 2] = [("a.txt", b"a\tO"), ("b.conll", &compressed)];
        let directory = directory(&files);
        let read = read(&directory, &["a.txt", "b.conll"]).unwrap();
        let words: Vec<&str> = read.iter().map(|s| s.cell(0, 0)).collect();
        assert_eq!(words, ["a", "b", "c"]);
        assert_eq!(
            read.sentences()[2].place(0).to_string(),
            format!("{}:3", path(&directory, "b.conll"))
        );
    }

    #[test]
    fn a_missing_file_is_named_before_anything_is_read() {
        let directory = directory(&[("a", b"a O")]);
        let missing = path(&directory, "b");
        let sources = [path(&directory, "a"), missing.clone()];
        let error = Reader::open(&sources, &ReadOptions::default()).err().unwrap();
        assert!(matches!(&error, Error::Io { path, .. } if path.as_os_str() == missing.as_str()));
    }

    #[test]
    fn a_folder_is_named_and_the_files_in_it() {
        let directory = directory(&[]);
        let source = path(&directory, "");
        let error = Corpus::read([&source], &ReadOptions::default()).unwrap_err();
        let folder = source.trim_end_matches('/');
        let expected = format!("{source}: is a folder; expected files, such as {folder}/*.txt");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }

    #[test]
    fn a_file_without_a_sentence_is_an_error_if_all_are_read() {
        let directory = directory(&[("a", b"a O"), ("b", b"\n \n")]);
        assert_eq!(
            read(&directory, &["a", "b"]).unwrap_err().to_string(),
            format!("{}: no sentence found; expected at least one", path(&directory, "b"))
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
    fn there_must_be_a_source_and_standard_input_at_most_once() {
        let open = |sources: &[&str]| {
            let reader = Reader::open(sources, &ReadOptions::default());
            reader.err().unwrap().to_string()
        };
        assert_eq!(open(&[]), "no input to read");
        assert_eq!(open(&["-", "-"]), "standard input can be read only once");
    }

    #[test]
    fn reading_stops_after_an_error() {
        let input = Box::new(Cursor::new("a O\nb\nc O\n"));
        let mut reader = Reader::from_read(input, "x", &options(Format::Conll));
        assert!(reader.next().unwrap().is_err());
        assert!(reader.next().is_none());
    }

    #[test]
    fn the_separator_is_that_of_the_current_file() {
        for (text, separator) in [("a\tO\n", '\t'), ("a O\n", ' ')] {
            let input = Box::new(Cursor::new(text));
            let mut reader = Reader::from_read(input, "x", &options(Format::Conll));
            assert_eq!(reader.separator(), '\t');
            reader.next().unwrap().unwrap();
            assert_eq!(reader.separator(), separator);
        }
    }
}
