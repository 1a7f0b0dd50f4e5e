//! The output of `tag`: format and destination.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstream::AutoStream;
use clap::{Args, ColorChoice, ValueEnum};
use dropchain::corpus::{Format, OutputFormat, Reader, WriteFormat, WriteOptions};
use dropchain::kernel::atomic_file;
use dropchain::model::Header;
use dropchain::sentence::OffsetUnit;
use dropchain::tag::{TagOptions, Threshold};
use dropchain::{Error, Result};
use dropchain_formats::{Inline, InputFormat, TextFormat};
use dropchain_options::named;

use crate::{CommandFiles, FileName, OutputKind};

/// What to write.
#[derive(Debug, Args)]
pub struct TagOutputArguments {
    /// Output format [default: the input format, or conll for raw text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output: Option<OutputName>,
    /// Write a file for each input file to this directory, with the same name and the extension of
    /// the format; of BRAT also the text
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Replace files in the directory that exist
    #[arg(long, requires = "output_dir", conflicts_with = "skip_existing")]
    pub force: bool,
    /// Leave out input files whose output exists, as after an interruption
    #[arg(long, requires = "output_dir")]
    pub skip_existing: bool,
    /// Go on after an input file with an error; at the end these are listed, with exit code 1
    #[arg(long, requires = "output_dir")]
    pub keep_going: bool,
    /// What positions in jsonl, spans and doccano count [default: chars, for doccano utf16]
    #[arg(long, value_parser = named::<OffsetUnit>(), value_name = "UNIT",
          hide_short_help = true)]
    offsets: Option<OffsetUnit>,
    /// Color inline output by type; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    color: ColorChoice,
    /// Output the probability of each label at each token, and of each span (`probability`)
    #[arg(long)]
    pub marginals: bool,
    /// Output only spans that are at least this probable: 0.8, or PER=0.9,LOC=0.6 by type
    ///
    /// The tokens of the others are outside. The spans have their `probability`, as with
    /// --marginals, so 0 adds it and leaves out none. `eval --thresholds` shows what thresholds do
    /// to precision and recall.
    #[arg(long, value_name = "P", conflicts_with = "nbest")]
    pub threshold: Option<Threshold>,
    /// Output the N best label sequences, with scores and probabilities
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub nbest: u32,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputName {
    /// The input columns, followed by the label
    Conll,
    /// CoNLL-U with the label in its column
    Conllu,
    /// One JSON object per sentence, with spans and offsets
    Jsonl,
    /// Marked-up text: [PER Ada Lovelace] lived in [LOC London].
    Inline,
    /// A page with highlighted spans
    Html,
    /// JSON lines for spaCy's displaCy
    Displacy,
    /// Spans of characters as JSON lines, as in Prodigy
    Spans,
    /// Spans of characters as JSON lines for doccano
    Doccano,
    /// Tasks with predictions for Label Studio
    #[value(alias = "labelstudio")]
    LabelStudio,
    /// BRAT's annotations (.ann) of the input text
    Brat,
}

impl OutputName {
    /// Returns whether the format has whole texts ([`WriteFormat::has_texts`]).
    pub fn has_texts(self) -> bool {
        !self.has_candidates()
    }

    /// Returns whether the format shows several label sequences.
    fn has_candidates(self) -> bool {
        matches!(self, Self::Conll | Self::Conllu | Self::Jsonl | Self::Inline)
    }

    /// Returns whether the format has the probabilities of marks.
    fn has_mark_probabilities(self) -> bool {
        self == Self::Jsonl || self.has_texts() && self != Self::Doccano
    }

    /// Returns the extension of files in the format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Conll => "conll",
            Self::Conllu => "conllu",
            Self::Jsonl | Self::Displacy | Self::Spans | Self::Doccano => "jsonl",
            Self::Inline => "txt",
            Self::Html => "html",
            Self::LabelStudio => "json",
            Self::Brat => "ann",
        }
    }
}

impl fmt::Display for OutputName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl TagOutputArguments {
    /// Returns how to write what a model says.
    pub fn write_options(&self, output: OutputName, model: &Path, header: &Header) -> WriteOptions {
        WriteOptions {
            format: self.write_format(output, model),
            spans: header.encodes_spans(),
            label: header.columns.label_name().unwrap_or("label").to_owned(),
            joined: header.columns.joined_names().to_vec(),
            offsets: self.offsets.unwrap_or(match output {
                OutputName::Doccano => OffsetUnit::Utf16,
                _ => OffsetUnit::Chars,
            }),
            ..WriteOptions::new(OutputFormat::Conll)
        }
    }

