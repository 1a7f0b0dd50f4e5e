//! Values of options.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dropchain::kernel::names::Named;

/// Parses the name of a value.
pub fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    let names = T::values().iter().map(|value| value.value_name());
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| {
        let mut values = T::values().iter().copied();
        values.find(|value| value.value_name() == name).ok_or("an unknown name")
    })
}
