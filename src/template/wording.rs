//! Attributes in words, such as `the word before is “in”` for `word[-1]=in`, from the functions,
//! positions and conditions of the template line that they come from.

use super::ast::{
    ColumnRef, Condition, ConditionTest, Operation, Position, TemplateFunction, TemplateLine, Term,
};
use super::document::{MentionKind, RunKind};

/// Returns a sentence about the values of a line, as they stand in the name of an attribute after
/// that of the line; `None` if there are no words for it. `columns` are the names of the columns.
pub(super) fn words_for(line: &TemplateLine, values: &str, columns: &[String]) -> Option<String> {
    let values = if line.escape { split_values(values) } else { vec![values.to_owned()] };
    let mut values = values.into_iter();
    let mut text = String::new();
    let mut subject = THIS_WORD.to_owned(); // of what was said last
    for part in &line.parts {
        let value = if part.term.function.is_flag() { None } else { Some(values.next()?) };
        let phrase = phrase(&part.term, &value.unwrap_or_default(), columns)?;
        let is_first = text.is_empty();
        text += if is_first { "" } else { " and " };
        if phrase.subject != subject || is_first && phrase.predicate.starts_with("is “") {
            text += &phrase.subject;
            text += if phrase.subject.is_empty() { "" } else { " " };
        }
        text += &phrase.predicate;
        subject = phrase.subject;
    }
    for condition in &line.conditions {
        let joint = if condition.negated { "unless" } else { "if" };
        text += &format!(", {joint} {}", self::condition(condition, columns)?);
    }
    Some(text)
}

/// Splits values at `|` and resolves their escapes.
fn split_values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '|' => values.push(std::mem::take(&mut value)),
            '\\' => value.extend(characters.next()),
            c => value.push(c),
        }
    }
    values.push(value);
    values
}

/// What is said of a subject; a whole sentence has an empty one.
struct Phrase {
    subject: String,
    predicate: String,
}

impl Phrase {
    fn sentence(text: impl Into<String>) -> Option<Self> {
        Some(Self { subject: String::new(), predicate: text.into() })
    }
}

/// The word whose attributes are described.
const THIS_WORD: &str = "the word";

/// What some functions say with some of their values, and comparisons of a length, whose operators
/// are values here.
const WORDS: [(&str, &str, &str); 24] = [
    ("capitalization", "initial", "begins with a capital"),
    ("capitalization", "lower", "is in lower case"),
    ("capitalization", "upper", "is in capitals"),
    ("capitalization", "mixed", "has capitals inside"),
    ("length", "<=", "at most"),
    ("length", ">=", "at least"),
    ("length", "<", "fewer than"),
    ("length", ">", "more than"),
    ("length", "==", "exactly"),
    ("length", "!=", "not"),
    ("lexicon", "B", "begins a phrase of"),
    ("lexicon", "I", "is inside a phrase of"),
    ("lexicon", "E", "ends a phrase of"),
    ("lexicon", "S", "is a phrase of"),
    ("mention", "first", "occurs first here in the document"),
    ("mention", "later", "occurred earlier in the document"),
    ("mention", "only", "occurs only here in the document"),
    ("occurrence", "later", "recurs later in the sentence"),
    ("occurrence", "before", "occurred before in the sentence"),
    ("occurrence", "none", "does not look like a name in running text"),
    ("run", "B", "begins a run of capitalized words"),
    ("run", "I", "is inside a run of capitalized words"),
    ("run", "E", "ends a run of capitalized words"),
    ("run", "S", "is capitalized, and its neighbors are not"),
];

/// Returns the [words](WORDS) for a value of a function.
fn fixed(function: &str, value: &str) -> Option<&'static str> {
    let is_found = |(name, other, _): &&(&str, &str, &str)| (*name, *other) == (function, value);
    WORDS.iter().find(is_found).map(|(.., words)| *words)
}

