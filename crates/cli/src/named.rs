//! Arguments that are one of some names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A name, what it means, and its value.
pub type Named<T> = (&'static str, &'static str, T);

/// Parses one of these names.
pub fn named<T>(values: &'static [Named<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = values.iter();
    let names = names.map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |name| {
        let found = values.iter().find(|(own, ..)| *own == name);
        found.map(|found| found.2).ok_or("an unknown name")
    })
}
