//! `dropchain explain`

mod output;

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dropchain::ids::LabelId;
use dropchain::sentence::list_names;
use dropchain::tag::{Batch, Condition, TagOptions, Tagger, Workspace, stream_documents};
use dropchain::{Error, Result, Sentence};
use dropchain_analysis::{Alternative, Explanation, Part, PartKind};

use crate::arguments::{LimitArguments, Switch, ThreadArguments};
use crate::outputs::CommandFiles;
use crate::tag_input::{ForcedArguments, TagInputArguments, open_tagger};
use crate::template_arguments::DocumentArguments;
use crate::terminal::columns;
use crate::{CommandResult, print_exact};

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
        let inputs = self.input.files();
        let (reader, format) = (self.input).open(&inputs, header, &self.forced, &self.limits)?;
        let columns = columns();
        let options = TagOptions {
            constrain: self.constrain.is_on(),
            ..TagOptions::default()
        };
        if self.output == OutputName::Html {
            print_exact(&output::page_beginning(&self.model.display().to_string()))?;
        }
        let explain = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
            let documents = batch.documents();
            let sentences = batch.sentences.iter().enumerate();
            for (i, sentence) in sentences.filter(|(_, s)| !s.layout.document_start) {
                let condition = self.forced.condition(sentence, format)?;
                let condition = condition.unwrap_or_else(Condition::new);
                let input = documents.input(i);
                let explained = ExplainedSentence {
                    command: self,
                    words: words(sentence),
                    explanation: &Explanation::given(&tagger, input, &condition, options)?,
                    against: against.as_deref(),
                };
                match self.output {
                    OutputName::Text => output::write_text(&explained, columns, text)?,
                    OutputName::Json => output::write_json(&explained, text)?,
                    OutputName::Html => output::write_html(&explained, text)?,
                }
            }
            Ok(())
        };
        let (documents, threads) = (tagger.context(), self.threads.count());
        stream_documents(reader, documents, threads, io::stdout(), explain, |error| {
            Error::io(OUTPUT, error)
        })?;
        self.input.print_notices();
        match self.output {
            OutputName::Html => print_exact(output::PAGE_END),
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

/// The margin below which a token is shown although it is outside of all spans: the runner-up is
/// then at least an eighth as likely.
const UNCLEAR: f64 = 2.0;

/// A sentence, its labels and their reasons.
pub struct ExplainedSentence<'a> {
    command: &'a ExplainCommand,
    pub words: Vec<String>,
    pub explanation: &'a Explanation<'a>,
    /// The labels to compare with; `None`: all others.
    pub against: Option<&'a [LabelId]>,
}

/// The parts of a margin that are shown, and the sum of the others.
pub struct Reasons<'e> {
    pub margin: f64,
    pub shown: Vec<Part<'e>>,
    pub others: usize,
    pub sum_of_others: f64,
}

/// Returns the words of a sentence; numbers if it has only attributes.
pub fn words(sentence: &Sentence) -> Vec<String> {
    match sentence.words() {
        Some(words) => words.map(str::to_owned).collect(),
        None => (1..=sentence.len()).map(|t| format!("token {t}")).collect(),
    }
}

impl<'a> ExplainedSentence<'a> {
    /// Returns the name of a label.
    pub fn name(&self, label: LabelId) -> &'a str {
        self.explanation.tagger().label(label)
    }

    /// Returns the name of the label of token `t`.
    pub fn label(&self, t: usize) -> &'a str {
        self.name(self.explanation.labels()[t])
    }

    /// Returns whether a token is in no span.
    pub fn is_outside(&self, t: usize) -> bool {
        let header = self.explanation.tagger().model().header();
        header.encodes_spans() && self.label(t) == header.labeling.outside()
    }

    /// Returns whether the labels encode spans.
    pub fn encodes_spans(&self) -> bool {
        self.explanation.tagger().model().header().encodes_spans()
    }

    /// Returns what token `t` is compared with; `None` if there is nothing.
    pub fn alternative(&self, t: usize) -> Option<Alternative<'a>> {
        let explanation = self.explanation;
        let Some(labels) = self.against else {
            return explanation.runner_up(t);
        };
        if labels.contains(&explanation.labels()[t]) {
            return None;
        }
        let alternatives = labels.iter();
        let alternatives = alternatives.filter_map(|&label| explanation.alternative(t, label));
        alternatives.reduce(|best, other| match other.margin() < best.margin() {
            true => other,
            false => best,
        })
    }

    /// Returns the tokens to explain, in ascending order.
    pub fn chosen(&self) -> Vec<usize> {
        let all = 0..self.explanation.len();
        let ExplainCommand { token, output, .. } = self.command;
        if !token.is_empty() {
            let is_chosen = |t: &usize| {
                token.iter().any(|token| match token.parse::<usize>() {
                    Ok(number) => number == t + 1,
                    Err(_) => *token == self.words[*t],
                })
            };
            return all.filter(is_chosen).collect();
        }
        if self.command.all || *output != OutputName::Text {
            return all.collect();
        }
        // Those of spans and those that are not clear, or the least clear one.
        let margin = |t: usize| {
            let runner_up = self.explanation.runner_up(t);
            runner_up.map_or(f64::INFINITY, |runner_up| runner_up.margin())
        };
        let margins: Vec<f64> = all.clone().map(margin).collect();
        let in_span = |t: usize| self.encodes_spans() && !self.is_outside(t);
        let chosen = all.clone().filter(|&t| in_span(t) || margins[t] < UNCLEAR);
        let chosen: Vec<usize> = chosen.collect();
        if !chosen.is_empty() {
            return chosen;
        }
        let least = all.min_by(|&x, &y| margins[x].total_cmp(&margins[y]));
        least.into_iter().collect()
    }

    /// Returns the parts of the margin to an alternative.
    pub fn reasons<'e>(&self, alternative: &Alternative<'e>) -> Result<Reasons<'e>> {
        let mut shown = alternative.parts()?;
        let others = shown.split_off(shown.len().min(self.command.top as usize));
        Ok(Reasons {
            margin: alternative.margin(),
            others: others.len(),
            sum_of_others: others.iter().map(Part::contribution).sum(),
            shown,
        })
    }

    /// Describes a part without its token and labels.
    pub fn describe(part: &Part<'_>) -> String {
        match part.kind {
            PartKind::Attribute | PartKind::EdgeAttribute => match part.value {
                1.0 => part.name.to_string(),
                value => format!("{} × {value}", part.name),
            },
            PartKind::Transition => "transition".to_owned(),
            PartKind::Start => "first label".to_owned(),
            PartKind::End => "last label".to_owned(),
            PartKind::RecallBias => "recall bias".to_owned(),
        }
    }

    /// Describes the labels of a part, in the best sequence (0) or the other one (1), such as
    /// `B-PER` or `B-PER → I-PER`.
    pub fn describe_labels(&self, part: &Part<'_>, which: usize) -> String {
        let label = self.name(part.labels[which]);
        match part.previous {
            Some(previous) => format!("{} → {label}", self.name(previous[which])),
            None => label.to_owned(),
        }
    }

    /// Describes the labels of an alternative: of its token, or of all tokens that differ.
    pub fn describe_alternative(&self, alternative: &Alternative<'_>) -> String {
        if let [label] = alternative.labels() {
            return self.name(*label).to_owned();
        }
        let tokens = alternative.range().zip(alternative.labels());
        let tokens = tokens.map(|(t, &label)| format!("{}/{}", self.words[t], self.name(label)));
        tokens.collect::<Vec<_>>().join(" ")
    }
}
