//! The values of every function.

use super::super::syntax::FUNCTIONS;
use super::*;

/// The values of functions at a token: blanks stand between those of a line, semicolons between
/// lines.
fn values(source: &str, sentence: &str, t: usize) -> String {
    let nodes = nodes(source, sentence, t);
    let mut in_order = Vec::new();
    let values = source.lines().map(|line| {
        let head = format!("{line}[0]=");
        let of_line = || nodes.iter().filter(|node| node.starts_with(&head));
        in_order.extend(of_line());
        of_line().map(|node| &node[head.len()..]).collect::<Vec<_>>().join(" ")
    });
    let values = values.collect::<Vec<_>>().join("; ");
    assert_eq!(in_order, nodes.iter().collect::<Vec<_>>());
    values
}

#[test]
fn every_function_has_an_example_that_parses() {
    for (name, example) in FUNCTIONS {
        for example in example.split(" or ") {
            let line = example.replace("(column)", "(pos)");
            assert!(parse(&line).is_ok(), "{name}: {line}");
        }
    }
}

#[test]
fn a_column_yields_its_cell() {
    let sentence = table("word pos ner", Some(2), "in IN O\nParis NNP B-LOC\n. . O");
    let template =
        parse("word\nword[-1]\npos[+1]\ncolumn(1)\ncolumn(\"pos\")[-1]\nlower(pos)").unwrap();
    assert_eq!(
        collect(&template, &sentence, 1).node.join("; "),
        "word[0]=Paris; word[-1]=in; pos[+1]=.; column(1)[0]=NNP; pos[-1]=IN; lower(pos)[0]=nnp"
    );
}

#[test]
fn outside_the_sentence_a_word_is_empty() {
    let source = "word[-1]\nlower[+2]\nshape(dan2)[-1]\ncapitalization[+1]\nclass[-3]\nlength[-1]";
    assert_eq!(
        nodes(source, "Paris", 0).join("; "),
        "word[-1]=; lower[+2]=; shape(dan2)[-1]=; capitalization[+1]=; class[-3]=; length[-1]=0"
    );
}

#[test]
fn functions_that_search_have_no_value_outside_the_sentence() {
    let source = "prefix(1)[-1]\nsuffix(1)[-1]\naffixes(2)[-1]\nngrams(2)[-1]\nregex(\".*\")[-1]\n\
                  title[-1]\noccurrence[-1]\nlexicon(\"names.txt\")[-1]\n\
                  cluster(\"paths.txt\", 4)[-1]\nstart[-1]\nend[+1]\nvalue(length)[-1]\n\
                  word & prefix(1)[-1]";
    assert_eq!(nodes(source, "Paris", 0), [""; 0]);
}

#[test]
fn the_word_is_the_column_of_that_name_or_the_first() {
    let template = parse("word").unwrap();
    for (names, expected) in
        [("id word", "word[0]=b"), ("id form", "word[0]=b"), ("0 1", "word[0]=a")]
    {
        let sentence = table(names, None, "a b");
        assert_eq!(collect(&template, &sentence, 0).node, [expected], "{names}");
    }
}

#[test]
fn bias_start_and_end_are_flags() {
    let source = "bias\nstart\nend\nstart[-1]\nbias & word";
    assert_eq!(nodes(source, "a b", 0), ["bias", "start[0]", "bias|word[0]=a"]);
    assert_eq!(nodes(source, "a b", 1), ["bias", "end[0]", "start[-1]", "bias|word[0]=b"]);
}

#[test]
fn affixes_longer_than_the_word_are_omitted() {
    assert_eq!(values("prefix(1..4)\nsuffix(3)", "Rio", 0), "R Ri Rio; Rio");
    assert_eq!(nodes("prefix(4)\nsuffix(2..3)", "EU", 0), ["suffix(2..3)[0]=EU"]);
}

#[test]
fn an_open_range_has_all_lengths_of_the_word() {
    let source = "prefix(3..)\nsuffix(4..)\naffixes(4..)";
    let expected = "Rom Rome Rome!; ome! Rome!; <Rom <Rome <Rome! <Rome!> me!> ome!> Rome!>";
    assert_eq!(values(source, "Rome!", 0), expected);
    let of_word = nodes("suffix(4.., word)", "Rome!", 0);
    assert_eq!(of_word, ["suffix(4..)[0]=ome!", "suffix(4..)[0]=Rome!"]);
}

