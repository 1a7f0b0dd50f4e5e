//! Kinds of lines of a text: words, or parts of sentences.

/// Minimum number of words, one per line, or of lines that are broken.
const MIN_LINES: usize = 4;

/// Maximum number of characters of a line that is a word, on average.
const MEAN_WORD: usize = 12;

/// Returns whether lines are words, one on each, with blank lines between sentences: text has
/// blanks. So that lists of words and the lines of scripts without blanks are text, there must be
/// a sentence of several words that ends, or a word that is only punctuation.
pub fn are_words(lines: &[String]) -> bool {
    let words: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let content = || words.iter().filter(|word| !word.is_empty());
    let count = content().count();
    let characters: usize = content().map(|word| word.chars().count()).sum();
    let is_punctuation = |word: &str| word.chars().all(|c| !c.is_alphanumeric() && c != '#');
    let has_punctuation = content().any(|word| is_punctuation(word));
    let sentences = words.split(|word| word.is_empty());
    let sentences = sentences.filter(|sentence| !sentence.is_empty()).count();
    let ends = words.len() > count && count >= 2 * sentences;
    let has_spaced_script = content().all(|word| word.chars().all(|c| c < '\u{e00}'));
    count >= MIN_LINES
        && characters <= MEAN_WORD * count
        && content().all(|word| !word.contains(char::is_whitespace))
        && (has_punctuation || ends && has_spaced_script)
}

/// Returns whether most lines of a text end inside a sentence and the next one goes on.
pub fn are_broken(lines: &[String]) -> bool {
    const LONGEST: usize = 100;
    let ends_inside = |line: &str| line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
    let goes_on = |line: &str| line.starts_with(char::is_lowercase);
    let pairs = lines.windows(2).filter(|pair| pair.iter().all(|line| !line.trim().is_empty()));
    let pairs: Vec<bool> = pairs
        .map(|pair| {
            let is_long = pair[0].chars().count() > LONGEST / 2;
            is_long && ends_inside(pair[0].trim_end()) && goes_on(&pair[1])
        })
        .collect();
    let broken = pairs.iter().filter(|&&broken| broken).count();
    broken >= MIN_LINES - 1
        && 2 * broken > pairs.len()
        && lines.iter().all(|line| line.chars().count() <= LONGEST)
}
