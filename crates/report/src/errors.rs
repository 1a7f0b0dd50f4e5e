//! The section on errors: by gold and predicted type, each in its sentence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use dropchain::Sentence;
use dropchain::label::Span;
use dropchain_analysis::SpanError;
use serde::Serialize;
use serde_json::json;

use crate::views::{Block, count, count_of, name_of};

/// Number of tokens that are shown to either side of an error.
const CONTEXT: usize = 15;

/// Maximum number of tokens of a piece of text that are shown at either end.
const MAX_PIECE: usize = 60;

/// Maximum number of systems of which all pairs can be chosen; of more, those with the first.
const MAX_PAIRS: usize = 4;

/// Placeholder for tokens that are not shown.
const HIDDEN: &str = "…";

/// Maximum number of characters of a word or a label that are shown.
const MAX_WORD: usize = 120;

/// The type of what is no span.
pub const NONE: &str = "(none)";

/// Returns the words of a sentence; ready-made attributes have none.
pub fn words_of(sentence: &Sentence) -> Option<impl Iterator<Item = &str>> {
    let only_labels = sentence.schema().width() == 1 && sentence.schema().label() == Some(0);
    sentence.words().filter(|_| !only_labels)
}

/// Errors by the names of their gold and predicted types, up to a number of errors.
#[derive(Clone, Debug)]
pub struct ErrorList {
    groups: BTreeMap<(String, String), Group>,
    has_spans: bool,
    /// Number of errors that are listed, and of all.
    shown: usize,
    total: u64,
    max: usize,
}

/// Errors with the same gold and predicted type.
#[derive(Clone, Debug, Default, Serialize)]
struct Group {
    id: String,
    title: String,
    total: u64,
    errors: Vec<ErrorView>,
}

/// An error of one system or more, in its sentence.
#[derive(Clone, Debug, Serialize)]
struct ErrorView {
    place: String,
    /// The kind, of labels without spans nothing.
    kind: String,
    gold: Vec<Piece>,
    rows: Vec<PredictedRow>,
    /// The numbers of the systems that make it.
    systems: Vec<usize>,
    /// The numbers of those with any error on its tokens.
    wrong: Vec<usize>,
}

/// What systems predict.
#[derive(Clone, Debug, Serialize)]
struct PredictedRow {
    systems: Vec<usize>,
    pieces: Vec<Piece>,
}

/// A part of a sentence: words without a span, or a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Piece {
    text: String,
    /// The type of the span, or of labels without spans the label.
    label: Option<String>,
    is_wrong: bool,
}

