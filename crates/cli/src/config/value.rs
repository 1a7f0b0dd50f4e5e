//! From a value of a configuration file to arguments.

use toml::Spanned;
use toml::de::DeValue;

use super::option::{ConfigOption, Multiplicity, ValueKind};

/// Number of characters of a string to quote.
const QUOTE: usize = 40;

/// What a value is on the command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Given {
    /// The option is not there.
    Absent,
    /// The option without a value.
    Bare,
    /// The option with each of these values.
    Values(Vec<String>),
}

/// Converts a value; the error says what was found and expected.
pub fn convert(option: &ConfigOption<'_>, value: &DeValue<'_>) -> Result<Given, String> {
    let one = |value| scalar(option, value).map(|text| Given::Values(vec![text]));
    match (value, option.multiplicity) {
        (DeValue::Boolean(is_on), _)
            if option.kind == ValueKind::Switch || option.may_be_bare() =>
        {
            Ok(if *is_on { Given::Bare } else { Given::Absent })
        }
        (DeValue::Array(values), Multiplicity::Many | Multiplicity::Joined) => {
            let values = values.iter().map(Spanned::get_ref);
            let texts: Vec<String> = values
                .map(|value| scalar(option, value))
                .collect::<Result<_, _>>()?;
            Ok(match option.multiplicity {
                _ if texts.is_empty() => Given::Absent,
                Multiplicity::Joined => Given::Values(vec![texts.join(",")]),
                _ => Given::Values(texts),
            })
        }
        (value, _) => one(value),
    }
}

fn scalar(option: &ConfigOption<'_>, value: &DeValue<'_>) -> Result<String, String> {
    use ValueKind::{File, Integer, Number, Syntax, Text, Word};
    let converted = match (value, option.kind) {
        (DeValue::String(text), File | Text | Syntax | Word) => Some(text.to_string()),
        (DeValue::Integer(number), Integer | Number | Text | Syntax | Word) => {
            let number = i128::from_str_radix(number.as_str(), number.radix());
            number.ok().map(|number| number.to_string())
        }
        (DeValue::Float(number), Number | Syntax) => Some(number.as_str().to_owned()),
        (DeValue::Boolean(is_on), Syntax) => Some(on_off(*is_on)),
        (DeValue::Boolean(is_on), Word) if option.is_on_off() => Some(on_off(*is_on)),
        _ => None,
    };
    converted.ok_or_else(|| format!("found {}; expected {}", found(value), expected(option)))
}

fn on_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// Says what was found.
pub fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => {
            let mut quote: String = text.chars().take(QUOTE).collect();
            if quote.len() < text.len() {
                quote.push('…');
            }
            format!("the string {quote:?}")
        }
        DeValue::Integer(number) => format!("the integer {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(is_on) => is_on.to_string(),
        DeValue::Datetime(date) => format!("the date or time {date}"),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Says what an option expects.
fn expected(option: &ConfigOption<'_>) -> String {
    let one = match option.kind {
        ValueKind::Switch => "true or false".to_owned(),
        ValueKind::Number if option.may_be_bare() => "true, false or a number".to_owned(),
        ValueKind::Number => "a number".to_owned(),
        ValueKind::Integer => "a whole number".to_owned(),
        ValueKind::File => "a string with the name of a file".to_owned(),
        ValueKind::Word if option.is_on_off() => "true or false".to_owned(),
        ValueKind::Word => words(&option.words()),
        ValueKind::Text => "a string".to_owned(),
        ValueKind::Syntax => "a string or a number".to_owned(),
    };
    match option.multiplicity {
        Multiplicity::One => one,
        _ => format!("{one}, or an array of such values"),
    }
}

/// Says that one of some words is expected.
pub fn words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("one of {}", quoted.join(", "))
}
