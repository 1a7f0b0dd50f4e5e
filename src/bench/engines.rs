//! What is measured, by name.

use crate::error::{Error, Result};
use crate::noise::Engine;

/// A gradient to measure: that of the likelihood alone, or with the noise term by one of its
/// engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The likelihood without noise, what all others are compared with.
    Likelihood,
    /// Likelihood and noise term.
    Noise(Engine),
}

impl Variant {
    /// The engine of the noise term; none for the likelihood.
    #[must_use]
    pub fn engine(self) -> Option<Engine> {
        match self {
            Self::Likelihood => None,
            Self::Noise(engine) => Some(engine),
        }
    }

    /// The name in tables and JSON, where collapsing stands beside it: `likelihood`, `adjoint`,
    /// `message`, `window=R` or `local`.
    #[must_use]
    pub fn name(self) -> String {
        self.engine()
            .map_or_else(|| "likelihood".to_owned(), |engine| engine.to_string())
    }

    /// Whether it collapses attributes that fire once, at the same token (section 4.1).
    #[must_use]
    pub fn is_collapsed(self) -> bool {
        self.engine() == Some(Engine::Message { collapse: true })
    }
}

/// Reads names of engines: `adjoint`, `message` (both `message=collapsed` and `message=plain`),
/// `window=R`, `local`. The likelihood comes first, and what is named twice is measured once.
///
/// # Errors
///
/// [`Error::Parameter`] for another name, or none at all.
pub fn parse_variants<S: AsRef<str>>(names: &[S]) -> Result<Vec<Variant>> {
    let mut engines = vec![Variant::Likelihood];
    for name in names {
        let name = name.as_ref();
        let message = |collapse| Engine::Message { collapse };
        let methods = match name {
            "message" => vec![message(true), message(false)],
            "message=collapsed" => vec![message(true)],
            "message=plain" => vec![message(false)],
            _ => vec![name.parse().map_err(|_| unknown(name))?],
        };
        for engine in methods.into_iter().map(Variant::Noise) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
    }
    if names.is_empty() {
        return Err(Error::parameter("no engine; expected at least one"));
    }
    Ok(engines)
}

fn unknown(name: &str) -> Error {
    Error::parameter(format!(
        "engine '{name}'; expected adjoint, message, message=collapsed, message=plain, local, or \
         window=R with a whole number R"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<(String, bool)> {
        let engines = parse_variants(list).unwrap();
        let name = |engine: Variant| (engine.name(), engine.is_collapsed());
        engines.into_iter().map(name).collect()
    }

    #[test]
    fn the_likelihood_comes_first_and_message_is_two() {
        let found = names(&["window=2", "message"]);
        let expected = [
            ("likelihood", false),
            ("window=2", false),
            ("message", true),
            ("message", false),
        ];
        assert_eq!(found, expected.map(|(name, on)| (name.to_owned(), on)));
    }

    #[test]
    fn what_is_named_twice_is_measured_once() {
        let found = names(&["message=plain", "local", "message", "local"]);
        let collapsed: Vec<bool> = found.iter().map(|(_, on)| *on).collect();
        assert_eq!(collapsed, [false, false, false, true]);
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "likelihood",
            "exact",
            "window",
            "window=-1",
            "message=on",
        ] {
            let error = parse_variants(&["adjoint", name]).unwrap_err().to_string();
            let expected = "expected adjoint, message, message=collapsed, message=plain, local, or \
                            window=R with a whole number R";
            assert_eq!(error, format!("engine '{name}'; {expected}"));
        }
        let none: [&str; 0] = [];
        let error = parse_variants(&none).unwrap_err().to_string();
        assert_eq!(error, "no engine; expected at least one");
    }
}
