//! Reusing workspaces, sharing taggers.

use super::*;

#[test]
fn a_tagger_can_be_shared_by_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Tagger>();
}

#[test]
fn threads_that_share_a_tagger_get_the_results_of_one() {
    let sentences = SENTENCES.map(Sentence::from_words);
    // By another tagger, so that nothing is memoized when the threads start.
    let expected = SENTENCES.map(|words| tag(&tagger(), words, EVERYTHING));
    let tagger = tagger();
    std::thread::scope(|scope| {
        for first in 0..8 {
            let (tagger, sentences, expected) = (&tagger, &sentences, &expected);
            scope.spawn(move || {
                let mut workspace = Workspace::default();
                for i in (0..SENTENCES.len()).cycle().skip(first).take(200) {
                    let tagging = tagger.tag_with(&sentences[i], EVERYTHING, &mut workspace);
                    assert_eq!(tagging.unwrap(), expected[i]);
                }
            });
        }
    });
}

#[test]
fn a_workspace_can_be_used_with_other_columns() {
    let tagger = tagger();
    let mut workspace = Workspace::default();
    for names in [&["word"][..], &["id", "word"], &["word", "id"], &["word"], &["id", "word"]] {
        for words in SENTENCES {
            let sentence = in_columns(names, words);
            let reused = tagger.tag_with(&sentence, EVERYTHING, &mut workspace).unwrap();
            let fresh = tagger.tag_with(&sentence, EVERYTHING, &mut Workspace::default());
            assert_eq!(reused, fresh.unwrap(), "{names:?} {words:?}");
        }
    }
}

#[test]
fn a_workspace_can_be_used_with_several_taggers() {
    let by_word = tagger();
    let weights = vec![("suffix(1)[0]=a", vec![(0, 3.0)]), ("suffix(1)[0]=c", vec![(1, 3.0)])];
    let by_suffix = Tagger::new(model(double("suffix(1)"), &weights, &NamedWeights::new()));
    // Attributes of two values have no memo cell: their memos are cached by key.
    let by_pair = ["word[0]|word[+1]=a|c", "word[0]|word[+1]=c|b"].map(|name| {
        let weights = vec![(name, vec![(1, 3.0)])];
        Tagger::new(model(double("word & word[+1]"), &weights, &NamedWeights::new()))
    });
    let mut workspace = Workspace::default();
    let sentence = in_columns(&["word"], &["a", "c", "b"]);
    for _ in 0..2 {
        for tagger in [&by_word, &by_pair[0], &by_pair[1], &by_suffix] {
            let reused = tagger.tag_with(&sentence, EVERYTHING, &mut workspace).unwrap();
            let fresh = tagger.tag_with(&sentence, EVERYTHING, &mut Workspace::default());
            assert_eq!(reused, fresh.unwrap());
        }
    }
}

#[test]
fn equal_columns_do_not_rebind_the_template() {
    let (tagger, mut workspace) = (tagger(), Workspace::default());
    let bound = |workspace: &Workspace| Arc::as_ptr(&workspace.bound.as_ref().unwrap().schema);
    let one = in_columns(&["id", "word"], &["a"]);
    tagger.tag_with(&one, EVERYTHING, &mut workspace).unwrap();
    let first = bound(&workspace);
    let equal = in_columns(&["id", "word"], &["b"]);
    tagger.tag_with(&equal, EVERYTHING, &mut workspace).unwrap();
    assert_eq!(bound(&workspace), first);
    assert!(!Arc::ptr_eq(one.schema(), equal.schema()));
}

#[test]
fn a_workspace_can_be_used_after_an_error() {
    let mut header = double("value(size)");
    header.columns.names = vec!["word".to_owned(), "size".to_owned()];
    let tagger = Tagger::new(model(header, &nodes(), &edges()));
    let schema = Arc::new(Schema::new(vec!["size".to_owned()], None).unwrap());
    let sentence = |cell: &str| {
        let mut sentence = Sentence::new(Arc::clone(&schema), "x.conll");
        sentence.push([cell], 1).unwrap();
        sentence
    };
    let mut workspace = Workspace::default();
    assert!(tagger.tag_with(&sentence("7"), EVERYTHING, &mut workspace).is_ok());
    let error = tagger.tag_with(&sentence("seven"), EVERYTHING, &mut workspace);
    assert!(error.unwrap_err().to_string().starts_with("x.conll:1: "));
    assert!(tagger.tag_with(&sentence("8"), EVERYTHING, &mut workspace).is_ok());
    assert!(tagger.tag_with(&Sentence::from_words(["a"]), EVERYTHING, &mut workspace).is_err());
    assert!(tagger.tag_with(&sentence("9"), EVERYTHING, &mut workspace).is_ok());
}
