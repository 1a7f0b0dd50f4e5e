//! Functions over the document.

use super::*;
use crate::sentence::{Document, DocumentOptions, DocumentRule};

/// Returns the node attributes of every token of a document: sentences separated by `/`, words by
/// blanks.
fn document_nodes(template: &Template, text: &str) -> Vec<Vec<String>> {
    let sentences: Vec<Sentence> = text.split('/').map(|text| words(text.trim())).collect();
    let document = Document::new(&sentences);
    (0..sentences.len()).flat_map(|i| sentence_nodes(template, &document, i)).collect()
}

/// Returns the node attributes of every token of a sentence.
fn sentence_nodes(template: &Template, document: &Document<'_>, i: usize) -> Vec<Vec<String>> {
    let sentence = document.sentence(i).unwrap();
    let extractor = template.bind(sentence.schema()).expect("columns");
    let mut workspace = Workspace::default();
    extractor.prepare(document.in_context(i).unwrap(), &mut workspace).expect("values");
    let tokens = 0..sentence.len();
    let nodes = tokens.map(|t| {
        let mut collected = Collected::default();
        extractor.extract(sentence, t, &mut workspace, &mut collected);
        collected.node
    });
    nodes.collect()
}

fn with_window(source: &str, window: u32) -> Template {
    let documents = DocumentOptions { window, ..DocumentOptions::default() };
    parse(source).unwrap().with_documents(documents).unwrap()
}

#[test]
fn mentions_are_counted_in_the_whole_document() {
    let template = parse("mention(order)\nmention(count)").unwrap();
    let nodes = document_nodes(&template, "a b / c a / a d");
    let expected = [
        vec!["mention(order)[0]=first", "mention(count)[0]=3-4"],
        vec!["mention(order)[0]=only", "mention(count)[0]=1"],
        vec!["mention(order)[0]=only", "mention(count)[0]=1"],
        vec!["mention(order)[0]=later", "mention(count)[0]=3-4"],
        vec!["mention(order)[0]=later", "mention(count)[0]=3-4"],
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
            vec!["mention(order, lower)[0]|shape(collapsed)[0]=first|Xx", "mention(count)[+1]=1"],
            vec!["mention(order, lower)[0]|shape(collapsed)[0]=only|x"],
            vec!["mention(order, lower)[0]|shape(collapsed)[0]=later|x"],
        ]
    );
}

#[test]
fn a_sentence_alone_is_a_document() {
    assert_eq!(nodes("mention(order)", "a b a", 2), ["mention(order)[0]=later"]);
    assert_eq!(nodes("mention(order)", "b", 0), ["mention(order)[0]=only"]);
}

#[test]
fn a_part_of_a_document_with_its_context_has_the_same_attributes() {
    let source = "mention(order)\nmention(count, lower)\nmention(forms)\n\
                  others(word[-2])\nothers(word[+3])\nothers(run(before))";
    let template = with_window(source, 7);
    let sentences: Vec<Sentence> =
        (0..40).map(|i| words(["A B c", "d", "a E f g", "C C", "h b i"][i * i % 5])).collect();
    let whole = Document::new(&sentences);
    for i in 0..sentences.len() {
        let tokens = |range: std::ops::Range<usize>| -> usize {
            sentences[range].iter().map(Sentence::len).sum()
        };
        let first = (0..=i).rev().find(|&first| first == 0 || tokens(first..i) >= 7);
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
    let error = extractor.prepare(document.in_context(0).unwrap(), &mut workspace).unwrap_err();
    assert!(error.to_string().ends_with("found the columns word"), "{error}");
    assert!(document.in_context(2).is_none());
}

#[test]
fn a_line_says_what_a_document_is() {
    let template = parse("word\ndocument: marks window=50 # short\nmention(order)").unwrap();
    let documents = DocumentOptions { rule: DocumentRule::Marks, window: 50 };
    assert_eq!(template.documents(), Some(documents));
    assert_eq!(parse("document: marks\nword").unwrap().documents(), None);
    let default = parse("mention(count)").unwrap().documents();
    assert_eq!(default, Some(DocumentOptions::default()));
}

#[test]
fn the_line_is_replaced_or_appended_and_keeps_the_others() {
    let documents = DocumentOptions { rule: DocumentRule::File, window: 9 };
    for (source, expected) in [
        ("mention(order)", "mention(order)\ndocument: file window=9\n"),
        (
            "# a\ndocument:marks\n\nmention(order)\n",
            "# a\ndocument: file window=9\n\nmention(order)\n",
        ),
    ] {
        assert_eq!(parse(source).unwrap().with_documents(documents).unwrap().source(), expected);
        assert_eq!(parse(expected).unwrap().documents(), Some(documents));
    }
    let error = parse("word").unwrap().with_documents(documents).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no line of the template looks at the document (others, mention); expected such a line, \
         or no rule for documents"
    );
}