#[test]
fn an_open_range_ends_at_256_characters_or_1024_bytes() {
    let longest = |word: &str| {
        let template = parse("prefix(1..)\nsuffix(1..)").unwrap();
        let all = collect(&template, &Sentence::from_words([word]), 0).node;
        let values = all.iter().filter_map(|name| name.split_once('='));
        let lengths: Vec<usize> = values.map(|(_, value)| value.len()).collect();
        (lengths.len(), lengths.into_iter().max().unwrap_or(0))
    };
    assert_eq!(longest(&"a".repeat(1 << 20)), (512, 256));
    assert_eq!(longest(&"ab".repeat(1 << 19)), (512, 256));
    assert_eq!(longest(&"e\u{301}x".repeat(1000)), (512, 512));
    // Characters of 101 bytes: ten of them fit.
    let accented = format!("e{}", "\u{301}".repeat(50));
    assert_eq!(longest(&accented.repeat(1000)), (20, 1010));
    assert_eq!(longest(&accented.repeat(1000).repeat(10)[..101 * 11]), (20, 1010));
    assert_eq!(longest(&format!("e{}", "\u{301}".repeat(600))), (0, 0));
}

#[test]
fn affixes_never_split_a_character() {
    let word = "e\u{301}te\u{301}";
    let source = "prefix(1)\nsuffix(1..2)\nlength";
    assert_eq!(values(source, word, 0), "e\u{301}; e\u{301} te\u{301}; 3");
    assert_eq!(nodes("suffix(1)", "👩‍👩‍👧", 0), ["suffix(1)[0]=👩‍👩‍👧"]);
}

#[test]
fn an_affix_at_both_ends_is_one_attribute() {
    let expected = ["affixes(2..3)[0]=<>", "affixes(2..3)[0]=<>a", "affixes(2..3)[0]=a<>"];
    assert_eq!(nodes("affixes(2..3)", ">a<", 0), expected);
}

#[test]
fn affixes_count_the_brackets_and_yield_the_whole_word_once() {
    assert_eq!(values("affixes(2..6)", "EU", 0), "<E <EU <EU> U> EU>");
    assert_eq!(nodes("affixes(2..6)", "Reuters", 0).len(), 10);
}

#[test]
fn ngrams_are_all_substrings_without_duplicates() {
    assert_eq!(values("ngrams(2..3)", "anan", 0), "<a an na n> <an ana nan an>");
}

#[test]
fn ngrams_of_a_very_long_word_are_bounded() {
    let word: String = (0..10_000_u32).filter_map(|i| char::from_u32(0x4e00 + i)).collect();
    assert_eq!(nodes("ngrams(2)", &word, 0).len(), 99);
}

#[test]
fn shapes_have_four_kinds() {
    let source = "shape\nshape(long, lower)\nshape(collapsed)\nshape(chris2)\nshape(dan2)[0]";
    assert_eq!(
        nodes(source, "McDonald", 0).join("; "),
        "shape[0]=XxXxxxxx; shape(lower)[0]=xxxxxxxx; shape(collapsed)[0]=XxXx; \
         shape(chris2)[0]=XxXxxx; shape(dan2)[0]=XxXx"
    );
}

#[test]
fn length_capitalization_and_class_are_values() {
    let source = "length\ncapitalization\nclass";
    assert_eq!(values(source, "F-16", 0), "4; initial; letter+digit+other");
}

