//! What the columns of a table of documents are, by their names and the first lines of a file.

use super::instance::InstanceReadOptions;

/// Names that data sets have for the columns of texts, of labels, and of numbers of documents.
const TEXTS: &str = "text sentence review content body tweet message document comment question \
                     utterance title";
const LABELS: &str = "label labels class category target sentiment topic intent rating score";
const NUMBERS: &str = "id idx index guid uid";

/// How the lines of a file with tabs are documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabbedLines {
    /// A class, a tab and a text: nothing says otherwise.
    Labeled,
    /// The first line names the columns.
    Table,
    /// All lines have this number of cells, more than two, and the first has no names.
    Unnamed(usize),
}

impl TabbedLines {
    /// Decides by the first lines of a file.
    pub fn of(lines: &[String], options: &InstanceReadOptions) -> Self {
        let lines = lines.iter().filter(|line| !line.trim().is_empty());
        let rows: Vec<Vec<&str>> = lines.map(|line| cells(line)).collect();
        let Some(first) = rows.first() else { return Self::Labeled };
        let has_text = text_column(first, options).is_some();
        let has_label = label_column(first, options).is_some();
        let is_name = |cell: &&str| [TEXTS, LABELS, NUMBERS].iter().any(|n| is_one_of(cell, n));
        if has_text && (has_label || !options.needs_labels)
            || first.len() > 1 && first.iter().all(is_name)
        {
            return Self::Table;
        }
        match first.len() {
            width @ 3.. if rows.len() > 1 && rows.iter().all(|row| row.len() == width) => {
                Self::Unnamed(width)
            }
            _ => Self::Labeled,
        }
    }
}

/// Returns the column of texts: that of the name in the options or, unless one was chosen, the only
/// one with a common name.
pub(super) fn text_column(names: &[&str], options: &InstanceReadOptions) -> Option<usize> {
    let has_choice = options.text != InstanceReadOptions::TEXT;
    column(names, &options.text, if has_choice { "" } else { TEXTS })
}

/// Returns the column of labels, in the same way.
pub(super) fn label_column(names: &[&str], options: &InstanceReadOptions) -> Option<usize> {
    column(names, options.label(), if options.label.is_some() { "" } else { LABELS })
}

fn column(names: &[&str], wanted: &str, known: &str) -> Option<usize> {
    let only = || {
        let mut found = (0..names.len()).filter(|&i| is_one_of(names[i], known));
        found.next().filter(|_| found.next().is_none())
    };
    names.iter().position(|name| *name == wanted).or_else(only)
}

fn is_one_of(name: &str, known: &str) -> bool {
    known.split(' ').any(|known| !known.is_empty() && known.eq_ignore_ascii_case(name))
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_start_matches('\u{feff}').split('\t').map(str::trim).collect()
}

/// Returns what separates the cells of a table whose name ends in `.csv`, by its first line: a
/// comma, unless there is none.
pub(super) fn separator(first: &str) -> u8 {
    let others = [b';', b'\t'].into_iter().filter(|_| !first.contains(','));
    others.into_iter().find(|other| first.as_bytes().contains(other)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_tell_names_of_columns_from_documents() {
        use TabbedLines::{Labeled, Table, Unnamed};
        for (text, expected) in [
            ("text\tlabel\nfine\tgood\n", Table),
            ("sentence\tlabel\nfine\t1\n", Table),
            ("label\tsentence\n1\tfine\n", Table),
            ("\u{feff}id\treview\tsentiment\n7\tfine\t1\n", Table),
            ("Index\tTweet\tClass\tUser\n7\tfine\t1\tk\n", Table),
            // Names, but not of a text: an error lists them.
            ("idx\tlabel\n7\t1\n", Table),
            ("good\tfine\nbad\tdull\n", Labeled),
            ("topic\tthe text\nbad\tdull\n", Labeled),
            ("good\tfine\tindeed\nbad\tdull\n", Labeled),
            ("gj04\t1\t\tThey drank.\ngj04\t0\t*\tThey drank the pub.\n", Unnamed(4)),
            ("good\t7\tfine\n\nbad\t9\tdull\n", Unnamed(3)),
            ("", Labeled),
        ] {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let found = TabbedLines::of(&lines, &InstanceReadOptions::default());
            assert_eq!(found, expected, "{text}");
        }
        let chosen = InstanceReadOptions { text: "plot".to_owned(), ..Default::default() };
        assert_eq!(TabbedLines::of(&["plot\tlabel".to_owned()], &chosen), Table);
        assert_eq!(TabbedLines::of(&["good\tlabel".to_owned()], &chosen), Labeled);
    }

    #[test]
    fn a_column_is_found_by_the_name_that_was_chosen_or_by_the_only_common_one() {
        let options = InstanceReadOptions::default();
        assert_eq!(text_column(&["id", "Sentence", "label"], &options), Some(1));
        assert_eq!(text_column(&["review", "text"], &options), Some(1));
        assert_eq!(text_column(&["review", "title"], &options), None);
        assert_eq!(label_column(&["review", "sentiment"], &options), Some(1));
        let options = InstanceReadOptions {
            text: "plot".to_owned(),
            label: Some("genre".to_owned()),
            ..options
        };
        assert_eq!(text_column(&["text", "label"], &options), None);
        assert_eq!(label_column(&["text", "label"], &options), None);
    }

    #[test]
    fn cells_are_separated_by_semicolons_or_tabs_if_no_comma_is_there() {
        for (line, expected) in
            [("text,label;x", b','), ("text;label", b';'), ("text\tlabel", b'\t'), ("text", b',')]
        {
            assert_eq!(separator(line), expected, "{line}");
        }
    }
}
