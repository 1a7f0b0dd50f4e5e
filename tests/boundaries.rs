//! The rule that keeps the crate in rows: a module imports only from rows above its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules, row by row. Those of the first may be used everywhere.
const ROWS: [&[&str]; 9] = [
    &[
        "error",
        "fingerprint",
        "ids",
        "math",
        "atomic_file",
        "random",
        "simd",
    ],
    &["sentence", "label", "chain", "optim"],
    &["tokenize", "template", "eval", "cluster", "noise"],
    &["corpus", "extract"],
    &["score"],
    &["objective", "model"],
    &["train", "tag"],
    &["report", "bench", "tune"],
    &["cli"],
];

/// Modules of rows above that a module must know nothing of all the same.
const STRANGERS: [(&str, &[&str]); 3] = [
    ("corpus", &["chain", "optim"]),
    ("extract", &["chain", "optim"]),
    ("score", &["optim"]),
];

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The module of `src/` that a file belongs to.
fn module(file: &Path, src: &Path) -> String {
    let inside = file.strip_prefix(src).unwrap();
    let first = inside.iter().next().unwrap().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules of the crate that a line names: what follows `crate::` or, in the program,
/// `dropchain::`, a braced list included.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let mut names = Vec::new();
    for prefix in ["crate::", "dropchain::"] {
        for (at, _) in code.match_indices(prefix) {
            let rest = &code[at + prefix.len()..];
            let list = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or_default(),
                None => rest,
            };
            for item in list.split(',') {
                let end = item.trim().find(|c: char| !c.is_alphanumeric() && c != '_');
                names.push(&item.trim()[..end.unwrap_or(item.trim().len())]);
                if !rest.starts_with('{') {
                    break;
                }
            }
        }
    }
    names
}

/// Every import of one module by another: file, importing module, imported module.
fn imports() -> Vec<(PathBuf, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = Vec::new();
    for file in sources(&src) {
        let from = module(&file, &src);
        if from == "lib" || from == "main" {
            continue;
        }
        for line in fs::read_to_string(&file).unwrap().lines() {
            for to in named(line) {
                if to != from && row(to).is_some() {
                    imports.push((file.clone(), from.clone(), to.to_owned()));
                }
            }
        }
    }
    imports
}

#[test]
fn every_module_has_a_row() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&src) {
        let module = module(&file, &src);
        assert!(
            row(&module).is_some() || module == "lib" || module == "main",
            "{} belongs to no row",
            file.display()
        );
    }
}

#[test]
fn a_module_imports_only_from_rows_above_its_own() {
    let imports = imports();
    assert!(imports.len() > 50, "found only {} imports", imports.len());
    for (file, from, to) in imports {
        let is_test = file.iter().any(|part| part == "tests");
        let allowed = row(&to) < row(&from) || row(&to) == Some(0) || is_test;
        assert!(allowed, "{}: {from} imports {to}", file.display());
    }
}

#[test]
fn a_module_knows_nothing_of_strangers() {
    for (file, from, to) in imports() {
        let strange = STRANGERS
            .iter()
            .any(|(module, strangers)| *module == from && strangers.contains(&to.as_str()));
        assert!(!strange, "{}: {from} imports {to}", file.display());
    }
}

#[test]
fn only_the_model_header_knows_the_serialization_format() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let test = inside.iter().any(|part| part == "tests");
        if !test && fs::read_to_string(&file).unwrap().contains("bincode::") {
            assert!(
                file.ends_with("model/header.rs"),
                "{} uses bincode",
                file.display()
            );
        }
    }
}
