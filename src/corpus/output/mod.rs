//! Tagged sentences out.

mod conll;
mod conllu;
mod inline;
mod jsonl;

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::sentence::{Schema, Sentence};

/// What stands for a word where the input has none (CRFsuite's format).
const NO_WORD: &str = "_";

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// The input's columns with the predicted label as one more.
    Conll,
    /// CoNLL-U: a column of it, or a key of its last column, is the predicted label.
    Conllu,
    /// A JSON object per sentence.
    Jsonl,
    /// A line per sentence with the spans in brackets, or a tag behind each word.
    Inline,
}

impl OutputFormat {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Conll, "conll"),
        (Self::Conllu, "conllu"),
        (Self::Jsonl, "jsonl"),
        (Self::Inline, "inline"),
    ];
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(output, _)| output == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for OutputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().find(|(_, n)| *n == name);
        found.map(|(output, _)| *output).ok_or_else(|| {
            Error::parameter(format!(
                "unknown output format '{name}': expected conll, conllu, jsonl or inline"
            ))
        })
    }
}

/// A sentence with the labels found for it.
#[derive(Clone, Debug)]
pub struct Tagged<'a> {
    /// The sentence, as it was read.
    pub sentence: &'a Sentence,
    /// The predicted labels, `[T]`; not looked at for a document boundary.
    pub labels: Vec<&'a str>,
    /// The probability of each label at each token, best first, `[T][K]`.
    pub marginals: Option<Vec<Vec<(&'a str, f64)>>>,
    /// The probability of `labels` as a whole.
    pub probability: Option<f64>,
    /// The best label sequences, best first; empty where they were not asked for.
    pub nbest: Vec<Candidate<'a>>,
}

impl<'a> Tagged<'a> {
    /// A sentence with labels and nothing more.
    #[must_use]
    pub fn new(sentence: &'a Sentence, labels: Vec<&'a str>) -> Self {
        Self {
            sentence,
            labels,
            marginals: None,
            probability: None,
            nbest: Vec::new(),
        }
    }

    /// The probability that token `t` has `label`, where marginals are there.
    fn marginal(&self, t: usize, label: &str) -> Option<f64> {
        let token = self.marginals.as_ref()?.get(t)?;
        let found = token.iter().find(|(name, _)| *name == label);
        found.map(|(_, probability)| *probability)
    }

    /// Checks that everything has one entry per token.
    fn check(&self) -> Result<()> {
        let tokens = self.sentence.len();
        let fault = |what: &str, found: usize| {
            let place = self.sentence.place(0);
            Err(Error::parameter(format!(
                "{place}: {found} {what} for a sentence of {tokens} tokens"
            )))
        };
        if self.labels.len() != tokens {
            return fault("labels", self.labels.len());
        }
        if let Some(marginals) = &self.marginals
            && marginals.len() != tokens
        {
            return fault("marginals", marginals.len());
        }
        match self.nbest.iter().find(|path| path.labels.len() != tokens) {
            Some(path) => fault("labels in a candidate", path.labels.len()),
            None => Ok(()),
        }
    }
}

/// One of the best label sequences of a sentence.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Its labels, `[T]`.
    pub labels: Vec<&'a str>,
    /// Its score: the logarithm of its weight before normalization.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

/// How sentences are to be written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format.
    pub format: OutputFormat,
    /// CoNLL: what separates the columns, a tab or a space. One for the whole output, since a
    /// reader takes it from the first line; [`crate::corpus::Reader::separator`] tells the input's.
    pub separator: char,
    /// Whether the labels write spans (any scheme but raw): JSON lines have `spans` then, and
    /// inline output brackets.
    pub spans: bool,
    /// CoNLL-U: the column that takes the label, by name or number; any other name is a key of
    /// `MISC`.
    pub label: String,
}

impl WriteOptions {
    /// Tabs; labels that write spans; `upos` takes the label in CoNLL-U.
    #[must_use]
    pub fn new(format: OutputFormat) -> Self {
        Self {
            format,
            separator: '\t',
            spans: true,
            label: "upos".to_owned(),
        }
    }
}

