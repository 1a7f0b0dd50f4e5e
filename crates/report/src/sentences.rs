//! The section on errors: sentences with gold labels beside predicted ones.

use std::collections::{BTreeMap, BTreeSet};

use dropchain::Sentence;
use dropchain::label::Span;
use dropchain_analysis::{ErrorKind, SpanError};
use serde::Serialize;

use crate::views::{self, Section, count, count_of, system};

/// Number of tokens that are shown to either side of an error.
const CONTEXT: usize = 15;

/// Maximum number of tokens of a span that are shown.
const MAX_SPAN: usize = 60;

/// Number of sentences that are printed on paper; `style.css` has it, too.
const PRINTED: usize = 12;

/// Maximum number of systems of which all pairs can be chosen; of more, those with the first.
const MAX_PAIRS: usize = 4;

/// Placeholder for tokens that are not shown.
const HIDDEN: &str = "…";

/// Maximum number of characters of a word or a label that are shown.
const MAX_WORD: usize = 120;

/// Returns the words of a sentence; ready-made attributes have none.
pub fn words_of(sentence: &Sentence) -> Option<impl Iterator<Item = &str>> {
    let only_labels = sentence.schema().width() == 1 && sentence.schema().label() == Some(0);
    sentence.words().filter(|_| !only_labels)
}

/// Sentences with errors, up to a number of errors.
#[derive(Clone, Debug, Serialize)]
pub struct SentenceList {
    sentences: Vec<SentenceView>,
    /// Letters and names of the systems.
    systems: Vec<(String, String)>,
    has_spans: bool,
    /// Filter choices: kinds of errors with their names, and types.
    kinds: BTreeMap<ErrorKind, String>,
    types: BTreeSet<String>,
    /// Pairs of letters: errors of the first that the second does not make.
    pairs: Vec<(String, String)>,
    /// Number of errors in these.
    #[serde(skip)]
    shown: u64,
    #[serde(skip)]
    total: u64,
    #[serde(skip)]
    max: usize,
}

/// A sentence with errors.
#[derive(Clone, Debug, Serialize)]
struct SentenceView {
    place: String,
    gold: Vec<Piece>,
    systems: Vec<SystemView>,
    errors: Vec<ErrorView>,
}

/// The prediction of a system for a sentence.
#[derive(Clone, Debug, Serialize)]
struct SystemView {
    letter: String,
    pieces: Vec<Piece>,
}

/// An error of one system or more.
#[derive(Clone, Debug, Serialize)]
struct ErrorView {
    kind: ErrorKind,
    name: String,
    place: String,
    gold: Option<String>,
    predicted: Option<String>,
    /// The letters of the systems that make it.
    systems: Vec<String>,
    /// The letters of those with any error on its tokens.
    wrong: Vec<String>,
}

/// A part of a sentence: words without a span, or a span.
#[derive(Clone, Debug, Serialize)]
struct Piece {
    text: String,
    /// The type of the span, or of labels without spans the label.
    label: Option<String>,
    is_wrong: bool,
}

