//! Gold files, and the models or predictions that are scored with them: what files are, by their
//! contents, and how they are read.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use clap::Args;
use dropchain::corpus::{Corpus, Format, Reader};
use dropchain::label::{Detected, Labeling, PlainLabels, SchemeDetector};
use dropchain::model::Header;
use dropchain::sentence::JoinedColumns;
use dropchain::tag::{TagOptions, Tagger};
use dropchain::{Error, Result};
use dropchain_analysis::{Predictions, joined_columns, knows_none, tag_gold};
use dropchain_formats::InputFormat;
use dropchain_options::LabelOptions;
use dropchain_report::Evaluated;

use crate::arguments::{InputArguments, is_model};
use crate::model_columns::{ModelColumns, read_options};
use crate::tag_input::open_tagger;
use crate::template_arguments::DocumentArguments;
use crate::{CommandError, CommandResult, FileName, ThreadArguments, notice, notice_unless};

/// How a gold file is read, and what it is scored with.
#[derive(Clone, Debug, Args)]
pub struct GoldArguments {
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub labels: LabelOptions,
    #[command(flatten)]
    document: DocumentArguments,
}

impl GoldArguments {
    /// Opens a model and reads a gold file, by default in the columns of its training data.
    pub fn open(&self, model: &FileName, gold: &FileName, quiet: bool) -> Result<GoldTagger> {
        let tagger = self.labels.apply_to_tagger(open_tagger(model)?)?;
        let tagger = tagger.with_memory_limit(self.input.limits.memory());
        let tagger = self.document.apply_to_tagger(tagger, quiet)?;
        let corpus = self.read_for(tagger.model().header(), gold)?;
        self.input.text.print_notices(quiet);
        let (file, detector) = (gold.clone(), self.labels.detector());
        Ok(GoldTagger { tagger, file, corpus, detector, quiet })
    }

    /// Reads a gold file for a model.
    fn read_for(&self, header: &Header, gold: &FileName) -> Result<Corpus> {
        let input = &self.input;
        if input.format == Some(InputFormat::Brat) {
            // A folder has no first lines.
            return Corpus::read([gold], &input.read_options());
        }
        Corpus::collect(Reader::open_by_content(&[gold], |lines| {
            let mut options = input.read_options();
            options.decode(lines);
            let named = match input.format {
                None => InputFormat::of_first_line(lines)?,
                given => given,
            };
            let format = match named {
                Some(format) => format,
                None => match Format::of_input(lines, &options)? {
                    Format::Conll if header.template.is_none() => Format::Crfsuite.into(),
                    format => format.into(),
                },
            };
            let has_defaults = input.columns.is_none() && input.label.is_none();
            let mut model = ModelColumns { header, lines };
            match format {
                InputFormat::Core(Format::Conll) if has_defaults => {
                    options.columns = model.names(&options, true)?;
                }
                InputFormat::Core(Format::Conllu) if has_defaults => options.label = model.key()?,
                _ => {}
            }
            Ok(read_options(header, format, input.spans.options(), options))
        })?)
    }

    /// Reads a gold file that predictions are scored with.
    pub fn read(&self, file: &FileName, quiet: bool) -> Result<GoldFile<'_>> {
        let corpus = Corpus::read([file], &self.input.read_options())?;
        self.input.text.print_notices(quiet);
        let detector = self.labels.detector();
        let detected = detector.of(&corpus).detected();
        let reading = match quiet || joined_columns(&corpus).is_some() {
            true => Vec::new(),
            false => reading(file, &detected, detector.plain_labels()),
        };
        Ok(GoldFile { corpus, labeling: detected.labeling, arguments: self, reading })
    }
}

/// A model and a gold file, read as the training data of the model.
pub struct GoldTagger {
    pub tagger: Tagger,
    file: FileName,
    pub corpus: Corpus,
    detector: SchemeDetector, // has seen none of the labels
    /// Whether nothing is said of how labels are read.
    pub quiet: bool,
}

impl GoldTagger {
    /// Returns how the gold labels and the predictions encode spans, and says it.
    pub fn labelings(&self) -> [Labeling; 2] {
        let predicted = self.tagger.model().header().corpus_labeling.clone();
        let detected = self.detector.of(&self.corpus).detected_for(&predicted);
        if !self.quiet {
            if self.joined().is_none() {
                // What labels without prefixes are, the model has said.
                let lines = reading(&self.file, &detected, PlainLabels::Spans);
                lines.iter().for_each(|line| notice(line));
            }
            self.warn_of_unknown(&detected.labeling);
        }
        [detected.labeling, predicted]
    }

