//! The options of a request: its query string.

use dropchain::label::Scheme;
use dropchain::tag::{Header, TagOptions};

use crate::api_error::ApiError;

/// The options that there are.
const NAMES: &str = "model, marginals, nbest, constrain, scheme and forced";

/// Maximum number of best label sequences. `tag` has no such limit.
const MAX_NBEST: usize = 1000;

/// Maximum number of tokens of a sentence times that of its best label sequences: nothing ends the
/// search for them but its end.
pub const MAX_NBEST_TOKENS: usize = 1_000_000;

/// What to tag with, and what to answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOptions {
    /// The name of the model; `None` is the first.
    pub model: Option<String>,
    /// What to compute.
    pub tag: TagOptions,
    /// The scheme of the labels; `None` is that of the training corpus, `Raw` that of the model.
    pub scheme: Option<Scheme>,
    /// The keys of known labels and spans.
    pub forced: Vec<String>,
}

impl RequestOptions {
    /// Parses a query string.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        let mut options = Self::default();
        let mut seen = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if seen.contains(&name) {
                let message = format!("the option {name:?} is given twice");
                return Err(ApiError::bad_request(message));
            }
            options.set(&name, &value)?;
            seen.push(name);
        }
        options.tag.probability = options.tag.marginals || options.tag.nbest > 1;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let expected = |what: &str| {
            ApiError::bad_request(format!("option {name:?}: expected {what}, found {value:?}"))
        };
        let switch = || match value {
            "true" | "on" | "1" | "" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            _ => Err(expected("true or false")),
        };
        match name {
            "model" => self.model = Some(value.to_owned()),
            "marginals" => self.tag.marginals = switch()?,
            "constrain" => self.tag.constrain = switch()?,
            "nbest" => {
                let number = value.parse().ok();
                let number = number.filter(|n| (1..=MAX_NBEST).contains(n));
                let range = || expected(&format!("a number from 1 to {MAX_NBEST}"));
                self.tag.nbest = number.ok_or_else(range)?;
            }
            "scheme" => {
                let schemes = |_| expected("raw, io, iob1, iob2, bioes or plain");
                self.scheme = Some(value.parse().map_err(schemes)?);
            }
            "forced" => self.forced = value.split(',').map(str::to_owned).collect(),
            _ => {
                let message = format!("unknown option {name:?}; the options are {NAMES}");
                return Err(ApiError::bad_request(message));
            }
        }
        Ok(())
    }

    /// Returns the scheme of the labels of a model in the response.
    pub fn output_scheme(&self, header: &Header) -> Result<Scheme, ApiError> {
        match self.scheme {
            None => Ok(header.corpus_scheme),
            Some(Scheme::Raw) => Ok(header.scheme),
            Some(scheme) if header.encodes_spans() => Ok(scheme),
            Some(_) => Err(ApiError::unprocessable(
                "option \"scheme\": the labels of the model encode no spans (B-X, I-X, …)",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_query() {
        let options = RequestOptions::parse("model=a%2Eb&marginals&nbest=3&forced=x%2Cy").unwrap();
        assert_eq!(options.model.as_deref(), Some("a.b"));
        assert!(options.tag.marginals && options.tag.probability && options.tag.constrain);
        assert_eq!(options.tag.nbest, 3);
        assert_eq!(options.forced, ["x", "y"]);
        let options = RequestOptions::parse("").unwrap();
        assert_eq!(options.tag, TagOptions::default());
    }

    #[test]
    fn options_that_make_no_sense_are_rejected_by_name() {
        for (query, message) in [
            (
                "nbest=0",
                "option \"nbest\": expected a number from 1 to 1000, found \"0\"",
            ),
            (
                "nbest=1001",
                "option \"nbest\": expected a number from 1 to 1000, found \"1001\"",
            ),
            (
                "marginals=yes",
                "option \"marginals\": expected true or false, found \"yes\"",
            ),
            (
                "scheme=x",
                "option \"scheme\": expected raw, io, iob1, iob2, bioes or plain, found \"x\"",
            ),
            ("nbest=2&nbest=3", "the option \"nbest\" is given twice"),
        ] {
            assert_eq!(RequestOptions::parse(query).unwrap_err().message, message);
        }
        let unknown = RequestOptions::parse("marginal=true").unwrap_err().message;
        assert!(
            unknown.contains("\"marginal\"; the options are model"),
            "{unknown}"
        );
    }
}
