//! The exact error messages.

use super::*;

#[test]
fn a_misspelled_function_gets_a_suggestion() {
    assert_eq!(
        error("word\n  sufix(3)"),
        "t.tpl:2:3: there is no function 'sufix'; did you mean 'suffix'?"
    );
    assert_eq!(error("gazetteer(1)"), "t.tpl:1:1: there is no function 'gazetteer'");
}

#[test]
fn invalid_arguments_are_quoted() {
    assert_errors(
        r#"
        prefix → t.tpl:1:1: 'prefix' needs a length or a range of lengths, as in prefix(1..4)
        prefix(0) → t.tpl:1:8: the length 0 is not allowed; expected 1 to 32
        prefix(1..99) → t.tpl:1:8: the length 99 is not allowed; expected 1 to 32
        prefix(4..1) → t.tpl:1:8: the range 4..1 is empty; expected 1..4
        shape(wide, pos, x) → t.tpl:1:13: 'shape' does not take the argument pos; expected
            shape(dan2)
        bias(3) → t.tpl:1:6: 'bias' does not take the argument 3; expected bias
        prefix(3, shape) → t.tpl:1:11: 'prefix' reads a column, lower or lower(column), not 'shape'
        bias[1] → t.tpl:1:1: 'bias' takes no position; remove the square brackets
        bag(word) → t.tpl:1:1: 'bag' needs a range of positions, as in bag(word, 1..4)
        bag(word, 1..2)[1] → t.tpl:1:1: 'bag' takes no position; remove the square brackets
        length(word[-1])[-1] → t.tpl:1:8: found a position both inside and outside the parentheses;
            expected only one
        column(-1) → t.tpl:1:1: 'column' needs a number from 0 or a name in quotes, as in column(2)
            or column("name")
        cluster("paths.txt", 4, 4) → t.tpl:1:25: the length 4 occurs twice
        "#,
    );
}

