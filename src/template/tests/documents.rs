//! Functions over the document.

use super::*;
use crate::sentence::{Document, DocumentOptions, DocumentRule};

/// Returns the node attributes of every token of a document: sentences separated by `/`, words by
/// blanks.
fn document_nodes(template: &Template, text: &str) -> Vec<Vec<String>> {
    let sentences: Vec<Sentence> = text.split('/').map(|text| words(text.trim())).collect();
    let document = Document::new(&sentences);
    (0..sentences.len())
        .flat_map(|i| sentence_nodes(template, &document, i))
        .collect()
}

/// Returns the node attributes of every token of a sentence.
fn sentence_nodes(template: &Template, document: &Document<'_>, i: usize) -> Vec<Vec<String>> {
    let sentence = document.sentences()[i];
    let extractor = template.bind(sentence.schema()).expect("columns");
    let mut workspace = Workspace::default();
    extractor
        .prepare_in(document, i, &mut workspace)
        .expect("values");
    let tokens = 0..sentence.len();
    let nodes = tokens.map(|t| {
        let mut collected = Collected::default();
        extractor.extract(sentence, t, &mut workspace, &mut collected);
        collected.node
    });
    nodes.collect()
}

fn with_window(source: &str, window: u32) -> Template {
    let documents = DocumentOptions {
        window,
        ..DocumentOptions::default()
    };
    let template = parse(source).unwrap();
    template.with_documents(documents).unwrap()
}

#[test]
fn mentions_are_counted_in_the_whole_document() {
    let template = parse("mention(order)\nmention(count)\nmention(distance)").unwrap();
    let nodes = document_nodes(&template, "a b / c a / a d");
    let expected = [
        vec!["mention(order)[0]=first", "mention(count)[0]=3-4"],
        vec!["mention(order)[0]=only", "mention(count)[0]=1"],
        vec!["mention(order)[0]=only", "mention(count)[0]=1"],
        vec![
            "mention(order)[0]=later",
            "mention(count)[0]=3-4",
            "mention(distance)[0]=3-4",
        ],
        vec![
            "mention(order)[0]=later",
            "mention(count)[0]=3-4",
            "mention(distance)[0]=1",
        ],
        vec!["mention(order)[0]=only", "mention(count)[0]=1"],
    ];
    assert_eq!(nodes, expected);
}

#[test]
fn mentions_beyond_the_window_are_not_seen() {
    let template = with_window("mention(order)\nmention(count)", 2);
    let nodes = document_nodes(&template, "a b / a x y / a");
    assert_eq!(nodes[0], ["mention(order)[0]=first", "mention(count)[0]=2"]);
    assert_eq!(nodes[2], ["mention(order)[0]=later", "mention(count)[0]=2"]);
    assert_eq!(nodes[5], ["mention(order)[0]=only", "mention(count)[0]=1"]);
}

#[test]
fn a_mention_may_be_of_any_text_and_combined() {
    let template = parse("mention(order, lower) & shape(collapsed)\nmention(count)[+1]").unwrap();
    let nodes = document_nodes(&template, "Ann b / ann");
    assert_eq!(
        nodes,
        [
            vec![
                "mention(order, lower)[0]|shape(collapsed)[0]=first|Xx",
                "mention(count)[+1]=1"
            ],
            vec!["mention(order, lower)[0]|shape(collapsed)[0]=only|x"],
            vec!["mention(order, lower)[0]|shape(collapsed)[0]=later|x"],
        ]
    );
}

#[test]
fn a_sentence_alone_is_a_document() {
    assert_eq!(
        nodes("mention(order)", "a b a", 2),
        ["mention(order)[0]=later"]
    );
    assert_eq!(nodes("mention(order)", "b", 0), ["mention(order)[0]=only"]);
}