/// The gold spans of a sentence, and those that each system predicts.
type SentenceSpans<'a> = (&'a [Span<'a>], &'a [Vec<Span<'a>>]);

impl SentenceList {
    /// Creates a list of up to `max` errors of systems.
    pub fn new(max: usize, systems: Vec<&str>, has_spans: bool) -> Self {
        let count = systems.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, _)| count <= MAX_PAIRS || *a == 0);
        let pairs = pairs.map(|(a, b)| (system(a), system(b)));
        let systems = systems.into_iter().enumerate();
        Self {
            pairs: pairs.collect(),
            sentences: Vec::new(),
            systems: systems.map(|(i, name)| (system(i), name.to_owned())).collect(),
            has_spans,
            kinds: BTreeMap::new(),
            types: BTreeSet::new(),
            shown: 0,
            total: 0,
            max,
        }
    }

    /// Adds the list to the section on errors.
    pub fn add_to(self, section: &mut Section) {
        let total = count_of(self.total, "error");
        let summary = match self.shown < self.total {
            true => format!("The first {} of {total}; --max-errors shows more.", count(self.shown)),
            false => format!("{total}."),
        };
        section.text(
            summary
                + " The first row of a sentence is gold; what is wrong or missing is underlined.",
        );
        if self.systems.len() > 1 {
            let names = self.systems.iter();
            let names = names.map(|(letter, name)| format!("{letter}: {name}"));
            section.text(names.collect::<Vec<_>>().join(", ") + ".");
        }
        let left_out = self.sentences.len().saturating_sub(PRINTED);
        if left_out > 0 {
            section.on_paper(format!(
                "Printed are the first {PRINTED} sentences; {} more are on the screen.",
                count(left_out as u64)
            ));
        }
        section.errors(serde_json::to_value(self).unwrap_or_default());
    }

    /// Adds a sentence, if a system has errors in it, with as many of them as there is room for.
    pub fn add(
        &mut self,
        sentence: &Sentence,
        spans: SentenceSpans<'_>,
        errors: &[Vec<SpanError<'_>>],
    ) {
        for error in errors.iter().flatten() {
            self.total += 1;
            if self.has_spans {
                self.kinds.insert(error.kind, error.kind.words());
            }
        }
        let mut room = self.max - self.shown as usize;
        let all_errors = errors;
        let errors = errors.iter().map(|errors| {
            let kept = &errors[..errors.len().min(room)];
            room -= kept.len();
            kept
        });
        let errors: Vec<&[SpanError<'_>]> = errors.collect();
        let all = || errors.iter().copied().flatten();
        if all().next().is_none() {
            return;
        }
        self.shown += all().count() as u64;
        let both = all().flat_map(|error| error.gold.iter().chain(&error.predicted));
        self.types.extend(both.map(|span| shorten(span.kind)));
        let page =
            SentencePage { sentence, words: words(sentence, all()), has_spans: self.has_spans };
        let (gold, predicted) = spans;
        let wrong = all().filter_map(|error| error.gold.as_ref());
        let systems = predicted.iter().zip(&errors).enumerate();
        self.sentences.push(SentenceView {
            place: sentence.place(0).to_string(),
            gold: page.pieces(gold, &wrong.collect::<Vec<_>>()),
            systems: systems
                .map(|(i, (predicted, errors))| page.system(system(i), predicted, errors))
                .collect(),
            errors: page.errors(&errors, all_errors),
        });
    }
}

/// The words of a sentence, shortened; those that are not shown are ellipses.
fn words<'a>(sentence: &Sentence, errors: impl Iterator<Item = &'a SpanError<'a>>) -> Vec<String> {
    let visible = visible_tokens(sentence.len(), errors);
    let words: Vec<String> = match words_of(sentence) {
        Some(words) => words.map(shorten).collect(),
        None => (1..=sentence.len()).map(|t| format!("({t})")).collect(),
    };
    let words = words.into_iter().zip(visible);
    let shown = |(word, is_visible)| if is_visible { word } else { HIDDEN.to_owned() };
    words.map(shown).collect()
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_WORD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns which tokens to show: those of errors and around them.
fn visible_tokens<'a>(len: usize, errors: impl Iterator<Item = &'a SpanError<'a>>) -> Vec<bool> {
    let mut visible = vec![false; len];
    for error in errors {
        let (start, end) = (error.start(), error.end());
        let first = start.saturating_sub(CONTEXT)..(start + MAX_SPAN).min(end);
        let last = end.saturating_sub(MAX_SPAN).max(start)..(end + CONTEXT).min(len);
        visible[first].fill(true);
        visible[last].fill(true);
    }
    visible
}

/// A sentence as it is shown.
struct SentencePage<'a> {
    sentence: &'a Sentence,
    words: Vec<String>,
    has_spans: bool,
}