#[test]
fn a_regular_expression_is_a_flag_unless_it_has_a_group() {
    let source = r#"regex("^\d{4}$")
regex("^(\d\d)\d\d$")
regex("(x)?9")
regex("e", lower)[-1]"#;
    assert_eq!(
        nodes(source, "THE 1996", 1).join("; "),
        r#"regex("^\d{4}$")[0]; regex("^(\d\d)\d\d$")[0]=19; "#.to_owned()
            + r#"regex("(x)?9")[0]=; regex("e", lower)[-1]"#
    );
    assert_eq!(nodes(source, "he said", 1), [r#"regex("e", lower)[-1]"#]);
}

#[test]
fn a_bag_is_a_set_that_keeps_only_the_direction() {
    let source = "bag(word, 1..4)\nbag(lower, -2..-1)";
    assert_eq!(
        nodes(source, "The cat saw a dog saw", 1).join("; "),
        "bag(word, 1..4)=saw; bag(word, 1..4)=a; bag(word, 1..4)=dog; bag(lower, -2..-1)=; \
         bag(lower, -2..-1)=the"
    );
}

#[test]
fn a_lexicon_tags_the_position_in_a_phrase() {
    let source = "lexicon(\"names.txt\")\nlexicon(\"names.txt\", lower)[+1]";
    assert_eq!(
        nodes(source, "in New York", 1),
        ["lexicon(\"names.txt\")[0]=B", "lexicon(\"names.txt\", lower)[+1]=E"]
    );
    assert_eq!(nodes(source, "new york", 0), ["lexicon(\"names.txt\", lower)[+1]=E"]);
    assert_eq!(nodes(source, "Paris !", 0), ["lexicon(\"names.txt\")[0]=S"]);
}

#[test]
fn a_cluster_yields_prefixes_of_its_path() {
    let source = "cluster(\"paths.txt\", 2, 4, 6)\ncluster(\"paths.txt\")";
    assert_eq!(values(source, "York Paris x", 0), "01 0110 011011; 011011");
    assert_eq!(values(source, "York Paris x", 1), "01 0110; 0110");
    assert_eq!(values(source, "York Paris x", 2), "; ");
}

#[test]
fn a_vector_yields_its_components_as_values() {
    let source = "vector(\"vectors.txt\")\nvector(\"vectors.txt\", scale(0.5), lower)[+1]";
    assert_eq!(
        nodes(source, "in Paris", 0).join("; "),
        r#"vector("vectors.txt")[0]=0:0.5; vector("vectors.txt")[0]=1:-1; "#.to_owned()
            + r#"vector("vectors.txt", scale(0.5), lower)[+1]=0:1.5; "#
            + r#"vector("vectors.txt", scale(0.5), lower)[+1]=1:2"#
    );
}

#[test]
fn unknown_words_and_zero_components_have_no_attributes() {
    let source = "vector(\"vectors.txt\")";
    assert_eq!(nodes(source, "rome", 0), [""; 0]);
    assert_eq!(nodes(source, "Rome", 0), ["vector(\"vectors.txt\")[0]=0:2"]);
    let first = "vector(\"vectors.txt\", first(1))";
    assert_eq!(nodes(first, "Paris", 0), [""; 0]);
    assert_eq!(nodes(first, "in", 0).len(), 2);
}

#[test]
fn vectors_multiply_and_can_be_tested() {
    let source = r#"vector("vectors.txt") & shape(collapsed) if vector("vectors.txt")[-1] exists"#;
    let name =
        r#"vector("vectors.txt")[0]|shape(collapsed)[0] if vector("vectors.txt")[-1] exists"#;
    assert_eq!(nodes(source, "in Rome", 1), [format!("{name}=0|Xx:2")]);
}

#[test]
fn numbers_are_values_and_multiply() {
    let source = "value(freq)\nvalue(length)\nvalue(freq)[-1] & value(length) & word";
    let template = parse(source).unwrap();
    let sentence = table("word freq", None, "a 0\nbcd -2.5e1\ne 0.5");
    let at = |t| collect(&template, &sentence, t).node;
    assert_eq!(at(1), ["value(freq)[0]:-25", "value(length)[0]:3"]);
    let crossed = "value(freq)[-1]|value(length)[0]|word[0]=e:-25";
    assert_eq!(at(2), ["value(freq)[0]:0.5", "value(length)[0]", crossed]);
}

#[test]
fn conjunctions_combine_all_values() {
    let expected = ["R|o", "R|io", "Ri|o", "Ri|io"]
        .map(|values| format!("prefix(1..2)[0]|suffix(1..2)[0]={values}"));
    assert_eq!(nodes("prefix(1..2) & suffix(1..2)", "Rio", 0), expected);
}

#[test]
fn values_of_a_conjunction_are_unambiguous() {
    let source = "word[-1] & word";
    assert_eq!(nodes(source, r"a| b", 1), [r"word[-1]|word[0]=a\||b"]);
    assert_eq!(nodes(source, r"a |b", 1), [r"word[-1]|word[0]=a|\|b"]);
    assert_eq!(nodes(source, r"a\ |b", 1), [r"word[-1]|word[0]=a\\|\|b"]);
    assert_eq!(nodes("word & bias", r"a|\", 0), [r"word[0]|bias=a|\"]);
}

#[test]
fn conditions_test_the_values_of_a_term() {
    let holds = |condition: &str, sentence: &str, t| {
        !nodes(&format!("bias if {condition}"), sentence, t).is_empty()
    };
    for (condition, at_0, at_1) in [
        ("length <= 2", true, false),
        ("length > 2", false, true),
        ("length[-1] == 0", true, false),
        ("length(word[-1]) != 0", false, true),
        ("length >= 3 and length < 6", false, true),
        ("word == \"in\"", true, false),
        ("not word == \"in\"", false, true),
        ("word[-1] == \"\"", true, false),
        ("lower matches \"^p\"", false, true),
        ("not lower matches \"^p\"", true, false),
        ("word[-1] exists", false, true),
        ("not word[-1] exists", true, false),
        ("lexicon(\"names.txt\") exists", false, true),
        ("lexicon(\"names.txt\")[+1] == \"S\"", true, false),
        ("prefix(1..2) == \"Pa\"", false, true),
        ("not prefix(1..2) == \"Pa\"", true, false),
        ("start exists", true, false),
    ] {
        assert_eq!(holds(condition, "in Paris", 0), at_0, "{condition} at 0");
        assert_eq!(holds(condition, "in Paris", 1), at_1, "{condition} at 1");
    }
}

#[test]
fn a_condition_is_part_of_the_name() {
    let source = "word[-2] & shape(dan2) if length(word[-1])<=3 and not word matches \"^\\d\"";
    assert_eq!(
        nodes(source, "fall of Rome", 2),
        ["word[-2]|shape(dan2)[0] if length[-1] <= 3 and not word[0] matches \"^\\d\"=fall|Xx"]
    );
}

#[test]
fn edge_templates_are_crossed_with_label_pairs() {
    let template = parse("word\nedge: word\nedge: word[-1] & word").unwrap();
    assert!(template.has_edges());
    let at = |t| collect(&template, &words("a b"), t);
    assert_eq!(at(1).node, ["word[0]=b"]);
    assert_eq!(at(1).edge, ["edge:word[0]=b", "edge:word[-1]|word[0]=a|b"]);
    assert_eq!(at(0).edge, [""; 0], "the first token has no label before it");
    assert!(!parse("word").unwrap().has_edges());
}

#[test]
fn templates_in_dropchains_language_always_have_transitions() {
    assert!(parse("word").unwrap().transitions());
}

#[test]
fn columns_are_listed_once_in_order() {
    let source = "shape\npos[-1] & column(3)\nword if lower(pos) == \"x\"\nvalue(freq)\nbias";
    let columns = parse(source).unwrap().columns();
    let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["word", "pos", "column(3)", "freq"]);
}

#[test]
fn white_space_comments_and_line_endings_are_ignored() {
    let source = "\u{feff}# title\r\n\r\n  word [ -1 ]&shape( dan2 ) # why\r\n\tprefix(1 .. 2)\r\n";
    assert_eq!(nodes(source, "a B", 1), ["word[-1]|shape(dan2)[0]=a|X:1", "prefix(1..2)[0]=B"]);
}

#[test]
fn one_workspace_serves_sentences_of_any_length() {
    let extractor = parse("word[+1]\nsuffix(1)").unwrap().bind(&Schema::words()).unwrap();
    let mut workspace = Workspace::default();
    for (text, expected) in [
        ("a b c", ["word[+1]=b", "suffix(1)[0]=a"]),
        ("x", ["word[+1]=", "suffix(1)[0]=x"]),
        ("y z", ["word[+1]=z", "suffix(1)[0]=y"]),
    ] {
        let sentence = words(text);
        extractor.prepare(&sentence, &mut workspace).unwrap();
        let mut collected = Collected::default();
        extractor.extract(&sentence, 0, &mut workspace, &mut collected);
        assert_eq!(collected.node, expected);
    }
}