/// Returns what a term says with this value.
fn phrase(term: &Term, value: &str, columns: &[String]) -> Option<Phrase> {
    let Position::Relative(offset) = term.position else { return None };
    let function = &term.function;
    let is_outside = value.is_empty() && !function.is_flag() && offset != 0;
    let is_length = matches!(function.operation, Operation::Length);
    if is_outside || is_length && value == "0" && offset != 0 {
        return Phrase::sentence(no_word_at(offset));
    }
    let predicate = match &function.operation {
        Operation::Bias => return Phrase::sentence("always there"),
        Operation::Bag(window) => {
            return Phrase::sentence(bag(*window.start(), *window.end(), function, value));
        }
        Operation::Others(term) => {
            let Phrase { subject, predicate } = phrase(term, value, columns)?;
            let text = format!("elsewhere in the document, {subject} {predicate}");
            return Phrase::sentence(text.replace(",  ", ", "));
        }
        Operation::Start => "is the first word".to_owned(),
        Operation::End => "is the last word".to_owned(),
        Operation::Text if value.is_empty() => "is empty".to_owned(),
        Operation::Text => format!("is “{value}”{}", any_case(function)),
        Operation::Length => has_characters(value),
        Operation::Value => "is a number".to_owned(),
        Operation::Occurrence => fixed("occurrence", value)?.to_owned(),
        Operation::Lexicon(_) => {
            format!("{} {}", fixed("lexicon", value)?, file_of(function)?)
        }
        Operation::Mention(kind) => mention(*kind, value)?,
        Operation::Run(kind) => run(*kind, value)?,
        Operation::OfText(_) => of_text(function, value)?,
        Operation::Gathered { .. } | Operation::GatheredRuns { .. } | Operation::Test(_) => {
            return None;
        }
    };
    Some(Phrase { subject: subject(function, offset, columns), predicate })
}

/// Returns the cell that a function reads.
fn subject(function: &TemplateFunction, offset: i32, columns: &[String]) -> String {
    let word = word_at(offset);
    let column = match function.column() {
        None | Some(ColumnRef::Word) => return word,
        Some(ColumnRef::Name(name)) => name.clone(),
        Some(ColumnRef::Number(number)) => match columns.get(*number) {
            Some(name) => name.clone(),
            None => format!("column {number}"),
        },
    };
    match offset {
        0 if column == "word" => word,
        0 => format!("its {column}"),
        _ => format!("the {column} of {word}"),
    }
}

/// Returns what a condition says if it holds, of `it` if it is about the word itself.
fn condition(condition: &Condition, columns: &[String]) -> Option<String> {
    let Condition { term, test, text, .. } = condition;
    let Position::Relative(offset) = term.position else { return None };
    let function = &term.function;
    let phrase = match test {
        ConditionTest::Equal(string) => phrase(term, string, columns)?,
        ConditionTest::Exists if function.is_flag() => phrase(term, "", columns)?,
        _ => {
            let predicate = match (test, &function.operation) {
                (ConditionTest::Length(..), _) => {
                    let (operator, number) = text.split_once(' ')?;
                    let number = format!("{} {number}", fixed("length", operator)?);
                    has_characters(&number)
                }
                (ConditionTest::Matches(_), Operation::Text) => text.clone(),
                (ConditionTest::Exists, Operation::Run(_)) => "is capitalized".to_owned(),
                (ConditionTest::Exists, Operation::Mention(_)) => {
                    "occurs in the document".to_owned()
                }
                (ConditionTest::Exists, Operation::Text) => {
                    return Some(format!("there is {}", word_at(offset)));
                }
                _ => return None,
            };
            Phrase { subject: subject(function, offset, columns), predicate }
        }
    };
    Some(match &*phrase.subject {
        "" => phrase.predicate,
        THIS_WORD => format!("it {}", phrase.predicate),
        subject => format!("{subject} {}", phrase.predicate),
    })
}

fn word_at(offset: i32) -> String {
    match offset {
        0 => THIS_WORD.to_owned(),
        -1 => "the word before".to_owned(),
        1 => "the word after".to_owned(),
        ..=-2 => format!("the word {} before", -offset),
        _ => format!("the word {offset} after"),
    }
}

fn no_word_at(offset: i32) -> String {
    match offset {
        -1 => "no word before".to_owned(),
        1 => "no word after".to_owned(),
        ..=-2 => format!("fewer than {} words before", -offset),
        _ => format!("fewer than {offset} words after"),
    }
}

fn has_characters(number: &str) -> String {
    let is_one = number.ends_with(" 1") || number == "1";
    format!("has {number} character{}", if is_one { "" } else { "s" })
}

