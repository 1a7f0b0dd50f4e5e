//! `dropchain demo`

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Instant;

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, ReadLimits, ReadOptions, Reader, Tagged, WriteOptions, Writer};
use dropchain::eval::Evaluation;
use dropchain::kernel::corpus::{SAMPLE_DEV, SAMPLE_TEST, SAMPLE_TRAIN};
use dropchain::kernel::train::Defaults;
use dropchain::sentence::{Sentence, SourceFile};
use dropchain::tag::Tagger;
use dropchain::template::Template;
use dropchain::tokenize::Tokenizer;
use dropchain::train::{Lbfgs, TrainOptions, Trainer};
use dropchain::{Error, Result};
use dropchain_formats::Inline;

use crate::score_table::main_score;
use crate::{CommandFiles, CommandResult, ThreadArguments, notice, stdout_error};

/// Train on a small built-in corpus, then tag standard input
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace met Charles Babbage in London.' | dropchain demo
  echo 'Ada Lovelace left London.' | dropchain demo --label upos

The corpus has 1,698 English sentences: enough for a first impression, too few for real use.")]
pub struct DemoCommand {
    /// What to tag
    #[arg(long, value_enum, default_value = "ner")]
    label: LabelName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabelName {
    /// Named entities: persons, organizations, locations, miscellaneous
    Ner,
    /// Parts of speech
    Upos,
}

impl LabelName {
    /// Returns the column and the template.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Ner => ["ner", "ner"],
            Self::Upos => ["upos", "pos"],
        }
    }
}

impl DemoCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read(["-"]).check()?;
        ThreadArguments::default().start_pool()?;
        let train = self.read(SAMPLE_TRAIN)?;
        let dev = self.read(SAMPLE_DEV)?;
        let test = self.read(SAMPLE_TEST)?;
        notice(&format!(
            "sample corpus: {} training, {} development and {} test sentences",
            train.len(),
            dev.len(),
            test.len()
        ));
        notice("regularization        seconds   development      test");
        let mut best: Option<(f64, Tagger)> = None;
        for (name, l2, dropout) in [
            ("none", 0.0, 0.0),
            ("L2 0.3", Defaults::L2, 0.0),
            ("dropout 0.3, L2 0.1", Defaults::L2_WITH_NOISE, Defaults::DROPOUT),
        ] {
            let clock = Instant::now();
            let tagger = self.train(&train, l2, dropout)?;
            let seconds = clock.elapsed().as_secs_f64();
            let scores = [score(&tagger, &dev)?, score(&tagger, &test)?];
            let text = |(metric, score): (&str, f64)| format!("{metric} {:.1}", 100.0 * score);
            let ([dev_text, test_text], (_, value)) = (scores.map(text), scores[0]);
            notice(&format!("{name:21} {seconds:7.1}   {dev_text:14}   {test_text}"));
            if best.as_ref().is_none_or(|(best, _)| value > *best) {
                best = Some((value, tagger));
            }
        }
        best.map_or(Ok(()), |(_, tagger)| self.tag(&tagger))?;
        let [column, template] = self.label.names();
        notice(&format!(
            "next, a model of your own: dropchain train train.conll --columns word,{column} \
             --dev dev.conll --template {template} --model my.model"
        ));
        Ok(())
    }

    fn read(&self, text: &'static str) -> Result<Vec<Sentence>> {
        let options = ReadOptions {
            format: Some(Format::Conll),
            columns: Some(["word", "upos", "ner"].map(str::to_owned).to_vec()),
            label: Some(self.label.names()[0].to_owned()),
            ..ReadOptions::default()
        };
        Reader::from_read(Box::new(text.as_bytes()), "sample corpus", &options).collect()
    }

    fn train(&self, sentences: &[Sentence], l2: f64, dropout: f64) -> Result<Tagger> {
        let options = TrainOptions::new(Lbfgs { l2: Some(l2), ..Lbfgs::dropout(dropout) });
        let template = Template::shipped(self.label.names()[1])
            .ok_or_else(|| Error::parameter("the built-in template is missing"))??;
        let trained = Trainer::new(options)?.train(sentences.to_vec(), template, &mut ())?;
        Ok(Tagger::new(trained.model))
    }

    /// Tags standard input line by line.
    fn tag(&self, tagger: &Tagger) -> CommandResult {
        if io::stdin().is_terminal() {
            notice("enter a sentence (Ctrl-D to quit):");
        }
        let options = WriteOptions {
            spans: self.label == LabelName::Ner,
            ..WriteOptions::new(Inline::default())
        };
        let mut writer = Writer::new(io::stdout(), "standard output", &options)?;
        let tokenizer = Tokenizer::new(ReadLimits::MAX_SENTENCE);
        let file = SourceFile::from("-");
        for (number, line) in io::stdin().lock().lines().enumerate() {
            let line = line.map_err(|e| Error::io("-", e))?;
            for sentence in tokenizer.read_line(&line, &file, number as u64 + 1)? {
                let tagging = tagger.tag(&sentence)?;
                let labels = tagger.label_names(&tagging.labels);
                writer.write(&Tagged::new(&sentence, labels))?;
            }
            io::stdout().flush().map_err(stdout_error)?;
        }
        Ok(())
    }
}

/// Tags the sentences and scores the result: by span F1 or, if labels encode no spans, accuracy.
fn score(tagger: &Tagger, sentences: &[Sentence]) -> Result<(&'static str, f64)> {
    let labeling = &tagger.model().header().labeling;
    let mut evaluation = Evaluation::new().with_labelings(labeling, labeling);
    for sentence in sentences {
        let tagging = tagger.tag(sentence)?;
        let predicted = tagger.label_names(&tagging.labels);
        evaluation.add(&sentence.labels().unwrap_or_default(), &predicted)?;
    }
    Ok(main_score(&evaluation))
}
