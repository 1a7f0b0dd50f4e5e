//! Tests of checks through their interface.

mod annotation;
mod reading;

use std::fs;

use tempfile::TempDir;

use super::{Check, CheckOptions, CheckReport, FindingKind, Role};
use dropchain::corpus::ReadOptions;

/// Checks files with these names, whose extensions are formats and whose stems are roles.
fn check_with(files: &[(&str, &[u8])], options: &ReadOptions) -> (TempDir, Check) {
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let role = Role::ALL.into_iter().find(|role| name.starts_with(role.name()));
        paths.push((role.unwrap(), path));
    }
    let options = CheckOptions { read: options.clone(), examples: 9, ..CheckOptions::default() };
    let check = Check::read(&paths, options).unwrap();
    (dir, check)
}

fn report(files: &[(&str, &str)]) -> CheckReport {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, text)| (*n, text.as_bytes())).collect();
    check_with(&files, &ReadOptions::default()).1.report()
}

/// The examples of a kind: file name, line and text.
fn examples(report: &CheckReport, kind: FindingKind) -> Vec<String> {
    let findings = report.findings.iter().filter(|finding| finding.kind == kind);
    let examples = findings.flat_map(|finding| &finding.examples);
    let example = |example: &super::Example| {
        let place = example.place.to_string();
        let name = |text: &str| match text.rfind("/.tmp") {
            Some(_) => text.split('/').next_back().unwrap_or_default().to_owned(),
            None => text.to_owned(),
        };
        let text: Vec<String> = example.text.split(' ').map(name).collect();
        format!("{} {}", name(&place), text.join(" ")).trim_end().to_owned()
    };
    examples.map(example).collect()
}

/// The kinds that were found.
fn kinds(report: &CheckReport) -> Vec<FindingKind> {
    report.findings.iter().map(|finding| finding.kind).collect()
}