#[test]
fn unexpected_lexemes_are_quoted() {
    assert_errors(
        r#"
        word shape → t.tpl:1:6: expected '&', 'if' or the end of the line (a line holds one
            template), found 'shape'
        word & → t.tpl:1:7: expected a function or a column, found the end of the line
        word[x] → t.tpl:1:6: expected a position such as -1, found 'x'
        word[1 → t.tpl:1:7: expected ']', found the end of the line
        prefix(1 → t.tpl:1:9: expected ',' or ')', found the end of the line
        prefix(1..x) → t.tpl:1:11: expected the end of the range, ',' or ')', found 'x'
        prefix(0..) → t.tpl:1:8: the length 0 is not allowed; expected 1 to 32
        ngrams(2..) → t.tpl:1:1: 'ngrams' needs a length or a range of lengths, as in ngrams(2..4)
        bag(word, 1..) → t.tpl:1:1: 'bag' needs a range of positions, as in bag(word, 1..4)
        word noise=0.2 → t.tpl:1:6: expected '&', 'if' or the end of the line (a line holds one
            template), found 'noise'
        if word → t.tpl:1:1: expected a function or a column, found the keyword 'if'
        "word" → t.tpl:1:1: expected a function or a column, found '"word"'
        "#,
    );
}

#[test]
fn invalid_conditions_are_explained() {
    assert_errors(
        r#"
        word if title → t.tpl:1:14: expected a test of title[0] (<=, ==, matches "…" or exists),
            found the end of the line
        word if word <= 3 → t.tpl:1:14: '<=' compares numbers, but word[0] is not a number; expected
            ==, matches or exists, or 'not' before the test
        word if length == "a" → t.tpl:1:19: expected a non-negative integer, found '"a"'
        word if word == 3 → t.tpl:1:17: expected a string in quotes, found '3'
        word if word == "\n" → t.tpl:1:17: unknown escape '\n' in "\\n"; expected \" or \\
        "#,
    );
}

#[test]
fn invalid_regular_expressions_are_explained() {
    assert_errors(
        r#"
        regex("(a") → t.tpl:1:7: the regular expression "(a" is invalid: unclosed group
        word if word matches "[b" → t.tpl:1:22: the regular expression "[b" is invalid: unclosed
            character class
        "#,
    );
    assert!(error("regex(\"a{9999}{9999}\")").contains("is invalid: "));
}

#[test]
fn limits_are_enforced() {
    assert_errors(
        r#"
        word[101] → t.tpl:1:6: the position 101 is out of range; expected -100 to 100
        bag(word, 1..1000) → t.tpl:1:11: the position 1000 is out of range; expected -100 to 100
        ngrams(2..6) & ngrams(2..6) → t.tpl:1:1: this line can produce 250000 attributes per token;
            at most 4096 are allowed
        word&word&word&word&word&word&word&word&word → t.tpl:1:1: 9 terms and 0 conditions; at most
            8 of each are allowed
        word[99999999999] → t.tpl:1:6: the number 99999999999 is too large
        "#,
    );
    let nested = format!("lower{}", "(lower".repeat(1000));
    assert_eq!(error(&nested), "t.tpl:1:49: the parentheses are nested too deeply");
    let long = "# \n".repeat(400_000);
    assert_eq!(error(&long), "t.tpl: the template file is larger than 1048576 bytes");
}

#[test]
fn a_duplicate_template_is_an_error() {
    assert_eq!(error("# x\nword\n word [0]"), "t.tpl:3:2: 'word[0]' is already on line 2");
    assert!(parse("word\nedge: word").is_ok());
}

#[test]
fn a_second_bare_transition_is_an_error() {
    assert_eq!(
        error("edge: bias"),
        "t.tpl:1:1: 'edge: bias' is the bare transition, which is always included"
    );
}

#[test]
fn a_file_without_templates_is_an_error() {
    assert_eq!(error("# nothing\n"), "t.tpl: the file has no templates");
}

#[test]
fn unreadable_files_are_errors_of_the_template() {
    assert_eq!(
        error("word\nlexicon(\"nams.txt\")"),
        "t.tpl:2:9: cannot read 'nams.txt': entity not found"
    );
    assert_eq!(
        error("cluster(\"bad.txt\", 4)"),
        "bad.txt:2: expected a cluster path, a tab and a word, found '011'"
    );
}

#[test]
fn invalid_vector_arguments_are_explained() {
    assert_errors(
        r#"
        vector → t.tpl:1:1: 'vector' needs a file name in quotes, as in vector("vectors.txt",
            first(50000), scale(0.5))
        vector("vectors.txt", first(0)) → t.tpl:1:29: 'first' takes a positive integer
        vector("vectors.txt", scale(0)) → t.tpl:1:29: 'scale' takes a number from 0.000001 to
            1000000
        vector("vectors.txt", scale()) → t.tpl:1:23: 'scale' takes a number from 0.000001 to 1000000
        vector("vectors.txt", 0.5) → t.tpl:1:23: 'vector' does not take the argument 0.5; expected
            vector("vectors.txt", first(50000), scale(0.5))
        vector("ragged.txt") → ragged.txt:2: found 1 numbers; expected 2, as before ('Rome 2')
        "#,
    );
}

#[test]
fn unknown_columns_are_errors_when_binding() {
    let sentence = table("word pos ner", Some(2), "a b c");
    let table = r"
        word & pso → t.tpl:1:8: the input has no column 'pso', only word pos ner; did you mean
            'pos'?
        shap → t.tpl:1:1: the input has no column 'shap', only word pos ner; did you mean 'shape'?
        shape(colapsed) → t.tpl:1:1: the input has no column 'colapsed', only word pos ner; did you
            mean 'collapsed'?
        bias\nword if column(3) exists → t.tpl:2:9: the input has no column(3); it has 3 columns
            (word pos ner)
        prefix(2, ner) → t.tpl:1:1: the template reads the label column 'ner'
        U:%x[0,2] → t.tpl:1:3: the template reads the label column 'ner'
    ";
    for (source, message) in escaped_rows(table) {
        let error = parse(&source).unwrap().bind(sentence.schema()).unwrap_err();
        assert_eq!(error.to_string(), message, "{source}");
    }
}

#[test]
fn a_cell_that_is_not_a_number_is_an_error_at_its_line() {
    for text in ["abc", "NaN", "inf", "1e16", ""] {
        let sentence = table("word freq", None, &format!("a 1\nb {text}"));
        let extractor = parse("value(freq)").unwrap().bind(sentence.schema()).unwrap();
        let error = extractor.prepare(&sentence, &mut Workspace::default());
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("x.conll:2: column 'freq' holds '{text}'; expected a number of at most 1e15")
        );
    }
}

#[test]
fn sentences_with_other_columns_are_rejected() {
    let extractor = parse("word & pos").unwrap();
    let extractor = extractor.bind(table("word pos", None, "a b").schema()).unwrap();
    let mut workspace = Workspace::default();
    let other = table("word lemma", None, "a b");
    assert_eq!(
        extractor.prepare(&other, &mut workspace).unwrap_err().to_string(),
        "x.conll:1: expected column 1 to be 'pos', found the columns word lemma"
    );
    assert!(extractor.prepare(&words("a"), &mut workspace).is_err());
    let wider = table("word pos ner", Some(2), "a b c");
    assert!(extractor.prepare(&wider, &mut workspace).is_ok());
}