    /// Warns if the model knows none of the gold labels, which are read so.
    pub fn warn_of_unknown(&self, gold: &Labeling) {
        if knows_none(self.tagger.model().header(), &self.corpus, gold) {
            notice(&format!(
                "warning: {}: the model knows none of the gold labels; check the label column \
                 (--label)",
                self.file
            ));
        }
    }

    /// Tags the gold file, as a system of this name. Also returns how gold labels and predictions
    /// encode spans; the sentences are still to be set.
    pub fn evaluate(&self, name: &str, options: TagOptions) -> Result<(Evaluated, [Labeling; 2])> {
        let record = self.tagger.model().header().provenance.training();
        let warning = record.and_then(|record| record.warning_of_noise());
        let mut evaluated = Evaluated::new(name).with_warning_of_noise(warning);
        tag_gold(&self.tagger, &self.corpus, options, None, &mut |labels, tagged| {
            evaluated.add(labels, &tagged.labels, |t, label| tagged.marginal(t, label));
            Ok(())
        })?;
        Ok((evaluated, self.labelings()))
    }

    /// Returns the columns that the labels of the model or the gold labels join, if they join
    /// several.
    pub fn joined(&self) -> Option<&JoinedColumns> {
        self.tagger.model().header().columns.joined().or_else(|| joined_columns(&self.corpus))
    }
}

/// A gold file that predictions are scored with.
pub struct GoldFile<'a> {
    pub corpus: Corpus,
    /// How its labels are read.
    pub labeling: Labeling,
    arguments: &'a GoldArguments,
    reading: Vec<String>, // what is said of it
}

impl GoldFile<'_> {
    /// Says how the labels are read, which is of interest once all files are.
    pub fn say_reading(&self) {
        self.reading.iter().for_each(|line| notice(line));
    }

    /// Reads predictions, as those of a system of this name. Also returns how gold labels and
    /// predictions encode spans; the sentences are still to be set.
    pub fn evaluate(&self, name: &str, file: &FileName) -> Result<(Evaluated, [Labeling; 2])> {
        let (predicted, labeling) = self.predictions(file)?;
        let mut evaluated = Evaluated::new(name);
        predicted.visit(&self.corpus, |_, labels, own, predictions| {
            evaluated.add(labels, predictions, predicted.columns.probabilities(own));
            Ok(())
        })?;
        Ok((evaluated, [self.labeling.clone(), labeling]))
    }

    /// Reads predictions for the same sentences, and returns how their labels are read.
    pub fn predictions(&self, file: &FileName) -> Result<(Predictions, Labeling)> {
        let options = self.arguments.input.read_options();
        let predictions = Predictions::read(file.as_ref(), &self.corpus, options)?;
        let labeling = predictions.labeling(&self.labeling, &self.arguments.labels.detector());
        Ok((predictions, labeling))
    }
}

/// Returns how the labels of a file were read, which were `chosen` to be spans or tags if at all.
fn reading(file: &FileName, detected: &Detected, chosen: PlainLabels) -> Vec<String> {
    let mut lines = detected.account(chosen);
    lines[0].insert_str(0, &format!("{file}: "));
    lines
}

/// How many lines of two files are compared.
const LINES: usize = 1000;

/// Returns whether a file has the columns of another and more, as predictions have those of the
/// file with gold labels.
pub fn extends(file: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let (Some(file), Some(other)) = (open(file.as_ref()), open(other.as_ref())) else {
        return false;
    };
    let mut has_more = false;
    for (line, beginning) in file.lines().zip(other.lines()).take(LINES) {
        let (Ok(line), Ok(beginning)) = (line, beginning) else { return false };
        // Whatever separates the cells.
        let (mut cells, mut own) = (line.split_whitespace(), beginning.split_whitespace());
        let is_blank = beginning.trim().is_empty();
        if own.any(|cell| cells.next() != Some(cell)) || is_blank && !line.trim().is_empty() {
            return false;
        }
        has_more |= cells.next().is_some();
    }
    has_more
}

/// Returns whether the first tokens of two files have equally many cells, as the files of two
/// annotators have.
fn are_alike(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let [a, b] = [a.as_ref(), b.as_ref()].map(|file| {
        let lines = open(file)?.lines().take(LINES).map_while(std::result::Result::ok);
        let mut tokens = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        tokens.find_map(|line| match line.starts_with('{') {
            true => Some(0), // JSON lines
            false => Some(line.split_whitespace().count()).filter(|&cells| cells > 1),
        })
    });
    a.is_some() && a == b
}

