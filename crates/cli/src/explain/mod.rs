//! `dropchain explain`

mod html;
mod json;
mod sentence;
mod terminal;

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dropchain::ids::LabelId;
use dropchain::sentence::list_names;
use dropchain::tag::{Batch, Condition, TagInput, TagOptions, Tagger, Workspace, stream_documents};
use dropchain::{Error, Result, Sentence};
use dropchain_analysis::Explanation;
use dropchain_formats::InputFormat;

use super::arguments::{LimitArguments, Switch, ThreadArguments};
use super::document_arguments::DocumentArguments;
use super::forced_arguments::ForcedArguments;
use super::outputs::CommandFiles;
use super::tag_input::TagInputArguments;
use super::{CommandResult, print};
use crate::model_input::open_tagger;
use sentence::{ExplainedSentence, TokenChoice};

/// The name of the output in error messages.
const OUTPUT: &str = "standard output";

/// Explain labels: how clear each one is, and which attributes and transitions decided it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain explain ner.model
  dropchain explain ner.model news.txt --output html > why.html")]
#[command(after_long_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain explain ner.model
  dropchain explain ner.model dev.conll --token London --against PER --top 20
  dropchain explain ner.model news.txt --output html > why.html
  dropchain explain ner.model a.txt --output json | jq '.explanations[].margin'

The margin is the score of the best label sequence minus that of the best one with another label at
the token (the runner-up), which is exp(margin) times less likely. Each line of a reason is a weight
of the label that was chosen minus that of the other one; all of them sum to the margin.")]
pub struct ExplainCommand {
    /// Model file
    model: PathBuf,
    #[command(flatten)]
    input: TagInputArguments,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    output: OutputName,
    /// Number of reasons to show per token; the others are summed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..))]
    #[arg(default_value_t = 6)]
    top: u32,
    /// Explain these tokens: words, or numbers in the sentence from 1 [default: tokens of spans,
    /// and those with a margin below 2; all with --output json or html]
    #[arg(long, value_name = "TOKEN", conflicts_with = "all", value_parser = parse_token)]
    token: Vec<String>,
    /// Explain all tokens
    #[arg(long)]
    all: bool,
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
    threads: ThreadArguments,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    document: DocumentArguments,
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

impl ExplainCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default()
            .read([&self.model])
            .read(self.input.files())
            .check()?;
        self.threads.check_stacks()?;
        let tagger = open_tagger(&self.model)?.with_memory_limit(self.limits.memory());
        let tagger = self.document.apply_to_tagger(tagger)?;
        let header = tagger.model().header();
        let against = self.against(&tagger)?;
        let (reader, format) = self.input.open(header, &self.forced, &self.limits)?;
        let explainer = Explainer {
            command: self,
            against,
            format,
            tagger: &tagger,
            columns: super::terminal::columns(),
        };
        if self.output == OutputName::Html {
            print(&html::beginning(&self.model.display().to_string()))?;
        }
        let explain = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
            let documents = batch.documents();
            let sentences = batch.sentences.iter().enumerate();
            for (i, sentence) in sentences.filter(|(_, s)| !s.layout.document_start) {
                explainer.write(sentence, documents.input(i), text)?;
            }
            Ok(())
        };
        let (documents, threads) = (tagger.context(), self.threads.count());
        stream_documents(reader, documents, threads, io::stdout(), explain, |error| {
            Error::io(OUTPUT, error)
        })?;
        match self.output {
            OutputName::Html => print(html::END),
            OutputName::Text | OutputName::Json => Ok(()),
        }
    }

    /// Returns the labels to compare with, if the user chose some.
    fn against(&self, tagger: &Tagger) -> Result<Option<Vec<LabelId>>> {
        let Some(wanted) = &self.against else {
            return Ok(None);
        };
        let header = tagger.model().header();
        let labels = &header.labels;
        if let Some(label) = labels.id(wanted) {
            return Ok(Some(vec![label]));
        }
        let is_of = |name: &str| {
            let kind = name.split_once('-').map(|(_, kind)| kind);
            header.encodes_spans() && kind == Some(wanted)
        };
        let names = labels.names().iter();
        let found = names.filter(|name| is_of(name));
        let found: Vec<LabelId> = found.filter_map(|name| labels.id(name)).collect();
        if found.is_empty() {
            return Err(Error::parameter(format!(
                "--against {wanted}: the model has no such label; its labels are {}",
                list_names(labels.names())
            )));
        }
        Ok(Some(found))
    }
}

/// Explains sentences and writes the explanations.
struct Explainer<'a> {
    command: &'a ExplainCommand,
    against: Option<Vec<LabelId>>,
    format: InputFormat,
    tagger: &'a Tagger,
    columns: usize,
}

impl Explainer<'_> {
    fn explain(&self, sentence: &Sentence, input: TagInput<'_>) -> Result<Explanation<'_>> {
        let command = self.command;
        let condition = command.forced.condition(sentence, self.format)?;
        let options = TagOptions {
            constrain: command.constrain.is_on(),
            ..TagOptions::default()
        };
        let condition = condition.unwrap_or_else(Condition::new);
        Explanation::given(self.tagger, input, &condition, options)
    }

    fn write(&self, sentence: &Sentence, input: TagInput<'_>, text: &mut Vec<u8>) -> Result<()> {
        let command = self.command;
        let explanation = self.explain(sentence, input)?;
        let choice = match (&command.token[..], command.output) {
            ([], OutputName::Text) if !command.all => TokenChoice::Interesting,
            ([], _) => TokenChoice::All,
            (tokens, _) => TokenChoice::These(tokens),
        };
        let explained = ExplainedSentence {
            words: sentence::words(sentence),
            explanation: &explanation,
            against: self.against.as_deref(),
            top: command.top as usize,
            choice,
        };
        match command.output {
            OutputName::Text => terminal::write(&explained, self.columns, text),
            OutputName::Json => json::write(&explained, text),
            OutputName::Html => html::write(&explained, text),
        }
    }
}