/// Writes tagged sentences to a stream, each with a single `write_all`.
///
/// Nothing is buffered beyond a sentence: what `out` does with it is the caller's choice.
pub struct Writer<W: Write> {
    out: W,
    name: String,
    options: WriteOptions,
    buffer: String,
    new_document: bool, // CoNLL-U: the next sentence begins one
}

impl<W: Write> Writer<W> {
    /// A writer to `out`, which errors call `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when the separator is neither a tab nor a space, or the label is to go
    /// to a key of `MISC` that cannot be one.
    pub fn new(out: W, name: &str, options: WriteOptions) -> Result<Self> {
        if !matches!(options.separator, '\t' | ' ') {
            return Err(Error::parameter(format!(
                "columns cannot be separated by {:?}: expected a tab or a space",
                options.separator
            )));
        }
        if options.format == OutputFormat::Conllu {
            conllu::check_label(&options.label)?;
        }
        Ok(Self {
            out,
            name: name.to_owned(),
            options,
            buffer: String::new(),
            new_document: false,
        })
    }

    /// Says whether the sentence before the first that is written is the boundary of a document, where
    /// sentences are spread over several writers.
    pub fn begin_document(&mut self, begin: bool) {
        self.new_document = begin;
    }

    /// Writes a sentence.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the format cannot hold a cell (a tab or a line end in a token);
    /// [`Error::Parameter`] when labels and tokens are not equally many; [`Error::Io`] when the
    /// stream refuses it.
    pub fn write(&mut self, tagged: &Tagged) -> Result<()> {
        self.buffer.clear();
        if tagged.sentence.layout.document_start {
            self.new_document = true;
            if self.options.format == OutputFormat::Conll {
                conll::boundary(&mut self.buffer, tagged, self.options.separator)?;
            }
        } else {
            tagged.check()?;
            self.sentence(tagged)?;
        }
        let written = self.out.write_all(self.buffer.as_bytes());
        written.map_err(|error| Error::io(&self.name, error))
    }

    /// Passes on what the stream itself holds back.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the stream refuses it.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.out.flush();
        flushed.map_err(|error| Error::io(&self.name, error))
    }

    /// The stream.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn sentence(&mut self, tagged: &Tagged) -> Result<()> {
        let Self {
            buffer, options, ..
        } = self;
        match options.format {
            OutputFormat::Conll => conll::sentence(buffer, tagged, options.separator),
            OutputFormat::Conllu => {
                let first = std::mem::take(&mut self.new_document);
                conllu::sentence(buffer, tagged, &options.label, first)
            }
            OutputFormat::Jsonl => jsonl::sentence(buffer, tagged, options.spans),
            OutputFormat::Inline => {
                inline::sentence(buffer, tagged, options.spans);
                Ok(())
            }
        }
    }
}

/// The column of the words, if the input has words.
fn word_column(schema: &Schema) -> Option<usize> {
    let first = (schema.width() > 0 && schema.label() != Some(0)).then_some(0);
    schema.position("word").or(first)
}

/// The word of token `t`.
fn word(sentence: &Sentence, t: usize) -> &str {
    word_column(sentence.schema()).map_or(NO_WORD, |column| sentence.cell(t, column))
}

