//! Parsing BRAT's standoff format: a text in `NAME.txt`, its annotations in `NAME.ann`.
//!
//! Annotations of text are read: `T1 TAB TYPE START END TAB TEXT`. Relations, events,
//! attributes and notes are skipped.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use dropchain::corpus::{InputLine, LineReader, ReadFormat, ReadOptions, SentenceParser};
use dropchain::kernel::corpus::{check_regular, paths_in};
use dropchain::{Error, Place, Result, Sentence};

use super::alignment::Aligner;
use super::marked_text::{MarkedSpan, MarkedText};
use super::span_options::SpanOptions;

/// BRAT's standoff format: a text `NAME.txt`, its annotations in `NAME.ann`; or a folder of them.
#[derive(Clone, Debug)]
pub struct Brat(pub SpanOptions);

impl ReadFormat for Brat {
    fn files(&self, source: &OsStr) -> Result<Vec<OsString>> {
        Ok(text_files(source)?.into_iter().map(PathBuf::into_os_string).collect())
    }

    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        let aligner = Aligner::new(options.clone(), self.0.clone(), "label")?;
        Ok(Box::new(BratParser { aligner: Some(aligner) }))
    }
}

/// Parses a text and its annotations. All sentences are read at once; none after an error.
struct BratParser {
    aligner: Option<Aligner>, // until the text is read
}

/// Reads the annotations of a text.
fn annotations(text: &LineReader) -> Result<Vec<MarkedSpan>> {
    let path = Path::new(&**text.file());
    if path.extension() != Some(OsStr::new("txt")) {
        let message = "expected a text NAME.txt, which has its annotations in NAME.ann";
        return Err(Error::input(Place::file(&**text.file()), message));
    }
    let path = path.with_extension("ann");
    check_regular(&path)?;
    let file = File::open(&path).map_err(|error| Error::io(&path, error))?;
    // The checksum of the text goes on with the annotations.
    let stream = BufReader::new(text.file().reader(file));
    let mut lines = text.like(Box::new(stream), path.to_string_lossy());
    let mut spans = Vec::new();
    while let Some(line) = lines.next_line()? {
        spans.extend(annotation(&line)?);
    }
    Ok(spans)
}

impl SentenceParser for BratParser {
    fn advance(&mut self, lines: &mut LineReader, ready: &mut VecDeque<Sentence>) -> Result<bool> {
        let Some(mut aligner) = self.aligner.take() else { return Ok(false) };
        let mut text = String::new();
        while let Some(line) = lines.next_line()? {
            if line.has_mark && line.number > 1 {
                text.push('\u{feff}'); // which offsets count
            }
            text.push_str(line.text);
            text.push_str(line.ending);
        }
        let spans = if aligner.options.unlabeled { Vec::new() } else { annotations(lines)? };
        let text = text.into();
        let marked = MarkedText { text, line: 1, is_file: true, spans, ..MarkedText::default() };
        let sentences = aligner.sentences(&marked, lines.file())?;
        aligner.faults.finish()?;
        ready.extend(sentences);
        Ok(false)
    }
}

