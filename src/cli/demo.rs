//! `dropchain demo`

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, OutputFormat, ReadOptions, Reader, Tagged, WriteOptions, Writer};
use dropchain::eval::Evaluation;
use dropchain::sentence::Sentence;
use dropchain::tag::Tagger;
use dropchain::template::Template;
use dropchain::tokenize::Tokenizer;
use dropchain::train::{Defaults, TrainOptions, Trainer};
use dropchain::{Error, Result};

use super::progress::notice;
use super::{Outcome, stdout_failed};

const TRAIN: &str = include_str!("../../corpora/sample/train.conll");
const DEV: &str = include_str!("../../corpora/sample/dev.conll");
const TEST: &str = include_str!("../../corpora/sample/test.conll");

/// Train on a small corpus that comes with dropchain, and tag what standard input gives
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace met Charles Babbage in London.' | dropchain demo
  echo 'Ada Lovelace met Charles Babbage in London.' | dropchain demo --label upos

The corpus has 560 English sentences: enough for a first impression, not for work.")]
pub struct Arguments {
    /// What to learn
    #[arg(long, value_enum, default_value = "ner")]
    label: LabelName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabelName {
    /// Names: persons, organizations, locations, others
    Ner,
    /// Parts of speech
    Upos,
}

impl LabelName {
    fn column(self) -> &'static str {
        match self {
            Self::Ner => "ner",
            Self::Upos => "upos",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Ner => "ner",
            Self::Upos => "pos",
        }
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let [train, dev, test] = [TRAIN, DEV, TEST].map(|text| self.read(text));
        let (train, dev, test) = (train?, dev?, test?);
        notice(&format!(
            "the sample corpus: {} sentences to train on, {} to develop, {} to test",
            train.len(),
            dev.len(),
            test.len()
        ));
        notice("penalty               seconds   on development   on test");
        let mut best: Option<(f64, Tagger)> = None;
        for (name, l2, dropout) in [
            ("none", 0.0, 0.0),
            ("L2 0.3", Defaults::L2, 0.0),
            (
                "dropout 0.3, L2 0.1",
                Defaults::L2_WITH_NOISE,
                Defaults::DROPOUT,
            ),
        ] {
            let clock = Instant::now();
            let tagger = self.train(&train, l2, dropout)?;
            let seconds = clock.elapsed().as_secs_f64();
            let [(dev_score, dev), (_, test)] = [score(&tagger, &dev)?, score(&tagger, &test)?];
            notice(&format!("{name:21} {seconds:7.1}   {dev:14}   {test}"));
            if best.as_ref().is_none_or(|(best, _)| dev_score > *best) {
                best = Some((dev_score, tagger));
            }
        }
        best.map_or(Ok(()), |(_, tagger)| self.tag(&tagger))
    }

    fn read(&self, text: &'static str) -> Result<Vec<Sentence>> {
        let options = ReadOptions {
            format: Some(Format::Conll),
            columns: Some(["word", "upos", "ner"].map(str::to_owned).to_vec()),
            label: Some(self.label.column().to_owned()),
            ..ReadOptions::default()
        };
        Reader::from_read(Box::new(text.as_bytes()), "sample corpus", &options).collect()
    }

    fn train(&self, sentences: &[Sentence], l2: f64, dropout: f64) -> Result<Tagger> {
        let options = TrainOptions {
            l2,
            dropout,
            ..TrainOptions::default()
        };
        let template = Template::shipped(self.label.template())
            .ok_or_else(|| Error::parameter("the template is missing"))??;
        let trained =
            Trainer::new(options)?.train(sentences.to_vec(), None, Some(template), &mut ())?;
        Ok(Tagger::new(trained.model))
    }

    /// Tags standard input, line by line.
    fn tag(&self, tagger: &Tagger) -> Outcome {
        if io::stdin().is_terminal() {
            notice("write a sentence (Ctrl-D to end):");
        }
        let options = WriteOptions {
            spans: self.label == LabelName::Ner,
            ..WriteOptions::new(OutputFormat::Inline)
        };
        let mut writer = Writer::new(io::stdout(), "standard output", options)?;
        let tokenizer = Tokenizer::new();
        let file = Arc::from("-");
        for (number, line) in io::stdin().lock().lines().enumerate() {
            let line = line.map_err(|e| Error::io("-", e))?;
            for sentence in tokenizer.read_line(&line, &file, number as u64 + 1)? {
                let tagging = tagger.tag(&sentence)?;
                let labels = tagger.label_names(&tagging.labels);
                writer.write(&Tagged::new(&sentence, labels))?;
            }
            io::stdout().flush().map_err(stdout_failed)?;
        }
        Ok(())
    }
}

/// Span F1 or accuracy, as a number and in words.
fn score(tagger: &Tagger, sentences: &[Sentence]) -> Result<(f64, String)> {
    let mut evaluation = Evaluation::new();
    for sentence in sentences {
        let tagging = tagger.tag(sentence)?;
        let predicted = tagger.label_names(&tagging.labels);
        evaluation.add(&sentence.labels().unwrap_or_default(), &predicted)?;
    }
    let (name, score) = if evaluation.has_spans() {
        ("F1", evaluation.f1())
    } else {
        ("accuracy", evaluation.accuracy())
    };
    Ok((score, format!("{name} {:.1}", 100.0 * score)))
}
