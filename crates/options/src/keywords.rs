//! Options by name, as a program in another language gives them.

use std::any::TypeId;
use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args, Command, FromArgMatches};
use dropchain::{Error, Result};

use super::algorithm::misplaced;
use super::training::TrainingOptions;

/// What the values of an option are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no: the option is there or not.
    Flag,
    /// Yes or no: `on` or `off`.
    Switch,
    /// A number.
    Number,
    /// A whole number that is not negative.
    Count,
    /// A name, or a number.
    Text,
}

fn command() -> Command {
    let command = Command::new("options").no_binary_name(true);
    TrainingOptions::augment_args(command.disable_help_flag(true))
}

fn keyword(option: &Arg) -> Option<String> {
    Some(option.get_long()?.replace('-', "_"))
}

/// Returns the names of all options, as identifiers (`max_iterations`), in the order of their
/// definition.
pub fn names() -> Vec<String> {
    command().get_arguments().filter_map(keyword).collect()
}

/// Returns what the values of an option are; `None` if there is no option of this name.
pub fn kind(name: &str) -> Option<Kind> {
    let command = command();
    let option = command.get_arguments().find(|option| keyword(option).as_deref() == Some(name))?;
    let of = option.get_value_parser().type_id();
    let is = |types: &[TypeId]| types.iter().any(|kind| of == *kind);
    Some(match option.get_action() {
        ArgAction::SetTrue => Kind::Flag,
        _ if is(&[TypeId::of::<bool>()]) || name == "boundary" => Kind::Switch,
        _ if is(&[TypeId::of::<f64>()]) => Kind::Number,
        _ if is(&[TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()]) => Kind::Count,
        _ => Kind::Text,
    })
}

/// Parses options, given as pairs of a name and a value; of a [`Kind::Flag`], the value is empty.
///
/// # Errors
///
/// [`Error::Parameter`] for a value that an option does not have, and for an option of another
/// algorithm.
pub fn parse(options: &[(String, String)]) -> Result<TrainingOptions> {
    let command = command();
    let arguments = options.iter().map(|(name, value)| {
        let name = name.replace('_', "-");
        match value.is_empty() {
            true => format!("--{name}"),
            false => format!("--{name}={value}"),
        }
    });
    let matches = command.clone().try_get_matches_from(arguments);
    let matches = matches.map_err(|error| Error::parameter(message(&error)))?;
    if let Some(found) = misplaced(&command, &matches) {
        return Err(Error::parameter(format!(
            "{} has no meaning for algorithm '{}'; expected algorithm {}",
            found.name.replace('-', "_"),
            found.algorithm,
            found.expected
        )));
    }
    TrainingOptions::from_arg_matches(&matches).map_err(|error| Error::parameter(message(&error)))
}

/// Says what is wrong with a value.
fn message(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let option = text(ContextKind::InvalidArg);
    let name = option.trim_start_matches('-').split([' ', '=', '[']);
    let name = name.take(1).collect::<String>().replace('-', "_");
    let value = text(ContextKind::InvalidValue);
    match (error.get(ContextKind::ValidValue), error.source()) {
        (Some(ContextValue::Strings(valid)), _) if !valid.is_empty() => {
            format!("{name} '{value}'; expected one of {}", valid.join(", "))
        }
        (_, Some(source)) => format!("{name} '{value}': {source}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use dropchain::train::{AnyOptions, TrainOptions};

    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<AnyOptions> {
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        parse(&pairs.collect::<Vec<_>>())?.over(TrainOptions::default())
    }

    #[test]
    fn without_options_training_has_its_defaults() {
        let options = options(&[]).unwrap();
        assert_eq!(options.method.name(), "lbfgs");
        assert_eq!(options.patience, TrainOptions::default().patience);
    }

    #[test]
    fn every_option_has_a_name_and_a_kind() {
        let names = names();
        assert!(names.len() > 45, "{names:?}");
        assert!(names.iter().all(|name| kind(name).is_some()));
        assert_eq!(kind("l2"), Some(Kind::Number));
        assert_eq!(kind("boundary"), Some(Kind::Switch));
        assert_eq!(kind("patience"), Some(Kind::Count));
        assert_eq!(kind("discover"), Some(Kind::Flag));
        assert_eq!(kind("c2"), None);
    }

    #[test]
    fn values_are_those_of_the_command_line() {
        let found = options(&[
            ("l2", "0.5"),
            ("max_iterations", "7"),
            ("collapse", "off"),
            ("discover", ""),
            ("noise", "reweighted=3"),
            ("recall_bias", "-0.5"),
        ]);
        let found = found.unwrap();
        let regularization = found.method.regularization();
        assert_eq!((regularization.l2, found.max_iterations), (Some(0.5), Some(7)));
        assert!(!found.collapse && found.discover);
        assert_eq!(regularization.noise.kind.to_string(), "reweighted=3");
        assert_eq!(found.recall_bias, Some(-0.5));
    }

    #[test]
    fn wrong_values_are_told_with_the_name_of_the_option() {
        for (pairs, expected) in [
            (&[("scheme", "x")][..], "scheme 'x'; expected one of raw, io"),
            (&[("l2", "x")], "l2 'x': invalid float"),
            (&[("noise", "x")], "noise 'x'"),
            (&[("eta", "1")], "eta has no meaning for algorithm 'lbfgs'; expected algorithm sgd"),
        ] {
            let error = options(pairs).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
