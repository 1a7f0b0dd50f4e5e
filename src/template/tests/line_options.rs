//! Options of template lines.

use super::super::{LineAmount, LineOptions};
use super::*;

fn options(source: &str) -> Vec<LineOptions> {
    let groups = parse(source).unwrap().groups();
    groups.iter().map(|group| group.options).collect()
}

#[test]
fn lines_with_the_same_options_are_a_group() {
    let source = "word\nlower l2=0.1 # loose\nedge: word if word exists l2=0.1\n\
                  suffix(3) l1*=2 dropout=1e-1 l2 *= .5\n"
        .replace(".5", "0.5");
    let none = LineOptions::default();
    let loose = LineOptions { l2: Some(LineAmount::Value(0.1)), ..none };
    let all = LineOptions {
        l1: Some(LineAmount::Factor(2.0)),
        l2: Some(LineAmount::Factor(0.5)),
        dropout: Some(LineAmount::Value(0.1)),
    };
    assert_eq!(options(&source), [none, loose, all]);
    let groups = parse(&source).unwrap().groups();
    assert_eq!((groups[1].has_nodes, groups[1].has_edges), (true, true));
    assert_eq!(groups[2].place.to_string(), "t.tpl:4");
    assert_eq!(options("word l2=0\n").len(), 2);
    assert_eq!(options("U:%x[0,0]\nB\n"), [none]);
}

#[test]
fn an_amount_is_a_value_or_a_factor() {
    assert_eq!(LineAmount::Value(0.5).of(3.0), 0.5);
    assert_eq!(LineAmount::Factor(0.5).of(3.0), 1.5);
}

#[test]
fn names_of_attributes_do_not_have_the_options() {
    for source in ["word", "word & suffix(2)", "word if length <= 3"] {
        let with = format!("{source} l2=2 dropout*=0.5");
        assert_eq!(nodes(&with, "to be", 1), nodes(source, "to be", 1));
    }
    // A column may have the name of an option.
    assert_eq!(options("word & l2 if dropout exists l2=2\n").len(), 2);
}

#[test]
fn invalid_options_are_errors_at_their_column() {
    for (source, message) in [
        ("word\nword[1] l2=-1", "t.tpl:2:12: l2 -1; expected a finite number that is not negative"),
        ("word l1*=-0.5", "t.tpl:1:10: l1 -0.5; expected a finite number that is not negative"),
        (
            "word dropout=1e999",
            "t.tpl:1:14: dropout 1e999; expected a finite number that is not negative",
        ),
        ("word l2=", "t.tpl:1:9: expected a number after 'l2', found the end of the line"),
        ("word l2=high", "t.tpl:1:9: expected a number after 'l2', found 'high'"),
        ("word l2=1 l2=2", "t.tpl:1:11: the option 'l2' is given twice"),
        (
            "word l2=1 lower",
            "t.tpl:1:11: expected 'and', an option such as l2=0.1, or the end of the line, found \
             'lower'",
        ),
        ("word l3=1", "t.tpl:1:6: there is no option 'l3'; expected one of l1, l2, dropout"),
        // No two lines share an attribute, whatever their options.
        ("word l2=1\nword l2=2", "t.tpl:2:1: 'word[0]' is already on line 1"),
    ] {
        assert_eq!(error(source), message);
    }
}