/// The text that the tokens' offsets refer to, where there are both.
fn source(sentence: &Sentence) -> Option<&str> {
    let source = sentence.layout.source.as_deref();
    source.filter(|_| !sentence.offsets.is_empty())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::corpus::reader::tests::sentences;
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::Layout;

    /// The sentences of an input to be tagged.
    pub fn read(format: Format, text: &str) -> Vec<Sentence> {
        let options = ReadOptions {
            format: Some(format),
            unlabeled: true,
            ..ReadOptions::default()
        };
        sentences(text, &options).unwrap()
    }

    /// What a writer makes of sentences.
    pub fn written(options: &WriteOptions, tagged: &[Tagged]) -> Result<String> {
        let mut writer = Writer::new(Vec::new(), "out", options.clone())?;
        for sentence in tagged {
            writer.write(sentence)?;
        }
        writer.flush()?;
        Ok(String::from_utf8(writer.into_inner()).unwrap())
    }

    /// What a writer makes of the first sentence of `text` with the labels `A`, `B`, ….
    pub fn one(options: &WriteOptions, format: Format, text: &str, labels: &[&str]) -> String {
        let sentences = read(format, text);
        let tagged = Tagged::new(&sentences[0], labels.to_vec());
        written(options, &[tagged]).unwrap()
    }

    /// A sentence with marginals, a probability and two candidates.
    pub fn full<'a>(sentence: &'a Sentence, best: &[&'a str], second: &[&'a str]) -> Tagged<'a> {
        let marginal = |(a, b): (&&'a str, &&'a str)| vec![(*a, 0.75), (*b, 0.25)];
        Tagged {
            sentence,
            labels: best.to_vec(),
            marginals: Some(best.iter().zip(second).map(marginal).collect()),
            probability: Some(0.5),
            nbest: vec![
                Candidate {
                    labels: best.to_vec(),
                    score: 2.5,
                    probability: 0.5,
                },
                Candidate {
                    labels: second.to_vec(),
                    score: -1.0,
                    probability: 0.125,
                },
            ],
        }
    }

    /// Counts calls.
    struct Calls(usize);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn names_are_read_as_they_are_shown() {
        for (output, name) in OutputFormat::ALL {
            assert_eq!(output.to_string(), name);
            assert_eq!(name.parse::<OutputFormat>().unwrap(), output);
        }
        assert_eq!(
            "xml".parse::<OutputFormat>().unwrap_err().to_string(),
            "unknown output format 'xml': expected conll, conllu, jsonl or inline"
        );
    }

    #[test]
    fn a_sentence_is_written_in_one_piece_and_errors_name_the_stream() {
        for (output, _) in OutputFormat::ALL {
            let mut writer = Writer::new(Calls(0), "out", WriteOptions::new(output)).unwrap();
            let sentences = read(Format::Conll, "a\nb\n\nc\n");
            writer
                .write(&Tagged::new(&sentences[0], vec!["O", "O"]))
                .unwrap();
            writer
                .write(&Tagged::new(&sentences[1], vec!["O"]))
                .unwrap();
            assert!(matches!(
                writer.flush(),
                Err(Error::Io { path, source }) if path.as_os_str() == "out"
                    && source.kind() == std::io::ErrorKind::BrokenPipe
            ));
            assert_eq!(writer.into_inner().0, 2);
        }
    }

    #[test]
    fn labels_must_be_as_many_as_tokens() {
        let sentences = read(Format::Conll, "a\nb\n");
        let options = WriteOptions::new(OutputFormat::Jsonl);
        let error = |tagged| written(&options, &[tagged]).unwrap_err().to_string();
        assert_eq!(
            error(Tagged::new(&sentences[0], vec!["O"])),
            "x:1: 1 labels for a sentence of 2 tokens"
        );
        let mut tagged = full(&sentences[0], &["O", "O"], &["O", "O"]);
        tagged.nbest[1].labels.pop();
        assert_eq!(
            error(tagged.clone()),
            "x:1: 1 labels in a candidate for a sentence of 2 tokens"
        );
        tagged.marginals = Some(Vec::new());
        assert_eq!(error(tagged), "x:1: 0 marginals for a sentence of 2 tokens");
    }

    #[test]
    fn a_separator_is_a_tab_or_a_space() {
        let options = WriteOptions {
            separator: ',',
            ..WriteOptions::new(OutputFormat::Conll)
        };
        assert_eq!(
            written(&options, &[]).unwrap_err().to_string(),
            "columns cannot be separated by ',': expected a tab or a space"
        );
    }

    #[test]
    fn document_boundaries_leave_no_trace_in_jsonl_and_inline() {
        let mut boundary = Sentence::from_words(["-DOCSTART-"]);
        boundary.layout = Layout {
            document_start: true,
            ..Layout::default()
        };
        for output in [OutputFormat::Jsonl, OutputFormat::Inline] {
            let tagged = Tagged::new(&boundary, Vec::new());
            assert_eq!(written(&WriteOptions::new(output), &[tagged]).unwrap(), "");
        }
    }
}
