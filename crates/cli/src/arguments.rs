//! Argument groups and value types shared by several commands.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dropchain::corpus::{Corpus, FileKind, Format, ReadOptions, Supervision, TextOptions};
use dropchain::sentence::LineRules;
use dropchain::{Error, Model, Result};
use dropchain_formats::{
    InputFormat, Misaligned, Overlaps, SpanOffsets, SpanOptions, annotation_files,
};

use crate::{FileName, MemoryArgument, TextArguments, notice};

/// How to read corpora.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Input format [default: by file name and first lines, otherwise conll]
    ///
    /// text: raw text, split into sentences and tokens. conll: one token per line, in columns, with
    /// blank lines between sentences. conllu: CoNLL-U. crfsuite: attributes in CRFsuite's format.
    /// jsonl: JSON lines {"tokens": […], "labels": […]}. spans: JSON with texts and spans of
    /// characters, of Prodigy, doccano and Label Studio. brat: files NAME.txt with NAME.ann, or
    /// folders of them. webanno: TSV 3 of WebAnno and INCEpTION, which its first line names, too.
    #[arg(long, value_parser = input_format(), hide_short_help = true)]
    pub format: Option<InputFormat>,
    /// Column names of CoNLL files, left to right, for example `word,pos,chunk,ner`
    ///
    /// With --format spans, the key of the text, by default `text` or the only string of `data`.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Option<Vec<String>>,
    /// Label column: its name or index; upos+feats joins two
    ///
    /// 0 is the index of the first column, -1 of the last. A name that is no column of CoNLL-U is a
    /// key in its column misc, such as name in `name=B-PER`. The values of joined columns, two or
    /// more, are one label, in this order with `+` in between. `tag` splits it again and fills all
    /// of the columns. Only the last column may have values with `+`.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<String>,
    /// Names of labels that are numbers in JSON lines, from 0: O,B-PER,I-PER
    #[arg(long, value_delimiter = ',', value_name = "NAMES", hide_short_help = true)]
    label_names: Vec<String>,
    #[command(flatten)]
    pub lines: LineArguments,
    #[command(flatten)]
    pub text: TextArguments,
    #[command(flatten)]
    pub spans: SpanArguments,
    #[command(flatten)]
    pub limits: MemoryArgument,
}

impl InputArguments {
    /// Returns the options for reading labeled corpora.
    pub fn read_options(&self) -> ReadOptions {
        let options = self.text.apply(ReadOptions {
            columns: self.columns.clone(),
            label: self.label.clone(),
            lines: self.lines.rules(),
            supervision: Supervision {
                weights: false,
                label_names: self.label_names.clone(),
                ..Supervision::default()
            },
            limits: self.limits.memory().into(),
            ..ReadOptions::default()
        });
        match self.format {
            None => InputFormat::guess(self.spans.options(), options),
            Some(format) => format.apply(self.spans.options(), options),
        }
    }

    /// Returns the arguments for files that come with attributes, as the data of a model without a
    /// template do, and says so. A format that is given or that the names tell stays.
    pub fn with_attributes(&self, files: &[FileName], model: &Model) -> Self {
        let mut input = self.clone();
        if self.format.is_none() && files.iter().all(|file| Format::of_name(file).is_none()) {
            notice(&format!(
                "read as CRFsuite's format, since {} has no template",
                model.path().display()
            ));
            input.format = Some(Format::Crfsuite.into());
        }
        input
    }
}

/// Returns the files that are read beside those that were named: of BRAT's format, the annotations
/// and the files of folders.
pub fn other_files<'a>(
    format: Option<InputFormat>,
    files: impl IntoIterator<Item = &'a FileName>,
) -> Vec<PathBuf> {
    let is_brat = format == Some(InputFormat::Brat);
    let files = files.into_iter().filter(|_| is_brat);
    let files = files.flat_map(|file| annotation_files(OsStr::new(&**file)));
    files.filter(|file| file.exists()).collect() // text may have no annotations
}

/// Checks that the names of files tell the same format, or none, unless one is given.
pub fn check_names(given: Option<InputFormat>, files: &[FileName]) -> Result<()> {
    let first = Format::of_name(&files[0]);
    let other = files.iter().find(|file| Format::of_name(file) != first);
    if let Some(other) = other.filter(|_| given.is_none()) {
        let name = |file: &FileName| Format::of_name(file).map_or("text", Format::name);
        return Err(Error::parameter(format!(
            "{} looks like {}, {other} like {}; specify the format with --format",
            files[0],
            name(&files[0]),
            name(other)
        )));
    }
    Ok(())
}

