//! Recognizing files that are not in columns, although they are read as such.

use super::columns::{split_blanks, split_cells};

/// Separators of a word and its tags in tokens such as `Oslo|NNP|I-LOC`.
const TAG_SEPARATORS: [char; 3] = ['|', '/', '_'];

/// Separators of the cells of CSV.
const CSV_SEPARATORS: [char; 2] = [',', ';'];

/// Number of lines of equally many cells that are taken for CSV.
const CSV_LINES: usize = 3;

/// Number of tokens with equally many tags that are taken for them.
const TAGGED_TOKENS: usize = 3;

/// Names of columns of words and of places.
const WORD_NAMES: [&str; 14] = [
    "token",
    "tokens",
    "word",
    "words",
    "form",
    "text",
    "id",
    "idx",
    "index",
    "#",
    "sentence",
    "sentence #",
    "sentence_id",
    "sent_id",
];

/// Names of other columns.
const TAG_NAMES: [&str; 24] = [
    "pos", "tag", "tags", "upos", "xpos", "pos_tag", "postag", "label", "labels", "ner", "ner_tag",
    "ner_tags", "ne", "entity", "chunk", "lemma", "feats", "head", "deprel", "deps", "misc", "bio",
    "iob", "gold",
];

/// Returns whether a file with this first line may be of another kind, so that a look at the lines
/// after it is worth it.
pub(super) fn may_be_other(line: &str) -> bool {
    let line = line.trim_start();
    !line.contains('\t')
        && (line.starts_with(['{', '[', '<', '"'])
            || line.contains(CSV_SEPARATORS)
            || split_blanks(line).all(|cell| cell.contains(TAG_SEPARATORS)))
        || line.contains('\r')
}

/// Returns what a file looks like that begins with these lines, which are not blank, and what reads
/// it; `None` if they may be columns.
pub fn recognize(lines: &[String]) -> Option<String> {
    let first = lines.first()?.trim();
    if first.contains('\r') {
        return Some(
            "the lines seem to end in CR alone, as on old Macs; expected LF or CRLF (convert the \
             file, for example with tr '\\r' '\\n')"
                .to_owned(),
        );
    }
    if let Some(kind) = json(first, lines.get(1).map_or("", |line| line.trim())) {
        return Some(format!("the file looks like {kind}"));
    }
    if first.starts_with("<?xml") || first.starts_with("<!DOCTYPE") {
        return Some(format!("the file looks like XML{EXPECTED_COLUMNS}"));
    }
    if let Some(separator) = CSV_SEPARATORS.into_iter().find(|&s| is_csv(lines, s)) {
        let separator = if separator == ',' { "commas" } else { "semicolons" };
        return Some(format!(
            "the file looks like CSV (cells separated by {separator}){EXPECTED_COLUMNS}"
        ));
    }
    let separator = TAG_SEPARATORS.into_iter().find(|&s| are_tagged(lines, s))?;
    let example = ["word", "tag", "label"];
    let width = split_blanks(first).next()?.split(separator).count();
    let example = example[..width.clamp(2, 3)].join(&separator.to_string());
    Some(format!(
        "the file looks like tokens {example}, a sentence on each line (as WikiNER)\
         {EXPECTED_COLUMNS}: sed 's/$/ /' FILE | tr ' {separator}' '\\n\\t'"
    ))
}

/// What is expected instead.
const EXPECTED_COLUMNS: &str = "; expected one token per line, its columns separated by tabs or \
                                blanks, and a blank line after each sentence; docs/formats.md says \
                                how to convert";

/// Returns what kind of JSON begins with these two lines, and what reads it.
fn json(first: &str, second: &str) -> Option<&'static str> {
    let begins_value = ["{\"", "[\"", "[["].iter().any(|start| second.starts_with(start));
    let is_alone = |bracket: &str| {
        first == bracket && (second == "{" || begins_value || second.contains("\":"))
    };
    if first.starts_with('[') && first.contains("\"entities\"") || first.starts_with("TRAIN_DATA") {
        return Some(
            "training data of spaCy (texts and offsets); --format spans reads JSON lines \
             {\"text\": …, \"spans\": [{\"start\": …, \"end\": …, \"label\": …}]}; docs/formats.md \
             says how to convert",
        );
    }
    if ["[{\"", "[[\""].iter().any(|start| first.starts_with(start)) || is_alone("[") {
        return Some("a JSON array; --format spans reads texts with spans of characters");
    }
    if first.starts_with("{\"") && first.contains("\":") || is_alone("{") {
        return Some(
            "JSON; --format jsonl reads lines {\"tokens\": […], \"labels\": […]}, --format spans \
             texts with spans of characters",
        );
    }
    None
}

/// Returns whether lines are CSV: all have equally many cells, at least two, and as lines of
/// columns they have not.
fn is_csv(lines: &[String], separator: char) -> bool {
    let cells = csv_cells(&lines[0], separator);
    let width = cells.len();
    if width < 2 || lines.iter().any(|line| line.contains('\t')) {
        return false;
    }
    if is_header(&cells) {
        return true;
    }
    let is_quoted = |line: &String| line.starts_with('"') && line.trim_end().ends_with('"');
    let blanks = split_blanks(&lines[0]).count();
    let are_columns = blanks > 1 && lines.iter().all(|line| split_blanks(line).count() == blanks);
    let enough = lines.len() >= CSV_LINES || lines.iter().all(is_quoted);
    enough && !are_columns && lines.iter().all(|line| csv_cells(line, separator).len() == width)
}