    /// Returns what to compute, and which spans to write if their probabilities are computed.
    pub fn tag_options(&self, output: OutputName) -> (TagOptions, Option<Threshold>) {
        let has_probability = self.marginals || self.nbest > 1;
        let options = TagOptions {
            marginals: self.marginals && !output.has_texts(),
            nbest: self.nbest as usize,
            probability: has_probability
                && matches!(output, OutputName::Jsonl | OutputName::LabelStudio),
            ..TagOptions::default()
        };
        let has_marks = self.marginals && output.has_mark_probabilities();
        (options, self.threshold.clone().or_else(|| has_marks.then(Threshold::default)))
    }

    fn write_format(&self, output: OutputName, model: &Path) -> Arc<dyn WriteFormat> {
        Arc::new(match output {
            OutputName::Conll => return Arc::new(OutputFormat::Conll),
            OutputName::Conllu => return Arc::new(OutputFormat::Conllu),
            OutputName::Jsonl => return Arc::new(OutputFormat::Jsonl),
            OutputName::Inline => return Arc::new(Inline { color: self.has_colors() }),
            OutputName::Html => TextFormat::Html,
            OutputName::Displacy => TextFormat::Displacy,
            OutputName::Spans => TextFormat::Spans,
            OutputName::Doccano => TextFormat::Doccano,
            OutputName::LabelStudio => {
                let model = model.file_stem().unwrap_or_default().to_string_lossy();
                TextFormat::LabelStudio { model: model.into_owned() }
            }
            OutputName::Brat => TextFormat::Brat,
        })
    }

    /// Rejects options that the output format has no place for.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] for the first of them.
    pub fn check(&self, inputs: usize) -> Result<()> {
        let fault = match self.output {
            Some(format) if self.nbest > 1 && !format.has_candidates() => format!(
                "--nbest: the output format {format} shows a single label sequence; expected \
                 conll, conllu, jsonl or inline"
            ),
            Some(format)
                if self.marginals
                    && !format.has_candidates()
                    && !format.has_mark_probabilities() =>
            {
                format!(
                    "--marginals: the output format {format} has no place for probabilities; \
                     expected another one, such as spans or jsonl"
                )
            }
            Some(OutputName::Brat) if inputs > 1 && self.output_dir.is_none() => format!(
                "--output brat: annotations refer to the positions in one text, and there are \
                 {inputs} inputs; expected a single one, or --output-dir"
            ),
            Some(OutputName::Jsonl | OutputName::Spans | OutputName::Doccano) => return Ok(()),
            _ if self.offsets.is_none() => return Ok(()),
            _ => "--offsets: only the output formats jsonl, spans and doccano have a choice; the \
                  others have the positions that their programs expect"
                .to_owned(),
        };
        Err(Error::parameter(fault))
    }

    /// Returns the output format for input of this format.
    pub fn format(&self, input: InputFormat) -> OutputName {
        self.output.unwrap_or(match input {
            InputFormat::Core(Format::Text | Format::Conll | Format::Crfsuite)
            | InputFormat::WebAnno => OutputName::Conll,
            InputFormat::Core(Format::Conllu) => OutputName::Conllu,
            InputFormat::Core(Format::Jsonl) | InputFormat::Spans | InputFormat::Brat => {
                OutputName::Jsonl
            }
        })
    }

    fn has_colors(&self) -> bool {
        let on_terminal = || AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        match self.color {
            ColorChoice::Auto => self.output_dir.is_none() && on_terminal(),
            choice => choice == ColorChoice::Always,
        }
    }
}

const FLAG: &str = "--output-dir";

/// Where the output goes.
pub struct OutputStreams<W> {
    pub out: W,
    /// The name of `out` in error messages.
    pub name: String,
    /// The text of annotations ([`TextWriter::with_text`]).
    pub text: Option<Box<dyn Write + Send>>,
}

/// The output files of an input file.
pub struct OutputFiles<'a> {
    directory: &'a Path,
    pub main: PathBuf,
    /// The text of BRAT's annotations.
    text: Option<PathBuf>,
    /// Whether the input is that text itself, which is not written then.
    pub is_own_text: bool,
}

