//! Trains and tags with the `crfs` crate, from files of pre-extracted attributes:
//!
//! ```text
//! crfs-runner train FILE MODEL C2 [MAX_ITERATIONS]
//! crfs-runner tag MODEL FILE
//! ```
//!
//! Training prints a line `read` once the file is read, then the crate's line for each iteration.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use crfs::train::Trainer;
use crfs::{Attribute, Model};

/// The labels and attributes of a sentence.
type Sentence = (Vec<String>, Vec<Vec<Attribute>>);

/// Reads the sentences of a file in CRFsuite's format.
fn read_sentences(path: &str) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
    let tokens = |block: &str| {
        let lines = block.lines().map(|line| {
            let mut names = line
                .split('\t')
                .map(|cell| cell.replace("\\:", ":").replace("\\\\", "\\"));
            let label = names.next().unwrap_or_default();
            (label, names.map(|name| Attribute::new(name, 1.0)).collect())
        });
        lines.unzip()
    };
    Ok(blocks.map(tokens).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["train", file, model, c2, ref limit @ ..] if limit.len() < 2 => {
            let mut trainer = Trainer::lbfgs().with_c2(c2.parse()?)?;
            if let [limit] = limit {
                trainer = trainer.with_max_iterations(limit.parse()?)?;
            }
            for (labels, items) in read_sentences(file)? {
                trainer.append(&items, &labels)?;
            }
            println!("read");
            trainer.verbose(true).train(Path::new(model))?;
        }
        ["tag", model, file] => {
            let bytes = fs::read(model)?;
            let model = Model::new(&bytes)?;
            let tagger = model.tagger()?;
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            for (_, items) in read_sentences(file)? {
                for label in tagger.tag(&items)? {
                    writeln!(out, "{label}")?;
                }
                writeln!(out)?;
            }
        }
        _ => {
            let usage = "train FILE MODEL C2 [MAX_ITERATIONS] | tag MODEL FILE";
            return Err(format!("usage: crfs-runner {usage}").into());
        }
    }
    Ok(())
}
