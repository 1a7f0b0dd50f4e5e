//! The examples in `docs/templates.md`.

use super::*;

const PAGE: &str = include_str!("../../../docs/templates.md");

/// Returns the contents of the fenced code block with the info string `name`.
fn block(name: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{name}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// Returns the code in the first column of the table under `heading`.
fn first_cells(heading: &str) -> Vec<&'static str> {
    let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split_once('`').unwrap().0).collect()
}

#[test]
fn every_function_in_the_table_parses() {
    let cells = first_cells("Functions");
    assert_eq!(cells.len(), 32);
    for cell in cells {
        assert!(parse(cell).is_ok(), "{cell}");
    }
}

#[test]
fn arguments_below_the_table_parse() {
    for template in [
        "affixes(2..)",
        r#"vector("vectors.txt", lower, first(50000), scale(0.5))"#,
        "others(word[-1])[+1]",
        "mention(count, lower)",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(PAGE).contains(&format!("`{template}`")), "{template}");
        assert!(parse(template).is_ok(), "{template}");
    }
}

#[test]
fn every_function_is_in_the_table() {
    let cells = first_cells("Functions");
    for (function, _) in super::super::syntax::FUNCTIONS {
        assert!(
            function == "column" || cells.iter().any(|cell| cell.starts_with(function)),
            "{function}"
        );
    }
}

#[test]
fn every_condition_in_the_table_parses() {
    let cells = first_cells("Conditions");
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert!(parse(&format!("bias if {cell}")).is_ok(), "{cell}");
    }
}

#[test]
fn the_worked_example_is_correct() {
    let template = parse(block("tpl")).unwrap();
    let sentence = words("In New York City today");
    let collected = collect(&template, &sentence, 2);
    let attributes: Vec<&str> =
        collected.node.iter().chain(&collected.edge).map(|a| &**a).collect();
    assert_eq!(attributes, block("attributes").lines().collect::<Vec<_>>());
}

#[test]
fn canonical_names_match_the_table() {
    for (template, attribute) in [
        ("word [ -1 ] & word", "word[-1]|word[0]=the|dog"),
        ("title[-1] & shape(dan2)", "title[-1]|shape(dan2)[0]=Xx"),
    ] {
        assert!(PAGE.contains(&format!("| `{template}` | `{}` |", attribute.replace('|', "\\|"))));
    }
    assert_eq!(nodes("word [ -1 ] & word", "the dog", 1), ["word[-1]|word[0]=the|dog"]);
    assert_eq!(nodes("title[-1] & shape(dan2)", "Mr. Ford", 1), ["title[-1]|shape(dan2)[0]=Xx"]);
    assert_eq!(nodes("prefix(1..4,word)", "dog", 0)[1], "prefix(1..4)[0]=do");
}

#[test]
fn the_error_message_matches_the_page() {
    let (template, message) = block("errors").split_once('\n').unwrap();
    assert_eq!(error(template), message.trim_end());
}

#[test]
fn every_shipped_file_is_listed() {
    for file in std::fs::read_dir("features").unwrap() {
        let name = file.unwrap().file_name();
        let name = name.to_string_lossy();
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