/// Returns what to add to a text whose case does not matter.
fn any_case(function: &TemplateFunction) -> &'static str {
    let is_lower = function.input.as_ref().is_some_and(|input| input.lower);
    if is_lower { " (any case)" } else { "" }
}

fn bag(first: i32, last: i32, function: &TemplateFunction, value: &str) -> String {
    let (window, missing) = match (first, last) {
        (1, last) => (format!("the {last} words after"), no_word_at(last)),
        (first, -1) => (format!("the {} words before", -first), no_word_at(first)),
        _ => {
            let window = format!("the words from {first:+} to {last:+}");
            (window, "near an end of the sentence".to_owned())
        }
    };
    match value.is_empty() {
        true => missing,
        false => format!("“{value}”{} is among {window}", any_case(function)),
    }
}

fn mention(kind: MentionKind, value: &str) -> Option<String> {
    Some(match (kind, value) {
        (MentionKind::Order, _) => fixed("mention", value)?.to_owned(),
        (MentionKind::Count, "1") => "occurs once in the document".to_owned(),
        (MentionKind::Count, count) => format!("occurs {count} times in the document"),
        (MentionKind::Forms, "none") => "does not occur elsewhere in the document".to_owned(),
        (MentionKind::Forms, forms) => {
            let forms = forms.split('+').map(|form| match form {
                "lower" => "in lower case",
                "inside" => "capitalized inside a sentence",
                "first" => "capitalized as the first word",
                _ => "in capitals",
            });
            let forms: Vec<&str> = forms.collect();
            format!("occurs elsewhere in the document {}", forms.join(" and "))
        }
    })
}

fn run(kind: RunKind, value: &str) -> Option<String> {
    Some(match kind {
        RunKind::Position => fixed("run", value)?.to_owned(),
        RunKind::Before => format!("follows the capitalized word “{value}”"),
        RunKind::After => format!("precedes the capitalized word “{value}”"),
    })
}

/// Returns the arguments of a function in the template language.
fn arguments(function: &TemplateFunction) -> Option<&str> {
    function.text.split_once('(')?.1.strip_suffix(')')
}

/// Returns the name of the file of a function.
fn file_of(function: &TemplateFunction) -> Option<&str> {
    arguments(function)?.split('"').nth(1)
}

/// Returns the predicate of a function of a text alone.
fn of_text(function: &TemplateFunction, value: &str) -> Option<String> {
    let name = function.text.split('(').next()?;
    let case = any_case(function);
    Some(match name {
        "shape" => shape(value, arguments(function).unwrap_or_default()),
        "capitalization" => fixed(name, value).unwrap_or("has no letters with case").to_owned(),
        "class" => {
            let value = value.replace("other", "other characters").replace('+', " and ");
            format!("has {}", value.replace("letter", "letters").replace("digit", "digits"))
        }
        "title" => "is a title such as Mr.".to_owned(),
        "prefix" => format!("begins with {value}-{case}"),
        "suffix" => format!("ends in -{value}{case}"),
        "affixes" | "ngrams" => match (value.strip_prefix('<'), value.strip_suffix('>')) {
            (_, Some("")) | (Some(""), _) => return None,
            (Some(rest), Some(_)) => format!("is “{}”{case}", rest.strip_suffix('>')?),
            (Some(beginning), None) => format!("begins with {beginning}-{case}"),
            (None, Some(end)) => format!("ends in -{end}{case}"),
            (None, None) => format!("contains -{value}-{case}"),
        },
        "regex" if function.is_flag() => format!("matches {}", arguments(function)?),
        "regex" => format!("has “{value}” by {}", arguments(function)?),
        "cluster" => format!("is in cluster {value} of {}", file_of(function)?),
        "vector" => format!("has component {value} of its vector in {}", file_of(function)?),
        "value" => "has a length".to_owned(),
        _ => return None,
    })
}

