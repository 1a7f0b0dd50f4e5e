//! Tags text from standard input, one line of output per sentence, as soon as it is ready.
//!
//! `cargo run --example tag_stream [MODEL]`; without a model, one is trained on the sample corpus.

use std::io::{self, Write};

use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::label::spans;
use dropchain::tag::Workspace;
use dropchain::{Corpus, TagOptions, Tagger, Template, TrainOptions, Trainer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tagger = match std::env::args().nth(1) {
        Some(path) => Tagger::open(path)?,
        None => sample_tagger()?,
    };
    let options = ReadOptions { format: Some(Format::Text), ..ReadOptions::default() };
    // Buffers that are reused from sentence to sentence. One workspace per thread; the tagger is
    // shared.
    let mut workspace = Workspace::default();
    let mut out = io::stdout().lock();
    for sentence in Reader::open(&["-"], &options)? {
        let sentence = sentence?;
        let tagging = tagger.tag_with(&sentence, TagOptions::default(), &mut workspace)?;
        let labels = tagger.label_names(&tagging.labels);
        for span in spans(&labels) {
            let words = (span.start..span.end).map(|t| sentence.cell(t, 0));
            let words = words.collect::<Vec<_>>().join(" ");
            write!(out, "{}: {words}\t", span.kind)?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}

fn sample_tagger() -> dropchain::Result<Tagger> {
    let corpus = Corpus::read(["corpora/sample/train.conll"], &ReadOptions::default())?;
    let template = Template::shipped("ner").expect("a template of this name")?;
    let trained = Trainer::new(TrainOptions::default())?.train(corpus, template, &mut ())?;
    Ok(Tagger::new(trained.model))
}
