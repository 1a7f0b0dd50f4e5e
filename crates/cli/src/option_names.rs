//! The options of the command line in messages of the library, which names them by their fields.

use std::borrow::Cow;

/// The fields that messages name.
const FIELDS: [&str; 12] = [
    "columns",
    "comments",
    "encoding",
    "format",
    "header",
    "label",
    "lossy",
    "max_sentence",
    "misaligned",
    "offsets",
    "plain_labels",
    "text_key",
];

/// Returns a message with options as they are typed: `--text-key` for the field `text_key`, which
/// the library writes between backticks.
pub fn as_typed(message: &str) -> Cow<'_, str> {
    let mut typed = Cow::Borrowed(message);
    for field in FIELDS.iter().filter(|_| message.contains('`')) {
        let named = format!("`{field}`");
        if typed.contains(&named) {
            let option = format!("--{}", field.replace('_', "-"));
            typed = typed.replace(&named, &option).into();
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use super::as_typed;

    #[test]
    fn fields_are_options_and_other_words_are_kept() {
        let message = "x:1: `max_sentence` changes it (`format` conllu, of `train`, label `a`)";
        let expected = "x:1: --max-sentence changes it (--format conllu, of `train`, label `a`)";
        assert_eq!(as_typed(message), expected);
    }
}