#[test]
fn errors_in_the_line_name_the_place() {
    let table = r#"
        document: page → t.tpl:1:11: unknown rule for documents 'page': expected auto, sentence,
            file, marks, blank-line, form-feed or line, or window=N
        document: file window=0 → t.tpl:1:16: the window '0' is not allowed; expected a number from
            1 to 1000000
        document: file marks → t.tpl:1:16: found a second rule or window; expected only one
        document: → t.tpl:1:10: expected a rule such as marks, or window=500
        document: file\ndocument: file → t.tpl:2:1: 'document:' is already on line 1
        mention → t.tpl:1:1: the input has no column 'mention', only word; as a function it needs
            arguments, as in mention(order)
        mention(first) → t.tpl:1:1: 'mention' needs one of order, count, forms, as in mention(order)
    "#;
    for (line, expected) in escaped_rows(table) {
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
    assert_eq!(collect(&template, &sentence, 1).node, ["mention[0]=y", "mention[-1]|word[0]=x|b"]);
}

/// The values of a function at the first token of the last sentence of a document.
fn last(source: &str, text: &str) -> Vec<String> {
    let template = parse(source).unwrap();
    let nodes = document_nodes(&template, text);
    let sentence = text.rsplit('/').next().unwrap().split_whitespace().count();
    let values = nodes[nodes.len() - sentence].iter();
    let value = |node: &String| match node.split_once(")[0]=") {
        Some((_, value)) => value.to_owned(),
        None => node.clone(),
    };
    values.map(value).collect()
}

#[test]
fn others_are_the_values_at_other_occurrences() {
    let text = "in Ford said / Ford Motors / x Ford / Ford left";
    assert_eq!(last("others(word[-1])", text), ["x", "", "in"]);
    assert_eq!(last("others(word[+1])", text), ["", "Motors", "said"]);
    assert_eq!(last("others(prefix(1..2)[+1])", text), ["M", "Mo", "s", "sa"]);
    assert_eq!(last("others(shape(collapsed)[+1])", text), ["", "Xx", "x"]);
    assert_eq!(last("others(word[-1])", "Ford / ford / Ford"), [""]);
    assert_eq!(last("others(word[-1])", "Ford left"), [""; 0]);
}

#[test]
fn others_of_flags_are_flags() {
    assert_eq!(last("others(title[-1])", "Mr. Ford / Ford"), ["others(title[-1])[0]"]);
    assert_eq!(last("others(regex(\"^i\")[-1])", "in Ford / Ford").len(), 1);
    assert!(last("others(regex(\"^o\")[-1])", "in Ford / Ford").is_empty());
}

#[test]
fn others_may_be_at_a_position_and_combined() {
    let template = parse("others(word[-1])[+1] & word if run(position)[+1] exists").unwrap();
    let nodes = document_nodes(&template, "at Ford / a Ford / a b");
    assert_eq!(nodes[0], ["others(word[-1])[+1]|word[0] if run(position)[+1] exists=a|at"]);
    assert_eq!(nodes[2], ["others(word[-1])[+1]|word[0] if run(position)[+1] exists=at|a"]);
    assert!([1, 3, 4, 5].iter().all(|&t| nodes[t].is_empty()), "{nodes:?}");
}

#[test]
fn others_are_those_of_a_search_of_the_whole_document() {
    let template = with_window("others(word[-1])\nothers(word[+2])", 40);
    let sentences: Vec<&str> =
        (0..30).map(|i| ["a b c", "d", "a e a", "c c", "h b i"][(i * i + i / 3) % 5]).collect();
    let text = sentences.join("/");
    let words: Vec<Vec<&str>> = sentences.iter().map(|s| s.split(' ').collect()).collect();
    let tokens: Vec<(usize, usize)> =
        (0..words.len()).flat_map(|s| (0..words[s].len()).map(move |t| (s, t))).collect();
    let nodes = document_nodes(&template, &text);
    for (p, &(s, t)) in tokens.iter().enumerate() {
        let is_other = |&q: &usize| q != p && words[tokens[q].0][tokens[q].1] == words[s][t];
        let mut others: Vec<usize> = (0..tokens.len()).filter(is_other).collect();
        others.retain(|q| q.abs_diff(p) <= 40);
        others.sort_by_key(|q| (q.abs_diff(p), *q));
        let mut expected = Vec::new();
        for (name, k) in [("others(word[-1])[0]", -1), ("others(word[+2])[0]", 2)] {
            let from = expected.len();
            for &q in others.iter().take(8) {
                let (s, t) = (tokens[q].0, tokens[q].1 as i64 + k);
                let word = usize::try_from(t).ok().and_then(|t| words[s].get(t));
                let value = format!("{name}={}", word.unwrap_or(&""));
                if !expected[from..].contains(&value) {
                    expected.push(value);
                }
            }
        }
        assert_eq!(nodes[p], expected, "token {p}");
    }
}

#[test]
fn runs_are_seen_here_and_elsewhere() {
    assert_eq!(last("run(position)", "the New"), [""; 0]);
    let text = "the New York Times / in York / York City / York";
    assert_eq!(last("others(run(position))", text), ["B", "S", "I"]);
    assert_eq!(last("others(run(before))", text), ["New"]);
    assert_eq!(last("others(run(after))", text), ["City", "Times"]);
    assert_eq!(last("others(run(position)[-1])", text), ["B"]);
}

#[test]
fn forms_are_those_of_other_occurrences() {
    let form = |text: &str| last("mention(forms)", text).remove(0);
    assert_eq!(form("Die / x"), "none");
    assert_eq!(form("Die x / Die"), "first");
    assert_eq!(form("x die DIE / a Die / Die"), "lower+inside+upper");
    assert_eq!(form("a iDie / 7 iDie"), "none");
    assert_eq!(form("7 / 7"), "none");
    let template = with_window("mention(forms)", 2);
    let nodes = document_nodes(&template, "die x / y Die / Die");
    assert_eq!(nodes[0], ["mention(forms)[0]=none"]);
    assert_eq!(nodes[4], ["mention(forms)[0]=inside"]);
}

#[test]
fn errors_in_functions_over_the_document_say_what_is_expected() {
    let table = r#"
        others() → t.tpl:1:1: 'others' needs a function of a word, as in others(word[-1])
        others(start) → t.tpl:1:8: 'others' gathers texts that a word or its run has, not 'start';
            expected for example others(word[-1]) or others(shape[+1])
        others(others(word)) → t.tpl:1:8: 'others' gathers texts that a word or its run has, not
            'others'; expected for example others(word[-1]) or others(shape[+1])
        others(word, shape) → t.tpl:1:14: 'others' does not take the argument shape; expected
            others(word[-1])
        run(position, lower) → t.tpl:1:1: 'run' reads a column, not 'lower'
        others(ngrams(1..9)) → t.tpl:1:1: this line can produce 7200 attributes per token; at most
            4096 are allowed
        others(lemma) → t.tpl:1:8: the input has no column 'lemma', only word
    "#;
    for (line, expected) in rows(table) {
        let found = parse(line).and_then(|template| template.bind(&Schema::words()).map(|_| ()));
        assert_eq!(found.unwrap_err().to_string(), expected, "{line}");
    }
}

#[test]
fn canonical_names_omit_defaults() {
    for (line, name) in [
        ("others( word [ -1 ] )", "others(word[-1])[0]="),
        ("others( shape )", "others(shape[0])[0]="),
        ("mention(lower, count)[-1]", "mention(count, lower)[-1]="),
    ] {
        let template = parse(line).unwrap();
        let nodes = document_nodes(&template, "A B / a B / A B");
        let all: Vec<String> = nodes.into_iter().flatten().collect();
        assert!(all.iter().all(|node| node.starts_with(name)), "{line}: {all:?}");
        assert!(!all.is_empty(), "{line}");
    }
}

#[test]
fn a_document_of_equal_words_takes_linear_time() {
    // Quadratic loops would take hours.
    let text = "W ".repeat(100_000);
    let sentences: Vec<Sentence> = (0..10).map(|_| words(text.trim())).collect();
    let document = Document::new(&sentences);
    let source = "others(word[-1])\nothers(run(position))\nmention(count)\nmention(forms)";
    let extractor = with_window(source, 1_000_000).bind(&Schema::words()).unwrap();
    let mut workspace = Workspace::default();
    extractor.prepare(document.in_context(5).unwrap(), &mut workspace).unwrap();
    let mut collected = Collected::default();
    extractor.extract(&sentences[5], 50_000, &mut workspace, &mut collected);
    assert_eq!(
        collected.node,
        [
            "others(word[-1])[0]=W",
            "others(run(position)[0])[0]=I",
            "mention(count)[0]=524289-1048576",
            "mention(forms)[0]=inside+first"
        ]
    );
}