impl SentencePage<'_> {
    fn system(&self, letter: String, spans: &[Span<'_>], errors: &[SpanError<'_>]) -> SystemView {
        let wrong: Vec<&Span<'_>> = errors.iter().filter_map(|e| e.predicted.as_ref()).collect();
        SystemView { letter, pieces: self.pieces(spans, &wrong) }
    }

    /// Returns the errors that are shown, those that several systems make once. `all` are all
    /// errors of each system in the sentence.
    fn errors(&self, shown: &[&[SpanError<'_>]], all: &[Vec<SpanError<'_>>]) -> Vec<ErrorView> {
        let mut views: Vec<(&SpanError<'_>, ErrorView)> = Vec::new();
        for (system, errors) in shown.iter().enumerate() {
            for error in *errors {
                match views.iter_mut().find(|(other, _)| *other == error) {
                    Some((_, view)) => view.systems.push(views::system(system)),
                    None => views.push((error, self.error(error, system, all))),
                }
            }
        }
        views.into_iter().map(|(_, view)| view).collect()
    }

    fn error(&self, error: &SpanError<'_>, system: usize, all: &[Vec<SpanError<'_>>]) -> ErrorView {
        let kind = |span: &Option<Span<'_>>| span.as_ref().map(|span| shorten(span.kind));
        let overlaps =
            |other: &SpanError<'_>| other.start() < error.end() && error.start() < other.end();
        let wrong = all.iter().enumerate();
        let wrong = wrong.filter(|(_, errors)| errors.iter().any(overlaps));
        ErrorView {
            kind: error.kind,
            name: match self.has_spans {
                true => error.kind.words(),
                false => "wrong label".to_owned(),
            },
            place: self.sentence.place(error.start()).to_string(),
            gold: kind(&error.gold),
            predicted: kind(&error.predicted),
            systems: vec![views::system(system)],
            wrong: wrong.map(|(i, _)| views::system(i)).collect(),
        }
    }

    /// Returns the visible parts of the sentence with its spans, of labels without spans with the
    /// labels that are `wrong`.
    fn pieces(&self, spans: &[Span<'_>], wrong: &[&Span<'_>]) -> Vec<Piece> {
        let spans = match self.has_spans {
            true => spans.to_vec(),
            false => wrong.iter().copied().cloned().collect(),
        };
        let mut pieces = Vec::new();
        let mut t = 0;
        for span in &spans {
            self.add(&mut pieces, t, span.start, None);
            let shown = Some((span.kind, wrong.contains(&span)));
            self.add(&mut pieces, span.start, span.end, shown);
            t = span.end;
        }
        self.add(&mut pieces, t, self.sentence.len(), None);
        pieces
    }

    /// Adds the tokens `start..end`.
    fn add(&self, pieces: &mut Vec<Piece>, start: usize, end: usize, span: Option<(&str, bool)>) {
        let mut words: Vec<&str> = self.words[start..end].iter().map(String::as_str).collect();
        words.dedup_by(|a, b| *a == HIDDEN && *b == HIDDEN);
        let is_hidden = words == [HIDDEN];
        let last = pieces.last().filter(|_| is_hidden);
        let is_said = last.is_some_and(|p| p.label.is_none() && p.text.ends_with(HIDDEN));
        if words.is_empty() || is_said {
            return;
        }
        let span = span.filter(|_| !is_hidden);
        pieces.push(Piece {
            text: words.join(" "),
            label: span.map(|(kind, _)| shorten(kind)),
            is_wrong: span.is_some_and(|(_, is_wrong)| is_wrong),
        });
    }
}

#[cfg(test)]
mod tests {
    use dropchain::label::spans;
    use dropchain_analysis::span_errors;

    use super::*;

    /// Shows the pieces of a row: spans in brackets, wrong ones with an exclamation mark.
    fn show(pieces: &[Piece]) -> String {
        let pieces = pieces.iter().map(|piece| match &piece.label {
            Some(label) => {
                let mark = if piece.is_wrong { "!" } else { "" };
                format!("[{label}{mark} {}]", piece.text)
            }
            None => piece.text.clone(),
        });
        pieces.collect::<Vec<_>>().join(" ")
    }

    fn list(gold: &[&str], predicted: &[&str], max: usize) -> SentenceList {
        let words: Vec<String> = (0..gold.len()).map(|t| format!("w{t}")).collect();
        let sentence = Sentence::from_words(&words);
        let mut list = SentenceList::new(max, vec!["a"], true);
        let errors = [span_errors(gold, predicted)];
        let spans = (spans(gold), [spans(predicted)]);
        list.add(&sentence, (&spans.0, &spans.1), &errors);
        list
    }