/// Splits a line of CSV into cells, without quotes.
fn csv_cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in line.trim_end().chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells
}

/// Returns whether all cells of lines are a word with tags, nearly all with equally many: some word
/// may be the separator.
fn are_tagged(lines: &[String], separator: char) -> bool {
    let parts = |cell: &str| match cell.split(separator).all(|part| !part.is_empty()) {
        true => cell.split(separator).count(),
        false => 0,
    };
    let cells: Vec<&str> = lines.iter().flat_map(|line| split_cells(line)).collect();
    let count = cells.first().map_or(0, |cell| parts(cell));
    let enough = match (separator, count) {
        ('|', 3..) => TAGGED_TOKENS - 1,
        _ => TAGGED_TOKENS,
    };
    let is_long = lines.len() >= enough || split_blanks(&lines[0]).count() >= enough;
    let equal = cells.iter().filter(|cell| parts(cell) == count).count();
    let all = cells.iter().all(|cell| cell.contains(separator));
    count >= 2 && all && is_long && cells.len() >= enough && 10 * equal >= 9 * cells.len()
}

/// Returns whether cells look like names of columns: that of words or places, and at least half of
/// the others as well.
pub(super) fn is_header(cells: &[impl AsRef<str>]) -> bool {
    let lower = |cell: &str| cell.trim().to_lowercase();
    let is_word = |cell: &str| WORD_NAMES.contains(&&*lower(cell)) || cell.trim().is_empty();
    let is_tag = |cell: &str| {
        let name = lower(cell);
        TAG_NAMES.contains(&&*name) || name.starts_with("ne-") || name.starts_with("nel-")
    };
    let mut cells = cells.iter().map(AsRef::as_ref);
    let Some(first) = cells.next() else {
        return false;
    };
    let others = cells.len();
    let known = cells.filter(|cell| is_tag(cell) || is_word(cell)).count();
    !first.is_empty() && is_word(first) && others > 0 && 2 * known >= others
}

/// Returns whether a cell names the column of words.
pub(super) fn is_word_name(cell: &str) -> bool {
    WORD_NAMES[..6].contains(&&*cell.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        may_be_other(&lines[0]).then(|| recognize(&lines))?
    }

    #[test]
    fn csv_is_recognized_by_its_header_its_quotes_or_equally_many_cells() {
        for text in [
            "Sentence #,Word,POS,Tag\nSentence: 1,Thousands,NNS,O",
            "word;tag\nMira;B-PER",
            "\"Mira\",\"B-PER\"\n\"ran\",\"O\"",
            "Mira,B-PER\nHolm,I-PER\nran,O",
            "1,\"1,000\",CD\n1,New York,NNP\n1,won,VBD",
        ] {
            let kind = kind(text).unwrap_or_default();
            assert!(kind.contains("looks like CSV (cells separated by "), "{text}: {kind}");
        }
    }

    #[test]
    fn words_with_tags_are_recognized() {
        for (text, example) in [
            ("Mira|NNP|I-PER left|VBD|O", "word|tag|label"),
            (
                "The|DT|O Oxford|NNP|I-ORG ||SYM|O .|.|O a|b|O b|b|O c|c|O d|d|O e|e|O f|f|O",
                "word|tag|label",
            ),
            ("The/at Fulton/np said/vbd", "word/tag"),
            ("Mira_NNP left_VBD\nKai_NNP ran_VBD\nshe_PRP sat_VBD", "word_tag"),
        ] {
            let kind = kind(text).unwrap_or_default();
            assert!(kind.contains(&format!("looks like tokens {example},")), "{text}: {kind}");
        }
    }

    #[test]
    fn json_and_other_files_are_recognized() {
        for (text, name) in [
            ("{\"tokens\": [\"a\"], \"labels\": [\"X\"]}", "JSON; --format jsonl"),
            ("[\n  {\n    \"text\": \"a\"", "a JSON array; --format spans"),
            ("[{\"text\": \"a\"}]", "a JSON array; --format spans"),
            ("{\n  \"data\": [", "JSON; --format jsonl"),
            ("[[\"Mira left.\", {\"entities\": [[0, 4, \"PER\"]]}]]", "training data of spaCy"),
            ("<?xml version=\"1.0\"?>", "XML"),
        ] {
            let kind = kind(text).unwrap_or_default();
            assert!(kind.contains(&format!("looks like {name}")), "{text}: {kind}");
        }
        assert!(kind("Mira\tB-PER\rHolm\tI-PER\r").unwrap().contains("end in CR alone"));
    }

    #[test]
    fn columns_with_such_characters_are_columns() {
        for text in [
            ", , O\n1,5 CD O\n2,5 CD O\n3,5 CD O",
            "1,000 CD O\n2,000 CD O\n3,000 CD O",
            "[ ( O\n{ ( O",
            "{\" '' O",
            "\" '' O\nMira NNP B-PER",
            "New_York B_LOC\nis O\nnice O",
            "Mira B-PER|B-ORG\nran O",
            "a,b\tO\nc,d\tO\ne,f\tO",
            "<doc> O\nMira B-PER",
            "1,5\nMira\nran",
            "|\nMira\nran",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn header_rows_name_words_and_tags() {
        for row in ["TOKEN\tNE-COARSE-LIT", "word tag", "Sentence #\tWord\tPOS\tTag", "id form ner"]
        {
            assert!(is_header(&split_cells(row)), "{row}");
        }
        for row in ["Mira B-PER", "word", "The DT O", "Text NN O", "tag word extra more"] {
            assert!(!is_header(&split_cells(row)), "{row}");
        }
    }
}
