//! CRF++ and Wapiti template files.

use super::*;

fn sentence() -> Sentence {
    table("0 1 2", Some(2), "The DT B\nDog NN I\nbarks VB O")
}

fn at(source: &str, t: usize) -> Collected {
    collect(&parse(source).unwrap(), &sentence(), t)
}

#[test]
fn crfpp_attributes_are_those_of_crfpp() {
    let source = "# Unigram\nU00:%x[-2,0]\nU01:%x[0,0]\nU05:%x[-1,0]/%x[0,0]\nU10:%x[+1,1]\n\n\
                  # Bigram\nB\n";
    assert_eq!(at(source, 1).node, ["U00:_B-1", "U01:Dog", "U05:The/Dog", "U10:VB"]);
    assert_eq!(at(source, 1).edge, [""; 0]);
    let template = parse(source).unwrap();
    assert!(template.transitions());
    assert!(!template.has_edges());
}

#[test]
fn crfpp_boundary_values_include_the_distance() {
    let source = "U0:%x[-8,0]\nU1:%x[-1,0]\nU2:%x[3,1]\nU3:%x[8,0]";
    assert_eq!(at(source, 0).node, ["U0:_B-8", "U1:_B-1", "U2:_B+1", "U3:_B+6"]);
    assert_eq!(at(source, 2).node, ["U0:_B-6", "U1:Dog", "U2:_B+3", "U3:_B+8"]);
}

#[test]
fn crfpp_bigrams_with_observations_are_edges() {
    let source = "U:%x[0,0]\nB01:%x[0,1]\n";
    let template = parse(source).unwrap();
    assert!(!template.transitions());
    assert!(template.has_edges());
    assert_eq!(at(source, 1).edge, ["B01:NN"]);
    assert_eq!(at(source, 0).edge, [""; 0]);
}

#[test]
fn a_file_with_only_b_has_transitions_and_no_attributes() {
    let template = parse("B\n").unwrap();
    assert!(template.transitions());
    assert_eq!(collect(&template, &sentence(), 1).node, [""; 0]);
}

#[test]
fn wapiti_attributes_are_those_of_wapiti() {
    let source = "*\n* # again\nU:const\n*:word=%X[0,0]\nu:pre=%m[0,0,\"^.?.?\"]\n\
                  U:%t[1,1,\"^V\"] %T[0,1,\"x\"]\nB:%x[-1,1]/%M[0,0,\"^\\u\\l*$\"]\n";
    let collected = at(source, 1);
    assert_eq!(collected.node, ["*", "u:const", "*:word=dog", "u:pre=Do", "u:true false"]);
    assert_eq!(collected.edge, ["*:word=dog", "b:DT/dog"]);
    assert!(parse(source).unwrap().transitions(), "of the bare *");
}

#[test]
fn wapiti_boundaries_and_absolute_positions() {
    let source =
        "u1:%x[-1,0]\nu2:%x[-6,0]\nu3:%x[@1,0]\nu4:%x[@-1,0]\nu5:%x[@9,0]\nu6:%m[3,0,\"x.\"]";
    assert_eq!(
        at(source, 0).node,
        ["u1:_x-1", "u2:_x-#", "u3:The", "u4:barks", "u5:_x+#", "u6:x+"]
    );
    assert_eq!(at("u:%x[4,0]", 2).node, ["u:_x+4"]);
}

#[test]
fn wapiti_expressions_match_characters_not_bytes() {
    let template = parse("u:%m[0,0,\"^.?\"]\nu:%X[0,0]").unwrap();
    assert_eq!(collect(&template, &words("Öl"), 0).node, ["u:Ö", "u:öl"]);
}

#[test]
fn lines_without_an_identifier_share_their_attributes() {
    let source = "U:%x[-1,0]\nU:%x[0,0]\nU:%x[0,0]\n";
    assert_eq!(at(source, 1).node, ["U:The", "U:Dog"]);
}

#[test]
fn errors_in_patterns_name_line_and_column() {
    assert_errors(
        r#"
        U:%x[0,0 → t.tpl:1:9: expected ']', found the end of the line
        U:%x[a,0] → t.tpl:1:6: expected a position such as -1, found 'a'
        U:é%y[0,0] → t.tpl:1:4: unknown macro '%y'; expected %x
        u:%y[0,0] → t.tpl:1:3: unknown macro '%y'; expected %x, %t or %m
        U:%x[9,0] → t.tpl:1:6: the position 9 is out of range; CRF++ allows -8 to 8
        U:%x[0,-1] → t.tpl:1:8: column -1 does not exist; columns are numbered from 0
        u:%t[0,0,"*"] → t.tpl:1:10: '*' has nothing to repeat in "*"; expected a character before
            it, or \*
        u:%t[0,0] → t.tpl:1:9: expected ',', found ']'
        u:%t[0,0,"a] → t.tpl:1:10: unterminated string "a]; expected a closing quote
        u:%x[*1,0] → t.tpl:1:6: expected a position such as -1, found '*'
        "#,
    );
    assert_eq!(error("U:%x0,0]\nB"), "t.tpl:1:3: unknown macro '%x0'; expected %x");
}

#[test]
fn mixed_dialects_are_an_error() {
    let table = r"
        word\n\nU01:%x[0,0] → t.tpl:3:1: 'U01:%x[0,0]' is in CRF++ or Wapiti syntax, but line 1 is
            in dropchain syntax; expected a single syntax throughout the file
        # x\nB\n  bias → t.tpl:3:1: 'bias' is in dropchain syntax, but line 2 is in CRF++ or Wapiti
            syntax; expected a single syntax throughout the file
    ";
    for (source, message) in escaped_rows(table) {
        assert_eq!(error(&source), message, "{source}");
    }
}