    #[test]
    fn gold_and_predicted_spans_are_marked() {
        let list = list(&["B-X", "I-X", "O", "B-Y"], &["O", "B-X", "O", "B-Y"], 9);
        let sentence = &list.sentences[0];
        assert_eq!(show(&sentence.gold), "[X! w0 w1] w2 [Y w3]");
        assert_eq!(show(&sentence.systems[0].pieces), "w0 [X! w1] w2 [Y w3]");
        assert_eq!(sentence.errors[0].name, "wrong boundary");
    }

    #[test]
    fn an_error_of_two_systems_is_shown_once_and_names_who_is_wrong_there() {
        let gold = ["B-X", "O", "B-Y", "B-Z"];
        let predicted = [["O", "O", "O", "B-Z"], ["O", "O", "B-X", "O"]];
        let sentence = Sentence::from_words(["a", "b", "c", "d"]);
        let mut list = SentenceList::new(9, vec!["a", "b"], true);
        let errors = predicted.each_ref().map(|labels| span_errors(&gold, labels));
        let own = [spans(&predicted[0]), spans(&predicted[1])];
        list.add(&sentence, (&spans(&gold), &own), &errors);
        let shown = list.sentences[0].errors.iter();
        let shown = shown.map(|e| (e.systems.concat(), e.wrong.concat()));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [pair("M1M2", "M1M2"), pair("M1", "M1M2"), pair("M2", "M1M2"), pair("M2", "M2")]
        );
        assert_eq!(list.pairs, [pair("M1", "M2")]);
    }

    #[test]
    fn of_a_long_sentence_the_errors_are_shown_with_their_context() {
        let mut gold = vec!["O"; 10_000];
        let predicted = gold.clone();
        gold[5_000] = "B-X";
        let list = list(&gold, &predicted, 9);
        let text = show(&list.sentences[0].gold);
        assert!(text.starts_with("… w4985 w4986"), "{text}");
        assert!(text.contains("w4999 [X! w5000] w5001"), "{text}");
        assert!(text.ends_with("w5015 …"), "{text}");
    }

    #[test]
    fn of_a_long_span_the_ends_are_shown() {
        let mut gold = vec!["I-X"; 10_000];
        gold[0] = "B-X";
        let list = list(&gold, &vec!["O"; 10_000], 9);
        let text = show(&list.sentences[0].gold);
        assert!(text.starts_with("[X! w0 w1 ") && text.contains("w59 … w9940"), "{text}");
    }

    #[test]
    fn rows_have_the_direction_of_their_text_and_marks_are_isolated() {
        let words = ["דנה", "גרה", "a\u{202e}b", "."];
        let gold = ["B-PER", "O", "O", "O"];
        let mut list = SentenceList::new(9, vec!["a"], true);
        let errors = [span_errors(&gold, &["O"; 4])];
        list.add(&Sentence::from_words(words), (&spans(&gold), &[Vec::new()]), &errors);
        let mut section = Section::new("errors", "Errors");
        list.add_to(&mut section);
        let report = crate::Report { evaluated: vec![section], ..crate::Report::default() };
        let page = report.html(None).unwrap();
        assert_eq!(page.matches("<p dir=\"auto\">").count(), 2, "gold and one system");
        assert!(page.contains("<bdi class=\"span wrong\">דנה"), "{page}");
        assert!(page.contains("a\u{fffd}b") && !page.contains('\u{202e}'), "{page}");
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        let (gold, predicted) = (["B-X", "O", "B-X", "O", "B-X"], ["O"; 5]);
        let two = list(&gold, &predicted, 2);
        assert_eq!((two.shown, two.total), (2, 3));
        assert_eq!(two.sentences[0].errors.len(), 2);
        assert!(list(&gold, &predicted, 0).sentences.is_empty());
    }

    #[test]
    fn long_words_are_shortened() {
        let text = shorten(&"é".repeat(MAX_WORD + 1));
        assert_eq!(text, format!("{}…", "é".repeat(MAX_WORD)));
        assert_eq!(shorten("short"), "short");
    }
}