/// What is scored, and the gold file.
pub enum Scoring<'a> {
    Model(&'a FileName, &'a FileName),
    Predictions(&'a FileName, &'a FileName),
    /// The labels of two annotators.
    Annotations(&'a FileName, &'a FileName),
}

impl<'a> Scoring<'a> {
    /// Tells what files are, beside the value of `--predictions`: by their order, unless the
    /// contents tell otherwise, which is said.
    pub fn of(
        predictions: Option<&'a FileName>,
        files: &'a [FileName],
        quiet: bool,
    ) -> CommandResult<Self> {
        let swapped = |predictions: &'a FileName, gold: &'a FileName| {
            notice_unless(quiet, &format!("{predictions}: scored as predictions for {gold}"));
            Self::Predictions(predictions, gold)
        };
        Ok(match (predictions, files) {
            (Some(model), [gold]) if is_model(model) => Self::Model(model, gold),
            (Some(a), [b]) if extends(b, a) => swapped(b, a),
            (Some(predictions), [gold]) => Self::Predictions(predictions, gold),
            (None, [gold, model]) if is_model(model) && !is_model(gold) => Self::Model(model, gold),
            (None, [model, gold]) if is_model(model) => Self::Model(model, gold),
            (None, [predictions, gold]) if extends(predictions, gold) => {
                Self::Predictions(predictions, gold)
            }
            (None, [a, b]) if extends(b, a) => swapped(b, a),
            (None, [a, b]) if are_alike(a, b) => {
                let text = format!("{a} and {b} are scored as two annotations, {b} as gold");
                notice_unless(quiet, &text);
                Self::Annotations(a, b)
            }
            (None, [model, gold]) => Self::Model(model, gold),
            (Some(_), _) => {
                return Err(CommandError::Usage(
                    "expected just a gold file with --predictions, found two files",
                ));
            }
            (None, _) => {
                return Err(CommandError::Usage(
                    "expected a model or predictions, and a gold file: dropchain eval MODEL GOLD",
                ));
            }
        })
    }
}

/// Returns the gold file, and the models or predictions of two taggers, among three files: by their
/// order, unless the contents tell otherwise, which is said.
///
/// # Errors
///
/// All are models.
pub fn compared(files: [&FileName; 3], quiet: bool) -> Result<[&FileName; 3]> {
    let [gold, a, b] = files;
    let mut orders = vec![files, [a, gold, b], [b, gold, a]];
    orders.retain(|order| !is_model(order[0]));
    let Some(&first) = orders.first() else {
        return Err(Error::parameter(
            "three models; expected a file with gold labels: dropchain compare GOLD SYSTEM SYSTEM",
        ));
    };
    let is_of = |system: &FileName, gold: &FileName| is_model(system) || extends(system, gold);
    let order = orders.into_iter().find(|[gold, a, b]| is_of(a, gold) && is_of(b, gold));
    let order = order.unwrap_or(first);
    let [gold, a, b] = order;
    let is_quiet = quiet || order == files;
    notice_unless(is_quiet, &format!("{gold} has the gold labels for {a} and {b}"));
    Ok(order)
}

/// Returns names of files that tell them apart: those in their folders, or else as they were given,
/// and numbered if that is the same.
pub fn distinct_names<'a>(files: impl Iterator<Item = &'a FileName>) -> Vec<String> {
    let files: Vec<&FileName> = files.collect();
    let short = |file: &FileName| {
        let name = AsRef::<Path>::as_ref(file).file_name();
        name.map_or_else(|| file.to_string(), |name| name.to_string_lossy().into_owned())
    };
    let count = |is_same: &dyn Fn(&FileName) -> bool| files.iter().filter(|f| is_same(f)).count();
    let names = files.iter().enumerate().map(|(i, &file)| match short(file) {
        name if count(&|other| short(other) == name) == 1 => name,
        _ if count(&|other| other == file) == 1 => file.to_string(),
        _ => format!("{file} ({})", i + 1),
    });
    names.collect()
}

/// Opens a file that can be read twice.
fn open(path: &Path) -> Option<BufReader<File>> {
    let file = path.is_file().then(|| File::open(path).ok())?;
    file.map(BufReader::new)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn names_tell_files_apart() {
        for (files, names) in [
            (["a/l2.model", "b/drop.model"], ["l2.model", "drop.model"]),
            (["a/ner.model", "b/ner.model"], ["a/ner.model", "b/ner.model"]),
            (["a/ner.model", "a/ner.model"], ["a/ner.model (1)", "a/ner.model (2)"]),
            (["-", ".."], ["-", ".."]),
        ] {
            let files = files.map(|file| FileName::from(OsString::from(file)));
            assert_eq!(distinct_names(files.iter()), names);
        }
    }
}