#[test]
fn a_part_of_a_document_with_its_context_has_the_same_attributes() {
    let template = with_window("mention(order)\nmention(count)\nmention(distance)", 7);
    let sentences: Vec<Sentence> = (0..40)
        .map(|i| words(["a b c", "d", "a e f g", "c c", "h b i"][i * i % 5]))
        .collect();
    let whole = Document::new(&sentences);
    for i in 0..sentences.len() {
        let tokens = |range: std::ops::Range<usize>| -> usize {
            sentences[range].iter().map(Sentence::len).sum()
        };
        let first = (0..=i)
            .rev()
            .find(|&first| first == 0 || tokens(first..i) >= 7);
        let last = (i..sentences.len()).find(|&last| tokens(i + 1..last + 1) >= 7);
        let range = first.unwrap()..=last.unwrap_or(sentences.len() - 1);
        let part = Document::new(&sentences[range.clone()]);
        assert_eq!(
            sentence_nodes(&template, &part, i - range.start()),
            sentence_nodes(&template, &whole, i),
            "sentence {i}"
        );
    }
}

#[test]
fn the_sentences_of_a_document_must_have_the_columns_of_the_template() {
    let template = parse("pos & mention(order, pos)").unwrap();
    let sentences = [table("word pos", None, "a N"), words("a")];
    let extractor = template.bind(sentences[0].schema()).unwrap();
    let document = Document::new(&sentences);
    let mut workspace = Workspace::default();
    let error = extractor
        .prepare_in(&document, 0, &mut workspace)
        .unwrap_err();
    assert!(
        error.to_string().ends_with("found the columns word"),
        "{error}"
    );
    let error = extractor
        .prepare_in(&document, 2, &mut workspace)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "sentence 2 of a document of 2 sentences, counted from 0"
    );
}

#[test]
fn a_line_says_what_a_document_is() {
    let template = parse("word\ndocument: marks window=50 # short\nmention(order)").unwrap();
    let documents = DocumentOptions {
        rule: DocumentRule::Marks,
        window: 50,
    };
    assert_eq!(template.documents(), Some(documents));
    assert_eq!(parse("document: marks\nword").unwrap().documents(), None);
    let default = parse("mention(count)").unwrap().documents();
    assert_eq!(default, Some(DocumentOptions::default()));
}

#[test]
fn the_line_is_replaced_or_appended_and_keeps_the_others() {
    let documents = DocumentOptions {
        rule: DocumentRule::File,
        window: 9,
    };
    for (source, expected) in [
        (
            "mention(order)",
            "mention(order)\ndocument: file window=9\n",
        ),
        (
            "# a\ndocument:marks\n\nmention(order)\n",
            "# a\ndocument: file window=9\n\nmention(order)\n",
        ),
    ] {
        let template = parse(source).unwrap().with_documents(documents).unwrap();
        assert_eq!(template.source(), expected);
        assert_eq!(parse(expected).unwrap().documents(), Some(documents));
    }
    let error = parse("word")
        .unwrap()
        .with_documents(documents)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no line of the template looks at the document (others, mention); expected such a line, \
         or no rule for documents"
    );
}

#[test]
fn errors_in_the_line_name_the_place() {
    for (line, expected) in [
        (
            "document: page",
            "t.tpl:1:11: unknown rule for documents 'page'; expected one of auto, sentence, file, \
             marks, blank-line, form-feed, line, or window=N",
        ),
        (
            "document: file window=0",
            "t.tpl:1:16: the window '0' is not allowed; expected a number from 1 to 1000000",
        ),
        (
            "document: file marks",
            "t.tpl:1:16: found a second rule; expected only one",
        ),
        (
            "document:",
            "t.tpl:1:10: expected a rule such as marks, or window=500",
        ),
        (
            "document: file\ndocument: file",
            "t.tpl:2:1: 'document:' is already on line 1",
        ),
        (
            "mention",
            "t.tpl:1:1: the input has no column 'mention', only word",
        ),
        (
            "mention(first)",
            "t.tpl:1:1: 'mention' needs one of order, count, distance, as in mention(order)",
        ),
    ] {
        let found = parse(&format!("{line}\nword"));
        let found = found.and_then(|template| template.bind(&Schema::words()).map(|_| ()));
        assert_eq!(found.unwrap_err().to_string(), expected, "{line}");
    }
}

#[test]
fn columns_may_have_the_names_of_functions_over_documents() {
    let template = parse("mention\nmention[-1] & word").unwrap();
    assert_eq!(template.documents(), None);
    let sentence = table("word mention", None, "a x\nb y");
    assert_eq!(
        collect(&template, &sentence, 1).node,
        ["mention[0]=y", "mention[-1]|word[0]=x|b"]
    );
}
