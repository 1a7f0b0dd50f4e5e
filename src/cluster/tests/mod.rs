//! Clusters of small texts as a whole.

use super::*;

/// Numbers that look random enough.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 1_u64;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    }
}

/// Sentences in which consonants and vowels take turns.
fn syllables() -> InternedText {
    let mut number = numbers();
    let mut text = InternedText::new();
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

fn learn(text: InternedText, classes: usize) -> Clusters {
    Clusters::learn(text, classes, 1, &mut |_, _| {}).unwrap()
}

/// The words whose paths start with `prefix`, sorted.
fn words<'a>(clusters: &'a Clusters, prefix: &str) -> Vec<&'a str> {
    let entries = clusters.entries().iter();
    let inside = entries.filter(|entry| entry.path.starts_with(prefix));
    let mut words: Vec<&str> = inside.map(|entry| &*entry.word).collect();
    words.sort_unstable();
    words
}

#[test]
fn two_obvious_kinds_of_words_part_at_the_root() {
    for classes in [2, 3, 5, 9] {
        let clusters = learn(syllables(), classes);
        let sides = ["0", "1"].map(|bit| words(&clusters, bit));
        assert!(
            sides.contains(&vec!["a", "e", "i", "o"]),
            "{classes}: {sides:?}"
        );
        assert!(
            sides.contains(&vec!["b", "d", "f", "g", "k"]),
            "{classes}: {sides:?}"
        );
    }
}

#[test]
fn two_classes_that_take_turns_tell_nearly_one_bit() {
    // 300 times a consonant is followed by a vowel, 240 times a vowel by a consonant.
    let share = [300.0 / 540.0, 240.0 / 540.0_f64];
    let expected: f64 = share.iter().map(|p| -p * p.log2()).sum();
    let found = learn(syllables(), 2).information();
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn fewer_classes_tell_less() {
    let information: Vec<f64> = (2..=9)
        .map(|c| learn(syllables(), c).information())
        .collect();
    assert!(information.is_sorted(), "{information:?}");
}

#[test]
fn every_word_has_a_path_and_every_class_its_own() {
    let clusters = learn(syllables(), 4);
    let mut paths: Vec<&str> = clusters.entries().iter().map(|e| &*e.path).collect();
    assert_eq!(paths.len(), 9);
    assert!(paths.is_sorted());
    paths.dedup();
    assert_eq!((paths.len(), clusters.classes()), (4, 4));
    for (i, path) in paths.iter().enumerate() {
        let others = paths.iter().enumerate().filter(|(j, _)| *j != i);
        assert!(
            others
                .map(|(_, other)| other)
                .all(|other| !other.starts_with(path))
        );
    }
}

#[test]
fn the_file_has_paths_words_and_counts() {
    let mut text = InternedText::new();
    text.add(["a", "b", "a", "b", "a"]).unwrap();
    let clusters = learn(text, 2);
    let mut written = Vec::new();
    clusters.write(&mut written).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), "0\ta\t3\n1\tb\t2\n");
}

#[test]
fn fewer_words_than_classes_each_get_their_own() {
    let clusters = learn(syllables(), 50);
    assert_eq!(clusters.classes(), 9);
    let mut paths: Vec<&str> = clusters.entries().iter().map(|e| &*e.path).collect();
    paths.dedup();
    assert_eq!(paths.len(), 9);
}

#[test]
fn the_result_is_the_same_for_any_number_of_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| learn(syllables(), 3).entries().to_vec())
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
fn what_cannot_be_clustered_is_an_error() {
    let fault = |sentences: &[&str], classes, min_count| {
        let mut text = InternedText::new();
        for sentence in sentences {
            text.add(sentence.split_whitespace()).unwrap();
        }
        let learned = Clusters::learn(text, classes, min_count, &mut |_, _| {});
        learned.unwrap_err().to_string()
    };
    assert_eq!(
        fault(&["a b"], 1, 1),
        "1 clusters cannot be made; expected 2 to 10000"
    );
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
    let sentences = [
        "the dog runs",
        "a cat sleeps",
        "the cat runs",
        "a dog sleeps",
    ];
    let clustered = |order: &mut dyn Iterator<Item = &&str>| {
        let mut text = InternedText::new();
        for sentence in order {
            text.add(sentence.split(' ')).unwrap();
        }
        learn(text, 3).entries().to_vec()
    };
    let forward = clustered(&mut sentences.iter());
    assert_eq!(forward, clustered(&mut sentences.iter().rev()));
}