/// Returns whether a file is a model: of a tagger, of CRFsuite, or of documents.
pub fn is_model(file: impl AsRef<Path>) -> bool {
    FileKind::of_first_bytes(file).is_some_and(FileKind::is_model)
}

/// Parses the name of an input format.
pub fn input_format() -> impl TypedValueParser<Value = InputFormat> {
    let names = PossibleValuesParser::new(InputFormat::ALL.map(InputFormat::name));
    names.try_map(|name| name.parse::<InputFormat>())
}

/// Lines of CoNLL files that are not tokens.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct LineArguments {
    /// Treat lines of CoNLL files that start with `#` as comments, not tokens
    ///
    /// A model remembers it for the files that it tags.
    #[arg(long, hide_short_help = true)]
    pub comments: bool,
    /// The first line of each CoNLL file is a header row, which names the columns
    ///
    /// Names in --columns override it. A model remembers it for the files that it tags.
    #[arg(long, hide_short_help = true)]
    pub header: bool,
}

impl LineArguments {
    pub fn rules(&self) -> LineRules {
        LineRules { comments: self.comments, header: self.header }
    }
}

/// Raw text with hard line breaks.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct ParagraphArgument {
    /// Raw text has hard line breaks: a blank line ends a paragraph, other line ends are blanks
    #[arg(long)]
    paragraphs: bool,
}

impl ParagraphArgument {
    /// Returns how text is read.
    pub fn options(self) -> TextOptions {
        TextOptions { paragraphs: self.paragraphs, ..TextOptions::default() }
    }
}

/// How to read spans of characters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct SpanArguments {
    /// What offsets of spans count: chars (code points), utf16, lines (CRLF is one), utf16-lines or
    /// bytes [default: chars, or what the texts of the spans show]
    #[arg(long, value_name = "UNIT", hide_long_help = true)]
    offsets: Option<SpanOffsets>,
    /// Spans that cut a token: error, expand (to whole tokens) or drop [default: error]
    ///
    /// The error lists all of them. Discontinuous spans of BRAT are treated alike.
    #[arg(long, value_name = "ACTION", hide_long_help = true)]
    misaligned: Option<Misaligned>,
    /// Spans that overlap: error, longest (is kept) or first (listed) [default: error]
    ///
    /// The error lists all of them. Exact duplicates are read once.
    #[arg(long, value_name = "ACTION", hide_long_help = true)]
    overlaps: Option<Overlaps>,
}

impl SpanArguments {
    pub fn options(&self) -> SpanOptions {
        SpanOptions {
            offsets: self.offsets,
            misaligned: self.misaligned.unwrap_or_default(),
            overlaps: self.overlaps.unwrap_or_default(),
        }
    }
}

/// How to read labels that are not fully known.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct PartialLabelArguments {
    /// Labels of TRAIN may be unknown (`_`) or one of several (`B-PER|B-ORG`)
    ///
    /// Otherwise `_` and `B-PER|B-ORG` are labels like any other. In JSON lines, null and arrays
    /// of labels are partial labels too.
    #[arg(long, hide_short_help = true)]
    pub partial_labels: bool,
}

impl PartialLabelArguments {
    /// Returns options that read training data, weights included.
    pub fn apply(&self, options: ReadOptions) -> ReadOptions {
        let partial_labels = self.partial_labels;
        let supervision = Supervision { partial_labels, weights: true, ..options.supervision };
        ReadOptions { supervision, ..options }
    }

    /// Returns a hint if labels of `corpus` look partial, but are read as ordinary labels.
    pub fn hint(&self, corpus: &Corpus) -> Option<String> {
        if self.partial_labels {
            return None;
        }
        let mut labels = HashSet::new();
        for sentence in corpus {
            labels.extend((0..sentence.len()).filter_map(|t| sentence.label(t)));
        }
        let is_set = |label: &&&str| {
            label.contains('|') && label.split('|').all(|part| labels.contains(part))
        };
        let label = match labels.get("_") {
            Some(label) if labels.len() > 1 => label,
            _ => labels.iter().filter(|label| is_set(label)).min()?,
        };
        Some(format!(
            "note: '{label}' is trained as a label like any other; with --partial-labels, '_' is \
             an unknown label and A|B one of two"
        ))
    }
}