/// Parses a line of annotations; `None` if it is not one of text.
fn annotation(line: &InputLine) -> Result<Option<MarkedSpan>> {
    let is_other = line.text.starts_with(['R', 'E', 'A', 'M', 'N', '#', '*']);
    if is_other || line.text.trim().is_empty() {
        return Ok(None);
    }
    if !line.text.starts_with('T') {
        return Err(line.error(
            "expected an annotation such as T1 TAB PER 0 3 TAB Ann (or one that begins with R, E, \
             A, M, N, # or *)",
        ));
    }
    let mut fields = line.text.splitn(3, '\t');
    let (_, middle, text) = (fields.next(), fields.next().unwrap_or_default(), fields.next());
    let parsed = middle.split_once(' ').and_then(|(label, ranges)| {
        let range = |range: &str| {
            let (start, end) = range.split_once(' ')?;
            Some((start.parse().ok()?, end.parse().ok()?))
        };
        let ranges: Option<Vec<(u64, u64)>> = ranges.split(';').map(range).collect();
        Some((label, ranges?))
    });
    let Some((label, ranges)) = parsed else {
        return Err(line.error(format!(
            "expected a type and offsets after the first tab, such as PER 0 3, found '{middle}'"
        )));
    };
    if let Some((start, end)) = ranges.iter().find(|(start, end)| start >= end) {
        return Err(line.error(format!(
            "the span {start}–{end} ({label}) is empty or reversed; expected an end after the start"
        )));
    }
    let gaps = ranges.windows(2).map(|pair| (pair[0].1, pair[1].0));
    let start = ranges.iter().map(|range| range.0).min().unwrap_or(0);
    let end = ranges.iter().map(|range| range.1).max().unwrap_or(0);
    let place = Place::line(&**line.file, line.number);
    Ok(Some(MarkedSpan {
        text: text.filter(|_| ranges.len() == 1).map(str::to_owned),
        gaps: gaps.collect(),
        ..MarkedSpan::new((start, end), label.to_owned(), place)
    }))
}

/// Returns the texts that a source stands for: those of a folder, sorted by name, or the text of an
/// annotation file.
fn text_files(source: &OsStr) -> Result<Vec<PathBuf>> {
    let path = Path::new(source);
    if source == "-" {
        return Err(Error::parameter(
            "standard input cannot be BRAT's format, which has two files; expected a folder, or \
             files NAME.txt",
        ));
    }
    if !path.is_dir() {
        let is_annotation = path.extension() == Some(OsStr::new("ann"));
        let text = if is_annotation { path.with_extension("txt") } else { path.to_owned() };
        return Ok(vec![text]);
    }
    let mut files = paths_in(path)?;
    files.retain(|file| file.extension() == Some(OsStr::new("txt")));
    files.iter().try_for_each(|file| check_regular(file))?;
    if files.is_empty() {
        let place = Place::file(&*path.to_string_lossy());
        let message =
            "the folder has no files NAME.txt; expected texts, with annotations in NAME.ann";
        return Err(Error::input(place, message));
    }
    Ok(files)
}

