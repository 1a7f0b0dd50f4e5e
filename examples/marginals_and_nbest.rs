//! How sure is the model? Marginal probabilities of labels, and the n best label sequences.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use dropchain::corpus::ReadOptions;
use dropchain::tag::Workspace;
use dropchain::{Corpus, Result, Sentence, TagOptions, Tagger, Template, TrainOptions, Trainer};

fn main() -> Result<()> {
    let corpus = Corpus::read(["corpora/sample/train.conll"], &ReadOptions::default())?;
    let template = Template::shipped("ner").expect("a template of this name")?;
    let trained = Trainer::new(TrainOptions::default())?.train(corpus, template, &mut ())?;
    let tagger = Tagger::new(trained.model);

    let words = ["Ada", "Lovelace", "met", "Babbage", "in", "Turin"];
    let options = TagOptions { marginals: true, nbest: 3, ..TagOptions::default() };
    let sentence = Sentence::from_words(words);
    let tagging = tagger.tag_with(&sentence, options, &mut Workspace::default())?;

    let marginals = tagging.marginals.expect("requested"); // [T][K]
    for (t, word) in words.iter().enumerate() {
        let label = tagging.labels[t];
        let probability = marginals[[t, label.index()]];
        println!("{word:<10} {:<6} {probability:.3}", tagger.label(label));
    }
    for path in &tagging.nbest {
        let labels = tagger.label_names(&path.labels).join(" ");
        println!("{:.3}  {labels}", path.probability);
    }
    Ok(())
}
