//! An index of the words of a document.

use hashbrown::HashMap;

use super::sentence::Sentence;

/// Where each word of a document occurs. Building it takes time and memory linear in the text;
/// looking up takes constant time.
#[derive(Debug, Default)]
pub struct WordIndex {
    words: Vec<u32>,       // [T] the number of the word of each token
    ranks: Vec<u32>,       // [T] which of the occurrences of its word each token is
    starts: Vec<u32>,      // [words + 1] of each word in `occurrences`
    occurrences: Vec<u32>, // [T] tokens, by word and then ascending
}

impl WordIndex {
    /// Indexes the texts of tokens; `write` appends that of a token.
    pub(super) fn new<'a>(
        sentences: impl Iterator<Item = &'a Sentence>,
        tokens: usize,
        write: impl Fn(&Sentence, usize, &mut String),
    ) -> Self {
        let mut index = Self { words: Vec::with_capacity(tokens), ..Self::default() };
        let mut text = String::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut counts: Vec<u32> = Vec::new(); // [words]
        for sentence in sentences {
            for t in 0..sentence.len() {
                text.clear();
                write(sentence, t, &mut text);
                let next = numbers.len() as u32;
                let word = *numbers.entry_ref(text.as_str()).or_insert(next);
                counts.resize(counts.len().max(word as usize + 1), 0);
                index.words.push(word);
                index.ranks.push(counts[word as usize]);
                counts[word as usize] += 1;
            }
        }
        index.starts.push(0);
        let mut end = 0;
        index.starts.extend(counts.iter().map(|count| {
            end += count;
            end
        }));
        index.occurrences = vec![0; index.words.len()];
        for (t, (&word, &rank)) in index.words.iter().zip(&index.ranks).enumerate() {
            index.occurrences[(index.starts[word as usize] + rank) as usize] = t as u32;
        }
        index
    }

    /// Returns the tokens of the document with the word of token `t`, ascending, and which of them
    /// `t` is.
    pub fn occurrences(&self, t: usize) -> (&[u32], usize) {
        let word = self.words[t];
        (self.of_number(word), self.ranks[t] as usize)
    }

    fn of_number(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.occurrences[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Returns where the occurrences of the word of token `t` begin in a list of all tokens by
    /// word, in which those of a word are consecutive.
    pub fn first_of_word(&self, t: usize) -> usize {
        self.starts[self.words[t] as usize] as usize
    }

    /// Returns all tokens by word, those of a word ascending.
    pub fn by_word(&self) -> &[u32] {
        &self.occurrences
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        let numbers = [&self.words, &self.ranks, &self.starts, &self.occurrences];
        let numbers: usize = numbers.into_iter().map(Vec::capacity).sum();
        4 * numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(sentences: &[&str]) -> WordIndex {
        let sentences: Vec<Sentence> =
            sentences.iter().map(|text| Sentence::from_words(text.split(' '))).collect();
        let sentences: Vec<&Sentence> = sentences.iter().collect();
        let tokens = sentences.iter().map(|s| s.len()).sum();
        WordIndex::new(sentences.iter().copied(), tokens, |s, t, out| {
            out.push_str(s.cell(t, 0));
        })
    }

    #[test]
    fn occurrences_are_those_of_a_search_of_all_tokens() {
        let texts = ["a b a c", "b", "c a b b", "ab aa a"];
        let index = index(&texts);
        let words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
        for (t, word) in words.iter().enumerate() {
            let same = (0..words.len()).filter(|&u| words[u] == *word);
            let same: Vec<u32> = same.map(|u| u as u32).collect();
            let (found, rank) = index.occurrences(t);
            assert_eq!(found, same, "{word}");
            assert_eq!(found[rank], t as u32);
            assert_eq!(&index.by_word()[index.first_of_word(t)..][..same.len()], same);
        }
        assert!(index.memory() >= 4 * 3 * words.len());
    }

    #[test]
    fn a_document_without_tokens_has_no_words() {
        assert!(WordIndex::new([].into_iter(), 0, |_, _, _| unreachable!()).by_word().is_empty());
    }
}