/// The gold spans of a sentence, and those that each system predicts.
type SentenceSpans<'a> = (&'a [Span<'a>], &'a [Vec<Span<'a>>]);

impl ErrorList {
    /// Creates a list of up to `max` errors of systems.
    pub fn new(max: usize, has_spans: bool) -> Self {
        Self { groups: BTreeMap::new(), has_spans, shown: 0, total: 0, max }
    }

    /// Shows the list of errors of systems with these names.
    pub fn blocks(self, names: &[&str]) -> [Block; 2] {
        let (shown, total) = (self.shown as u64, count_of(self.total, "error"));
        let mut summary = format!("{total}.");
        if shown < self.total {
            let shown = count(shown);
            summary = format!("The first {shown} of {total} are listed; --max-errors shows more.");
        }
        if names.len() > 1 {
            summary += " What several systems get wrong is one error.";
        }
        let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, _)| names.len() <= MAX_PAIRS || *a == 0);
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.retain(|group| !group.errors.is_empty());
        groups.sort_by_key(|group| Reverse(group.total));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let errors = json!({"groups": groups, "systems": names, "pairs": pairs});
        [Block::Text(summary), Block::Errors(errors)]
    }

    /// Returns the id of the list of errors with these types, if any is listed.
    pub fn id(&self, gold: &str, predicted: &str) -> Option<String> {
        let group = self.groups.get(&(gold.to_owned(), predicted.to_owned()))?;
        Some(group.id.clone()).filter(|_| !group.errors.is_empty())
    }

    /// Adds the errors of each system in a sentence.
    pub fn add(
        &mut self,
        sentence: &Sentence,
        spans: SentenceSpans<'_>,
        errors: &[Vec<SpanError<'_>>],
    ) {
        let mut systems: HashMap<&SpanError<'_>, Vec<usize>> = HashMap::new();
        for (system, errors) in errors.iter().enumerate() {
            errors.iter().for_each(|error| systems.entry(error).or_default().push(system));
        }
        if systems.is_empty() {
            return;
        }
        let words: Vec<String> = match words_of(sentence) {
            Some(words) => words.map(shorten).collect(),
            None => (1..=sentence.len()).map(|t| format!("({t})")).collect(),
        };
        let page = SentencePage { sentence, words, spans, errors, has_spans: self.has_spans };
        for error in errors.iter().flatten() {
            if let Some(systems) = systems.remove(error) {
                self.add_error(&page, error, systems);
            }
        }
    }

    fn add_error(&mut self, page: &SentencePage<'_>, error: &SpanError<'_>, systems: Vec<usize>) {
        let name =
            |span: &Option<Span<'_>>| span.as_ref().map_or(NONE.to_owned(), |s| name_of(s.kind));
        let number = self.groups.len() + 1;
        let group = self.groups.entry((name(&error.gold), name(&error.predicted)));
        let group = group.or_insert_with_key(|(gold, predicted)| Group {
            id: format!("e{number}"),
            title: title_of(&shorten(gold), &shorten(predicted)),
            ..Group::default()
        });
        (group.total, self.total) = (group.total + 1, self.total + 1);
        if self.shown < self.max {
            self.shown += 1;
            group.errors.push(page.view(error, systems));
        }
    }
}

/// Says what an error is by the names of its types.
pub fn title_of(gold: &str, predicted: &str) -> String {
    match (gold, predicted) {
        (gold, NONE) => format!("{gold} missed"),
        (NONE, predicted) => format!("{predicted} spurious"),
        _ if gold == predicted => format!("{gold} with wrong boundaries"),
        _ => format!("{gold} predicted as {predicted}"),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_WORD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A sentence as it is shown.
struct SentencePage<'a> {
    sentence: &'a Sentence,
    words: Vec<String>,
    spans: SentenceSpans<'a>,
    /// The errors of each system.
    errors: &'a [Vec<SpanError<'a>>],
    has_spans: bool,
}

impl SentencePage<'_> {
    /// Shows an error of systems with what is around it. Systems that predict the same are a row.
    fn view(&self, error: &SpanError<'_>, systems: Vec<usize>) -> ErrorView {
        let (gold, predicted) = self.spans;
        let mut rows: Vec<PredictedRow> = Vec::new();
        for (system, spans) in predicted.iter().enumerate() {
            let own = error.predicted.as_ref().filter(|_| systems.contains(&system));
            let pieces = self.pieces(error, spans, own);
            match rows.iter_mut().find(|row| row.pieces == pieces) {
                Some(row) => row.systems.push(system),
                None => rows.push(PredictedRow { systems: vec![system], pieces }),
            }
        }
        let overlaps =
            |other: &SpanError<'_>| other.start() < error.end() && error.start() < other.end();
        let wrong = (0..self.errors.len()).filter(|&i| self.errors[i].iter().any(overlaps));
        ErrorView {
            place: self.sentence.place(error.start()).to_string(),
            kind: if self.has_spans { error.kind.words() } else { String::new() },
            gold: self.pieces(error, gold, error.gold.as_ref()),
            rows,
            systems,
            wrong: wrong.collect(),
        }
    }

    /// Returns the text around an error with the spans in it; of labels without spans, with the
    /// label that is `wrong`.
    fn pieces(
        &self,
        error: &SpanError<'_>,
        spans: &[Span<'_>],
        wrong: Option<&Span<'_>>,
    ) -> Vec<Piece> {
        let start = error.start().saturating_sub(CONTEXT);
        let end = (error.end() + CONTEXT).min(self.words.len());
        let first = spans.partition_point(|span| span.end <= start);
        let within = spans[first..].iter().take_while(|span| span.start < end);
        let within = within.filter(|_| self.has_spans).chain(wrong.filter(|_| !self.has_spans));
        let hidden = |is_hidden: bool| {
            is_hidden.then(|| Piece { text: HIDDEN.to_owned(), ..Piece::default() })
        };
        let mut pieces: Vec<Piece> = hidden(start > 0).into_iter().collect();
        let mut t = start;
        for span in within {
            let own = span.start.max(start)..span.end.min(end);
            pieces.extend(self.piece(t..own.start));
            t = own.end;
            let label = Some(shorten(span.kind));
            let is_wrong = wrong == Some(span);
            pieces.extend(self.piece(own).map(|piece| Piece { label, is_wrong, ..piece }));
        }
        pieces.extend(self.piece(t..end));
        pieces.extend(hidden(end < self.words.len()));
        pieces
    }

    /// Returns the tokens of a range, of many those at its ends; `None` if it is empty.
    fn piece(&self, range: Range<usize>) -> Option<Piece> {
        let words = &self.words[range];
        let text = if words.len() > 2 * MAX_PIECE {
            let ends = [&words[..MAX_PIECE], &words[words.len() - MAX_PIECE..]];
            ends.map(|words| words.join(" ")).join(&format!(" {HIDDEN} "))
        } else {
            words.join(" ")
        };
        (!words.is_empty()).then(|| Piece { text, ..Piece::default() })
    }
}

#[cfg(test)]
mod tests {
    use dropchain::label::spans;
    use dropchain_analysis::compare_spans;

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

    /// Lists the errors of systems in a sentence of the words w0, w1, …
    fn list(gold: &[&str], predicted: &[&[&str]], max: usize) -> ErrorList {
        let words: Vec<String> = (0..gold.len()).map(|t| format!("w{t}")).collect();
        let mut list = ErrorList::new(max, true);
        let own: Vec<_> = predicted.iter().map(|labels| spans(labels)).collect();
        let errors: Vec<_> = own.iter().map(|own| compare_spans(&spans(gold), own)).collect();
        list.add(&Sentence::from_words(&words), (&spans(gold), &own), &errors);
        list
    }

    /// Shows the errors of a list: kind, gold and predicted row, systems, systems with any error.
    fn errors(list: &ErrorList) -> Vec<String> {
        let errors = list.groups.values().flat_map(|group| &group.errors);
        let errors = errors.map(|e| {
            let rows: Vec<String> = e
                .rows
                .iter()
                .map(|row| format!("{:?} {}", row.systems, show(&row.pieces)))
                .collect();
            let (gold, rows) = (show(&e.gold), rows.join(" / "));
            format!("{}: {gold} / {rows}, {:?} of {:?}", e.kind, e.systems, e.wrong)
        });
        errors.collect()
    }

    #[test]
    fn gold_and_predicted_spans_are_marked() {
        let list = list(&["B-X", "I-X", "O", "B-Y"], &[&["O", "B-X", "O", "B-Y"]], 9);
        assert_eq!(
            errors(&list),
            ["wrong boundary: [X! w0 w1] w2 [Y w3] / [0] w0 [X! w1] w2 [Y w3], [0] of [0]"]
        );
    }

    #[test]
    fn an_error_of_two_systems_is_shown_once_and_names_who_is_wrong_there() {
        let gold = ["B-X", "O", "B-Y", "B-Z"];
        let list = list(&gold, &[&["O", "O", "O", "B-Z"], &["O", "O", "B-X", "O"]], 9);
        assert_eq!(
            errors(&list),
            [
                "missed: [X! w0] w1 [Y w2] [Z w3] / [0] w0 w1 w2 [Z w3] / [1] w0 w1 [X w2] w3, \
                 [0, 1] of [0, 1]",
                "missed: [X w0] w1 [Y! w2] [Z w3] / [0] w0 w1 w2 [Z w3] / [1] w0 w1 [X w2] w3, \
                 [0] of [0, 1]",
                "wrong type: [X w0] w1 [Y! w2] [Z w3] / [0] w0 w1 w2 [Z w3] / [1] w0 w1 [X! w2] \
                 w3, [1] of [0, 1]",
                "missed: [X w0] w1 [Y w2] [Z! w3] / [0] w0 w1 w2 [Z w3] / [1] w0 w1 [X w2] w3, [1] \
                 of [1]",
            ]
        );
        assert_eq!(list.total, 4);
    }

    #[test]
    fn of_a_long_sentence_the_errors_are_shown_with_their_context() {
        let mut gold = vec!["O"; 10_000];
        let predicted = gold.clone();
        gold[5_000] = "B-X";
        let text = &errors(&list(&gold, &[&predicted], 9))[0];
        let (gold, _) = text.split_once(" / ").unwrap();
        assert!(gold.starts_with("missed: … w4985 w4986"), "{gold}");
        assert!(gold.contains("w4999 [X! w5000] w5001"), "{gold}");
        assert!(gold.ends_with("w5015 …"), "{gold}");
    }

    #[test]
    fn of_a_long_span_the_ends_are_shown() {
        let mut gold = vec!["I-X"; 10_000];
        gold[0] = "B-X";
        let text = &errors(&list(&gold, &[&["O"; 10_000]], 9))[0];
        assert!(text.contains("[X! w0 w1 ") && text.contains("w59 … w9940"), "{text}");
    }

    #[test]
    fn rows_have_the_direction_of_their_text_and_marks_are_isolated() {
        let words = ["דנה", "גרה", "a\u{202e}b", "."];
        let gold = ["B-PER", "O", "O", "O"];
        let mut list = ErrorList::new(9, true);
        let errors = [compare_spans(&spans(&gold), &spans(&["O"; 4]))];
        list.add(&Sentence::from_words(words), (&spans(&gold), &[Vec::new()]), &errors);
        let blocks = list.blocks(&["a"]).to_vec();
        let section = crate::views::Section { id: "errors", title: "Errors", blocks };
        let report = crate::Report { evaluated: vec![section], ..crate::Report::default() };
        let page = report.html(None).unwrap();
        assert_eq!(page.matches("<p dir=\"auto\">").count(), 2, "gold and one system");
        assert!(page.contains("<bdi class=\"span wrong\">דנה"), "{page}");
        assert!(page.contains("a\u{fffd}b") && !page.contains('\u{202e}'), "{page}");
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        let (gold, predicted) = (["B-X", "O", "B-X", "O", "B-X"], ["O"; 5]);
        let two = list(&gold, &[&predicted], 2);
        assert_eq!((two.shown, two.total, errors(&two).len()), (2, 3, 2));
        assert_eq!(two.id("X", NONE), Some("e1".to_owned()));
        assert_eq!(list(&gold, &[&predicted], 0).id("X", NONE), None);
    }

    #[test]
    fn long_words_are_shortened() {
        let text = shorten(&"é".repeat(MAX_WORD + 1));
        assert_eq!(text, format!("{}…", "é".repeat(MAX_WORD)));
        assert_eq!(shorten("short"), "short");
    }
}
