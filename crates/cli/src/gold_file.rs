//! A gold file: scored with a model, or with predictions.

use clap::Args;
use dropchain::Result;
use dropchain::corpus::{Corpus, Format, Reader};
use dropchain::label::{Detected, Labeling, PlainLabels, SchemeDetector};
use dropchain::model::Header;
use dropchain::sentence::JoinedColumns;
use dropchain::tag::{TagOptions, Tagger};
use dropchain_analysis::{Predictions, joined_columns, knows_none, tag_gold};
use dropchain_formats::InputFormat;
use dropchain_options::LabelOptions;
use dropchain_report::Evaluated;

use crate::arguments::InputArguments;
use crate::model_columns::{ModelColumns, read_options};
use crate::tag_input::open_tagger;
use crate::template_arguments::DocumentArguments;
use crate::{FileName, ThreadArguments, notice};

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
        let tagger = self.document.apply_to_tagger(tagger)?;
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
