//! The variants of the objective that are compared.

use dropchain::error::{Error, Result};
use dropchain::noise::{Engine, NoiseTerm, ROUND};
use dropchain::objective::{Noise, PenalizedLikelihood};
use dropchain::train::{NoiseKind, NoiseOptions, TrainSettings, TrainingSet};

/// A variant of the objective: the likelihood alone, or with the noise term computed by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The likelihood without noise: the baseline.
    Likelihood,
    /// The likelihood with a noise term.
    Noise(NoiseTerm),
}

impl Variant {
    /// Sets the kind of noise and its gradient.
    pub fn apply(self, noise: &mut NoiseOptions) {
        match self {
            Self::Likelihood => (noise.dropout, noise.edge_dropout) = (0.0, None),
            Self::Noise(NoiseTerm::Quadratic(engine)) => noise.gradient = engine,
            Self::Noise(NoiseTerm::Reweighted(iterations)) => {
                noise.kind = NoiseKind::Reweighted(iterations);
            }
            Self::Noise(NoiseTerm::GaussianScores(expectation)) => {
                noise.kind = NoiseKind::GaussianScores(expectation);
            }
        }
    }

    /// Returns the objective on a training set, without L2 penalty, with the noise of the settings.
    ///
    /// # Errors
    ///
    /// The settings have no noise, or noise without a quadratic regularizer.
    pub fn objective(
        self,
        set: &TrainingSet,
        settings: &TrainSettings,
    ) -> Result<PenalizedLikelihood> {
        Ok(match self {
            Self::Likelihood => set.likelihood(0.0),
            Self::Noise(term) => {
                let noise = settings.analytic_noise()?;
                set.noisy_likelihood(0.0, Noise { term, ..noise })
            }
        })
    }

    /// Returns the name, excluding [`is_collapsed`](Self::is_collapsed): `likelihood`, `exact`,
    /// `message`, `reweighted=N`, `window=R` or `local`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Likelihood => "likelihood".to_owned(),
            Self::Noise(NoiseTerm::Quadratic(engine)) => engine.to_string(),
            Self::Noise(NoiseTerm::Reweighted(iterations)) => format!("reweighted={iterations}"),
            Self::Noise(NoiseTerm::GaussianScores(_)) => "gaussian-scores".to_owned(),
        }
    }

    /// Returns true if attributes that fire once, at the same token, are collapsed (Wang et al.
    /// 2013, section 4.1).
    #[must_use]
    pub fn is_collapsed(self) -> bool {
        self == Self::Noise(NoiseTerm::Quadratic(Engine::Message { collapse: true }))
    }
}

/// Parses engine names: `exact`, `message` (both `message=collapsed` and `message=plain`),
/// `reweighted[=N]`, `window=R`, `local`. The result starts with the likelihood and has no
/// duplicates.
///
/// # Errors
///
/// [`Error::Parameter`] for an unknown name, or without any name.
pub fn parse_variants<S: AsRef<str>>(names: &[S]) -> Result<Vec<Variant>> {
    let mut variants = vec![Variant::Likelihood];
    for name in names {
        let name = name.as_ref();
        let message = |collapse| NoiseTerm::Quadratic(Engine::Message { collapse });
        let engines = match name {
            "message" => vec![message(true), message(false)],
            "message=collapsed" => vec![message(true)],
            "message=plain" => vec![message(false)],
            "reweighted" => vec![NoiseTerm::Reweighted(ROUND)],
            _ => match (name.parse::<Engine>(), name.parse::<NoiseKind>()) {
                (Ok(engine), _) => vec![engine.into()],
                (_, Ok(NoiseKind::Reweighted(n))) => vec![NoiseTerm::Reweighted(n)],
                _ => return Err(unknown(name)),
            },
        };
        for variant in engines.into_iter().map(Variant::Noise) {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
    }
    if names.is_empty() {
        return Err(Error::parameter("no engines; expected at least one"));
    }
    Ok(variants)
}

fn unknown(name: &str) -> Error {
    Error::parameter(format!(
        "engine '{name}'; expected exact, message, message=collapsed, message=plain, \
         reweighted, reweighted=N, local, or window=R with integers N above 0 and R"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<(String, bool)> {
        let variants = parse_variants(list).unwrap();
        let name = |variant: Variant| (variant.name(), variant.is_collapsed());
        variants.into_iter().map(name).collect()
    }

    #[test]
    fn the_likelihood_comes_first_and_message_is_two_variants() {
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
    fn duplicates_are_dropped() {
        let found = names(&["message=plain", "local", "message", "local"]);
        let collapsed: Vec<bool> = found.iter().map(|(_, on)| *on).collect();
        assert_eq!(collapsed, [false, false, false, true]);
    }

    #[test]
    fn unknown_names_are_rejected() {
        for name in [
            "",
            "likelihood",
            "adjoint",
            "window",
            "window=-1",
            "message=on",
            "gaussian",
        ] {
            let error = parse_variants(&["exact", name]).unwrap_err().to_string();
            let expected = "expected exact, message, message=collapsed, message=plain, \
                            reweighted, reweighted=N, local, or window=R with integers N above 0 \
                            and R";
            assert_eq!(error, format!("engine '{name}'; {expected}"));
        }
        let none: [&str; 0] = [];
        let error = parse_variants(&none).unwrap_err().to_string();
        assert_eq!(error, "no engines; expected at least one");
    }
}
