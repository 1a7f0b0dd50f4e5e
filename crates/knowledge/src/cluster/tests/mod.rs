//! Tests on small texts.

use super::*;

/// A pseudorandom number generator.
fn generator() -> impl FnMut(usize) -> usize {
    let mut state = 1_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    }
}

/// Sentences in which consonants and vowels alternate.
fn syllables() -> InternedText {
    let mut number = generator();
    let mut text = InternedText::default();
    for _ in 0..60 {
        let letters = (0..10).map(|i| match i % 2 {
            0 => ["b", "d", "f", "g", "k"][number(5)],
            _ => ["a", "e", "i", "o"][number(4)],
        });
        let sentence: Vec<&str> = letters.collect();
        text.add(sentence).unwrap();
    }
    text
}

fn learn(text: InternedText, clusters: usize) -> Clusters {
    Clusters::learn(text, clusters, 1, &mut |_, _| {}).unwrap()
}

/// The words whose paths start with `prefix`, sorted.
fn words<'a>(clusters: &'a Clusters, prefix: &str) -> Vec<&'a str> {
    let words = clusters.words.iter();
    let inside = words.filter(|word| word.path.starts_with(prefix));
    let mut words: Vec<&str> = inside.map(|word| &*word.word).collect();
    words.sort_unstable();
    words
}

#[test]
fn two_distinct_kinds_of_words_split_at_the_root() {
    for count in [2, 3, 5, 9] {
        let clusters = learn(syllables(), count);
        let sides = ["0", "1"].map(|bit| words(&clusters, bit));
        assert!(sides.contains(&vec!["a", "e", "i", "o"]), "{count}: {sides:?}");
        assert!(sides.contains(&vec!["b", "d", "f", "g", "k"]), "{count}: {sides:?}");
    }
}

#[test]
fn two_alternating_clusters_have_nearly_one_bit_of_mutual_information() {
    // 300 times a consonant is followed by a vowel, 240 times a vowel by a consonant.
    let expected: f64 = [300.0 / 540.0, 240.0 / 540.0_f64].iter().map(|p| -p * p.log2()).sum();
    let found = learn(syllables(), 2).mutual_information;
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn fewer_clusters_have_less_mutual_information() {
    let information: Vec<f64> = (2..=9).map(|c| learn(syllables(), c).mutual_information).collect();
    assert!(information.is_sorted(), "{information:?}");
}

#[test]
fn every_word_has_a_path_and_no_path_is_a_prefix_of_another() {
    let clusters = learn(syllables(), 4);
    let mut paths: Vec<&str> = clusters.words.iter().map(|e| &*e.path).collect();
    assert_eq!(paths.len(), 9);
    assert!(paths.is_sorted());
    paths.dedup();
    assert_eq!((paths.len(), clusters.count), (4, 4));
    for (i, path) in paths.iter().enumerate() {
        let others = paths.iter().enumerate().filter(|(j, _)| *j != i);
        assert!(others.map(|(_, other)| other).all(|other| !other.starts_with(path)));
    }
}

#[test]
fn the_output_has_paths_words_and_counts() {
    let mut text = InternedText::default();
    text.add(["a", "b", "a", "b", "a"]).unwrap();
    let clusters = learn(text, 2);
    assert_eq!(clusters.text(), "0\ta\t3\n1\tb\t2\n");
}

#[test]
fn fewer_words_than_clusters_are_one_cluster_each() {
    let clusters = learn(syllables(), 50);
    assert_eq!(clusters.count, 9);
    let mut paths: Vec<&str> = clusters.words.iter().map(|e| &*e.path).collect();
    paths.dedup();
    assert_eq!(paths.len(), 9);
}

#[test]
fn the_result_is_the_same_for_any_number_of_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn(syllables(), 3).words)
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn the_observer_sees_every_word() {
    let mut seen = Vec::new();
    let clusters = Clusters::learn(syllables(), 3, 1, &mut |done, of| seen.push((done, of)));
    clusters.unwrap();
    assert_eq!(seen, (1..=9).map(|done| (done, 9)).collect::<Vec<_>>());
}

#[test]
fn invalid_counts_and_texts_are_errors() {
    let fault = |sentences: &[&str], classes, min_count| {
        let mut text = InternedText::default();
        for sentence in sentences {
            text.add(sentence.split_whitespace()).unwrap();
        }
        Clusters::learn(text, classes, min_count, &mut |_, _| {}).unwrap_err().to_string()
    };
    assert_eq!(fault(&["a b"], 1, 1), "1 clusters; expected 2 to 10000");
    assert_eq!(
        fault(&[], 2, 1),
        "the text has 0 different words that occur 1 times or more; expected at least 2"
    );
    assert_eq!(
        fault(&["a a b"], 2, 2),
        "the text has 1 different words that occur 2 times or more; expected at least 2"
    );
    assert_eq!(
        fault(&["a", "b"], 2, 1),
        "no two such words are neighbors in the text; expected sentences of several words"
    );
}

#[test]
fn the_order_of_sentences_does_not_matter() {
    let sentences = ["the dog runs", "a cat sleeps", "the cat runs", "a dog sleeps"];
    let clustered = |order: &mut dyn Iterator<Item = &&str>| {
        let mut text = InternedText::default();
        for sentence in order {
            text.add(sentence.split(' ')).unwrap();
        }
        learn(text, 3).words
    };
    let forward = clustered(&mut sentences.iter());
    assert_eq!(forward, clustered(&mut sentences.iter().rev()));
}
