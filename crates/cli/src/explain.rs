//! `dropchain explain`

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use dropchain::Error;
use dropchain::tag::{Batch, TagOptions, Workspace, stream};
use dropchain_analysis::{
    ExplainedSentence, ExplainedTokens, Explanation, PAGE_END, labels_against, page_beginning,
    words_to_explain,
};
use dropchain_layout::wrap;
use dropchain_options::LabelOptions;

use crate::tag_input::{ForcedArguments, TagInputArguments, TaggerArguments};
use crate::{CommandFiles, CommandResult, Switch, columns, print, print_exact};

/// The name of the output in error messages.
const OUTPUT: &str = "standard output";

/// What the text means.
const LEGEND: &str = "\
The margin is the lead in score over the runner-up; each line is what one clue adds to it: █ for \
the label, ▒ against it. Shapes: X capital, x small letter, d digit. --all explains all tokens, \
--code shows the template's names of clues and their weights.";

/// Explain labels: how clear each one is, and which attributes and transitions decided it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain explain ner.model
  dropchain explain ner.model dev.conll --token London --against PER --top 20
  dropchain explain ner.model news.txt --output html > why.html
  dropchain explain ner.model a.txt --output json | jq '.explanations[].margin'

The margin is the lead in score of the best label sequence over the best one with another label
there (the runner-up): it is exp(margin) times as likely. Each line below is what one clue adds to
it, the weight of the label that was chosen minus that of the other one; all sum to the margin.")]
pub struct ExplainCommand {
    /// Model file
    model: PathBuf,
    #[command(flatten)]
    input: TagInputArguments,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    output: OutputName,
    /// Number of reasons to show per span; the others are summed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..))]
    #[arg(default_value_t = 6)]
    top: u32,
    /// Explain these tokens, each by itself: words, or numbers in the sentence from 1 [default:
    /// spans, and tokens with a margin below 2; all with --output json or html]
    #[arg(long, value_name = "TOKEN", conflicts_with = "all", value_parser = parse_token)]
    token: Vec<String>,
    /// Explain all tokens
    #[arg(long)]
    all: bool,
    /// Show what the template calls each reason, and its weights
    #[arg(long)]
    code: bool,
    /// Compare with this label instead of the runner-up, or with those that encode this type of
    /// span
    #[arg(long, value_name = "LABEL")]
    against: Option<String>,
    /// Compare only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on", hide_short_help = true)]
    constrain: Switch,
    #[command(flatten)]
    forced: ForcedArguments,
    #[command(flatten)]
    tagger: TaggerArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputName {
    /// For the terminal
    Text,
    /// One JSON object per sentence
    Json,
    /// A page for the browser, in one file
    Html,
}

/// Checks a token as the user names it.
fn parse_token(token: &str) -> Result<String, String> {
    match token.parse() {
        Ok(0_usize) => Err("tokens count from 1".to_owned()),
        _ => Ok(token.to_owned()),
    }
}

fn no_such_token(name: &str) -> Error {
    Error::parameter(match name.parse::<usize>() {
        Ok(number) => format!("`token` {number}: no sentence of the input is that long"),
        Err(_) => format!(
            "`token` '{name}': no token of the input is this word; expected one as it is written \
             there, or its number in the sentence"
        ),
    })
}

impl ExplainCommand {
    pub fn run(&self) -> CommandResult {
        self.input.check("explain", &self.model)?;
        let inputs = self.input.files()?;
        CommandFiles::default().read([&self.model]).read(&inputs).check()?;
        let TaggerArguments { threads, limits, .. } = &self.tagger;
        threads.check_stacks()?;
        let tagger = self.tagger.open(&self.model, &LabelOptions::default(), self.input.quiet)?;
        let against = self.against.as_deref().map(|wanted| labels_against(&tagger, wanted));
        let against = against.transpose()?;
        let tokens = match (&self.token[..], self.output) {
            ([], OutputName::Text) if !self.all => ExplainedTokens::Notable,
            ([], _) => ExplainedTokens::All,
            _ => ExplainedTokens::Named(self.token.clone()),
        };
        let occurs: Vec<AtomicBool> = self.token.iter().map(|_| false.into()).collect();
        let (reader, format) = self.input.open(&inputs, &tagger, &self.forced, limits)?;
        let columns = columns();
        let options = TagOptions { constrain: self.constrain.is_on(), ..TagOptions::default() };
        if self.output == OutputName::Html {
            print_exact(&page_beginning(&self.model.display().to_string()))?;
        }
        let explain = |batch: &Batch, workspace: &mut Workspace, text: &mut Vec<u8>| {
            let documents = batch.documents();
            let sentences = batch.sentences.iter().enumerate();
            for (i, sentence) in sentences.filter(|(_, s)| !s.layout.document_start) {
                let known = self.forced.condition(sentence, format)?;
                let input = documents.input(i);
                let explanation = &Explanation::given(&tagger, input, &known, options, workspace)?;
                let explained = ExplainedSentence {
                    words: words_to_explain(sentence),
                    explanation,
                    against: against.as_deref(),
                    tokens: &tokens,
                    top: self.top as usize,
                };
                for (name, occurs) in self.token.iter().zip(&occurs) {
                    occurs.fetch_or(explained.has(name), Ordering::Relaxed);
                }
                match self.output {
                    OutputName::Text => {
                        let painted = explained.painted_text(columns, self.code)?;
                        text.extend_from_slice(painted.as_bytes());
                    }
                    OutputName::Json => explained.write_json(false, text)?,
                    OutputName::Html => explained.write_html(text)?,
                }
            }
            Ok(())
        };
        let write = |text: Vec<u8>| {
            let written = match self.output {
                OutputName::Text => anstream::stdout().lock().write_all(&text),
                OutputName::Json | OutputName::Html => io::stdout().lock().write_all(&text),
            };
            written.and_then(|()| io::stdout().flush()).map_err(|error| Error::io(OUTPUT, error))
        };
        stream(reader, tagger.context(), threads.count(), explain, write)?;
        self.input.text.print_notices(self.input.quiet);
        match self.output {
            OutputName::Text => print(&(wrap(LEGEND, columns, 0) + "\n"))?,
            OutputName::Json => {}
            OutputName::Html => print_exact(PAGE_END)?,
        }
        match self.token.iter().zip(&occurs).find(|(_, occurs)| !occurs.load(Ordering::Relaxed)) {
            Some((name, _)) => Err(no_such_token(name).into()),
            None => Ok(()),
        }
    }
}
