//! Names that other programs have for commands and options: errors name ours.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Commands of CRFsuite, CRF++ and Wapiti, and ours.
const COMMANDS: [(&[&str], &str); 5] = [
    (&["learn", "crf_learn", "fit"], "'dropchain train'"),
    (
        &["label", "crf_test", "predict"],
        "'dropchain tag', and 'dropchain eval' for scores",
    ),
    (&["test", "score", "evaluate"], "'dropchain eval'"),
    (&["dump"], "'dropchain inspect'"),
    (&["update"], "'dropchain train --init MODEL'"),
];

/// Options of these programs, and ours.
const OPTIONS: [(&[&str], &str); 11] = [
    (
        &["--holdout", "--cross-validate", "--cv"],
        "'--dev FILE' for held-out text, 'dropchain tune --folds N' for cross-validation",
    ),
    (&["--c2"], "'--l2 C2', the same number"),
    (&["--c1"], "'--l1 C1', the same number"),
    (&["--rho1"], "'--l1 C1', the same number"),
    (&["--rho2"], "'--l2 C2' with half of the number"),
    (&["--cost"], "'--l2 C2' with 1 / (2 cost)"),
    (&["--sigma"], "'--l2 C2' with 1 / (2 sigma²)"),
    (&["--nthread", "--thread", "--jobs"], "'--threads N'"),
    (&["--maxiter", "--epochs"], "'--max-iterations N'"),
    (&["--devel", "--valid", "--validation"], "'--dev FILE'"),
    (&["--pattern"], "'--template FILE'"),
];

/// Returns our name for an option of another program.
pub fn our_option(name: &str) -> Option<&'static str> {
    find(&OPTIONS, name)
}

fn find(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    let found = table.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, ours)| *ours)
}

/// Adds our name to the error about an unknown name.
pub fn explain(mut error: Error) -> Error {
    let (name, table, similar): (_, &[(&[&str], &'static str)], _) = match error.kind() {
        ErrorKind::InvalidSubcommand => (
            ContextKind::InvalidSubcommand,
            &COMMANDS,
            ContextKind::SuggestedSubcommand,
        ),
        ErrorKind::UnknownArgument => {
            (ContextKind::InvalidArg, &OPTIONS, ContextKind::SuggestedArg)
        }
        _ => return error,
    };
    let Some(ContextValue::String(name)) = error.get(name) else {
        return error;
    };
    if let Some(ours) = find(table, name) {
        let tip = format!("it is {ours}");
        error.remove(similar);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}