/// Returns the files that reading a source in BRAT's format reads: texts and their annotations.
/// None if it cannot be read.
pub fn annotation_files(source: &OsStr) -> Vec<PathBuf> {
    let texts = text_files(source).unwrap_or_default().into_iter();
    texts.flat_map(|text| [text.with_extension("ann"), text]).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dropchain::corpus::Reader;
    use dropchain_numerics::testing::escaped_rows;

    use super::*;
    use crate::{InputFormat, Misaligned};

    fn options(spans: SpanOptions) -> ReadOptions {
        InputFormat::Brat.apply(spans, ReadOptions::default())
    }

    /// A folder with the text and the annotations of `a`.
    fn folder(text: &str, annotations: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), text).unwrap();
        fs::write(folder.path().join("a.ann"), annotations).unwrap();
        folder
    }

    fn read(source: &Path, options: &ReadOptions) -> Result<Vec<String>> {
        let sentences: Result<Vec<Sentence>> = Reader::open(&[source], options)?.collect();
        let cells = |s: &Sentence, t| s.cells(t).collect::<Vec<_>>().join("/");
        let line = |s: &Sentence| (0..s.len()).map(|t| cells(s, t)).collect::<Vec<_>>().join(" ");
        Ok(sentences?.iter().map(line).collect())
    }

    const TEXT: &str = "Zoë Lee\r\nleft Rome.\n";

    #[test]
    fn annotations_of_text_are_read_and_others_skipped() {
        let annotations =
            "T1\tPER 0 7\tZoë Lee\nT2\tLOC 14 18\tRome\nR1\tx Arg1:T1 Arg2:T2\n#1\tNote\n\n";
        let folder = folder(TEXT, annotations);
        let expected = ["Zoë/B-PER Lee/I-PER", "left/O Rome/B-LOC ./O"];
        for source in ["", "a.txt", "a.ann"] {
            let source = folder.path().join(source);
            assert_eq!(read(&source, &options(SpanOptions::default())).unwrap(), expected);
        }
        // Of a tool that counts CRLF as one character.
        let folder = self::folder(TEXT, &annotations.replace("14 18", "13 17"));
        assert_eq!(read(folder.path(), &options(SpanOptions::default())).unwrap(), expected);
    }

    #[test]
    fn faults_are_errors_with_their_place_in_the_annotations() {
        let table = r#"
            T1\tPER 0 2\tZo\n → a.ann:1: the span 'Zo' (PER, 0–2) cuts the token 'Zoë'; expected
            \nT1\tPER 0 3;14 18\tZoë Rome\n → a.ann:2: the span 'Zoë Lee\r\nleft Rome' (PER, 0–18)
                is discontinuous; expected
            T1\tA 0 7\tZoë Lee\nT2\tB 4 7\tLee\n → a.ann:2: the span 'Zoë Lee' (A, 0–7) and the span
                'Lee' (B, 4–7) overlap
            T1\tPER 0 3\tZoe\n → a.ann:1: the span 0–3 (PER) has the text 'Zoe', but there is 'Zoë'
            T1\tPER 3 0\tZoë\n → a.ann:1: the span 3–0 (PER) is empty or reversed
            T1\tPER 0 x\tZoë\n → a.ann:1: expected a type and offsets after the first tab, such as
                PER 0 3, found 'PER 0 x'
            PER 0 3\n → a.ann:1: expected an annotation such as
            T1\tPER 0 99\tZoë\n → a.ann:1: the span 0–99 (PER) ends beyond the text
        "#;
        for (annotations, expected) in escaped_rows(table) {
            let folder = folder(TEXT, &annotations);
            let error =
                read(folder.path(), &options(SpanOptions::default())).unwrap_err().to_string();
            assert!(error.contains(&expected), "{error}");
        }
    }

    #[test]
    fn fragments_with_only_white_space_between_them_are_one_span() {
        let folder = folder(TEXT, "T1\tPER 4 7;9 13\tLee left\n");
        assert_eq!(
            read(folder.path(), &options(SpanOptions::default())).unwrap(),
            ["Zoë/O Lee/B-PER left/I-PER Rome/O ./O"]
        );
    }

    #[test]
    fn discontinuous_spans_can_be_extended_or_left_out() {
        let folder = folder(TEXT, "T1\tPER 0 3;9 13\tZoë left\n");
        let read = |misaligned| {
            let options = options(SpanOptions { misaligned, ..SpanOptions::default() });
            read(folder.path(), &options).unwrap()
        };
        assert_eq!(read(Misaligned::Drop)[0], "Zoë/O Lee/O");
        assert_eq!(read(Misaligned::Expand)[0], "Zoë/B-PER Lee/I-PER left/I-PER Rome/O ./O");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_of_a_folder_is_named_and_not_opened() {
        for name in ["a.txt", "a.ann"] {
            let folder = folder(TEXT, "");
            let path = folder.path().join(name);
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            let error = read(folder.path(), &options(SpanOptions::default())).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(name) && error.contains("is no regular file"), "{error}");
        }
    }

    #[test]
    fn a_text_needs_annotations_only_to_be_labeled() {
        let folder = folder(TEXT, "");
        fs::remove_file(folder.path().join("a.ann")).unwrap();
        let labeled = options(SpanOptions::default());
        let error = read(folder.path(), &labeled).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("a.ann")), "{error}");
        let unlabeled = ReadOptions { unlabeled: true, ..labeled };
        assert_eq!(read(folder.path(), &unlabeled).unwrap()[0], "Zoë Lee");
    }
}