impl<'a> OutputFiles<'a> {
    /// Names the output files of each input in a directory, checks all of them, and creates the
    /// directory.
    ///
    /// # Errors
    ///
    /// An input has no name, or two have the same; an output is an input, or exists and is not to
    /// be replaced; the directory cannot be created.
    pub fn in_directory(
        directory: &'a Path,
        arguments: &TagOutputArguments,
        model: &Path,
        inputs: &[(FileName, OutputName)],
    ) -> Result<Vec<Self>> {
        let exists = "this file exists; choose another directory, replace it with --force, or \
                      leave it with --skip-existing";
        let refusal = (!arguments.force && !arguments.skip_existing).then_some(exists);
        let mut names: HashMap<OsString, &FileName> = HashMap::new();
        let mut files = Vec::with_capacity(inputs.len());
        let mut declared = CommandFiles::default().read([model]);
        declared = declared.read(inputs.iter().map(|(input, _)| input));
        for (input, format) in inputs {
            let name = base_name(input)?;
            if let Some(other) = names.insert(name.clone(), input) {
                return Err(Error::parameter(format!(
                    "{FLAG}: the output of {other} and of {input} would have the same name; \
                     expected input files with different names"
                )));
            }
            let output = Self::new(directory, input, &name, *format);
            for path in [Some(&output.main), output.text.as_ref()] {
                let path = path.map(PathBuf::as_path);
                declared = declared.write_new(FLAG, OutputKind::Tagged, path, refusal);
            }
            files.push(output);
        }
        declared.check()?;
        if directory.exists() && !directory.is_dir() {
            return Err(Error::parameter(format!(
                "{FLAG} {}: this is not a directory; expected one, or a new name",
                directory.display()
            )));
        }
        fs::create_dir_all(directory).map_err(|error| Error::io(directory, error))?;
        Ok(files)
    }

    fn new(directory: &'a Path, input: &FileName, name: &OsStr, format: OutputName) -> Self {
        let path = |extension: &str| {
            let mut name = name.to_owned();
            name.push(".");
            name.push(extension);
            directory.join(name)
        };
        let text = (format == OutputName::Brat).then(|| path("txt"));
        let is_same = |text: &PathBuf| same_file::is_same_file(text, input).unwrap_or(false);
        let is_own_text = text.as_ref().is_some_and(is_same);
        Self {
            directory,
            main: path(format.extension()),
            text: text.filter(|_| !is_own_text),
            is_own_text,
        }
    }

    /// Writes the output files of an input of this format. `run` tags what its reader has. All goes
    /// to files without names first, which leave no trace if the program ends early.
    ///
    /// # Errors
    ///
    /// A file cannot be written; those of `run`. No file is changed then, except that a text may
    /// have been written without annotations.
    pub fn write<T>(
        &self,
        mut reader: Reader,
        format: InputFormat,
        run: impl FnOnce(Reader, OutputStreams<&mut File>) -> Result<T>,
    ) -> Result<T> {
        let spool = || tempfile::tempfile_in(self.directory);
        let open = || -> io::Result<_> {
            let text = self.text.as_ref().map(|_| spool()).transpose()?;
            let copy = text.as_ref().map(File::try_clone).transpose()?;
            Ok((spool()?, text, copy))
        };
        let (mut main, text, copy) = open().map_err(|error| Error::io(self.directory, error))?;
        let mut copy = copy.map(|file| Box::new(BufWriter::new(file)) as Box<dyn Write + Send>);
        if let Some(copy) = copy.take_if(|_| format == InputFormat::Core(Format::Text)) {
            reader = reader.with_copy(copy);
        }
        let streams =
            OutputStreams { out: &mut main, name: self.main.display().to_string(), text: copy };
        let result = run(reader, streams)?;
        let files = [self.text.as_ref().zip(text), Some((&self.main, main))];
        files.into_iter().flatten().try_for_each(|(path, mut spool)| {
            let copy = |file: &mut File| {
                spool.seek(SeekFrom::Start(0))?;
                io::copy(&mut spool, file).map(drop)
            };
            atomic_file::replace(path, copy).map(drop)
        })?;
        Ok(result)
    }
}

/// The name of an input file without directory, `.gz` and extension.
fn base_name(input: &FileName) -> Result<OsString> {
    let path: &Path = input.as_ref();
    let name = path.file_name().filter(|name| *name != "-").map(Path::new);
    let Some(mut name) = name else {
        return Err(Error::parameter(format!(
            "{FLAG}: standard input has no name for the output; expected input files"
        )));
    };
    if name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        name = name.file_stem().map_or(name, Path::new);
    }
    Ok(name.file_stem().unwrap_or(name.as_os_str()).to_owned())
}