/// Describes a shape, which Stanford's end with the length of a short word and with `k`, if the
/// word is known in lower case.
fn shape(value: &str, kind: &str) -> String {
    let is_stanford = kind.starts_with("dan2") || kind.starts_with("chris2");
    let known = value.strip_suffix('k').filter(|_| is_stanford);
    let rest = known.unwrap_or(value);
    let length = rest
        .rsplit_once(':')
        .filter(|(_, length)| kind.starts_with("dan2") && matches!(*length, "1" | "2" | "3"));
    let (rest, mut notes) = match length {
        Some((rest, length)) => (rest, vec![has_characters(length).replacen("has ", "", 1)]),
        None => (rest, Vec::new()),
    };
    if known.is_some() {
        notes.push("known word".to_owned());
    }
    match notes.is_empty() {
        true => format!("has shape {rest}"),
        false => format!("has shape {rest} ({})", notes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::template::Template;

    #[test]
    fn attributes_are_said_in_words() {
        let columns = ["word", "pos"].map(str::to_owned);
        for (line, values, words) in [
            ("bias", "", "always there"),
            ("word", "London", "the word is “London”"),
            ("lower[-1]", "in", "the word before is “in” (any case)"),
            ("word[-1]", "", "no word before"),
            ("word[2]", "", "fewer than 2 words after"),
            ("word[2]", "a", "the word 2 after is “a”"),
            ("column(1)", "NNP", "its pos is “NNP”"),
            ("pos[1]", "NNP", "the pos of the word after is “NNP”"),
            ("column(7)[-1]", "x", "the column 7 of the word before is “x”"),
            ("affixes(2..6)", "<Lo", "begins with Lo-"),
            ("affixes(2..6)", "a>", "ends in -a"),
            ("affixes(2..6)", "<a>", "the word is “a”"),
            ("ngrams(2..4)", "ond", "contains -ond-"),
            ("prefix(1..4, lower)[1]", "l", "the word after begins with l- (any case)"),
            ("suffix(3)", "don", "ends in -don"),
            ("shape(dan2)", "Xx", "has shape Xx"),
            ("shape(dan2)[-1]", "x:2k", "the word before has shape x (2 characters, known word)"),
            ("shape", "Xk", "has shape Xk"),
            ("capitalization", "initial", "begins with a capital"),
            ("class", "letter+other", "has letters and other characters"),
            ("length", "1", "has 1 character"),
            ("length[-1]", "0", "no word before"),
            ("title[-1]", "", "the word before is a title such as Mr."),
            ("regex(\"^[@#].\")", "", "matches \"^[@#].\""),
            ("bag(lower, 1..4)", "city", "“city” (any case) is among the 4 words after"),
            ("bag(word, -4..-1)", "", "fewer than 4 words before"),
            ("occurrence", "later", "recurs later in the sentence"),
            ("others(word[-1])", "Mr.", "elsewhere in the document, the word before is “Mr.”"),
            ("mention(count)", "3-4", "occurs 3-4 times in the document"),
            (
                "mention(forms)",
                "lower+upper",
                "occurs elsewhere in the document in lower case and in capitals",
            ),
            ("run(position)", "B", "begins a run of capitalized words"),
            ("edge: word[-1] & word", "a\\|b|c", "the word before is “a|b” and the word is “c”"),
            (
                "lower[-1] & shape",
                "in|Xx",
                "the word before is “in” (any case) and the word has shape Xx",
            ),
            ("capitalization & suffix(1)", "upper|a", "is in capitals and ends in -a"),
            (
                "word[-2] & shape if length(word[-1]) <= 3 and not start exists",
                "a|X",
                "the word 2 before is “a” and the word has shape X, if the word before has at most \
              3 characters, unless it is the first word",
            ),
            (
                "capitalization if run(position) exists",
                "mixed",
                "has capitals inside, if it is capitalized",
            ),
            ("word if lower == \"of\"", "of", "the word is “of”, if it is “of” (any case)"),
        ] {
            let template: Template = line.parse().unwrap();
            let lines = template.attribute_lines();
            let is_edge = line.starts_with("edge");
            let name = template.parsed.lines[0].head.clone() + values;
            let found = lines.words_for(is_edge, &name, &columns);
            assert_eq!(found.as_deref(), Some(words), "{name}");
        }
    }

    #[test]
    fn there_are_no_words_for_patterns_and_unknown_values() {
        for (line, name) in [
            ("U05:%x[-1,0]", "U05:the"),
            ("word", "unknown"),
            ("affixes(1..2)", "affixes(1..2)[0]=<"),
            ("mention(order)", "mention(order)[0]=x"),
            ("word & lower", "word[0]|lower[0]=a"),
        ] {
            let template: Template = line.parse().unwrap();
            assert_eq!(template.attribute_lines().words_for(false, name, &[]), None, "{name}");
        }
    }
}
