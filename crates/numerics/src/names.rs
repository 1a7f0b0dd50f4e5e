//! Names of the values of a type: those of the command line, of Python, of models and of logs.

use crate::error::{Error, Result};

/// A type of few values, all of which have names: one that [`named!`](crate::named) defines.
pub trait Named: Copy + Send + Sync + 'static {
    /// Returns all values.
    fn values() -> &'static [Self];

    /// Returns the name of a value.
    fn value_name(self) -> &'static str;
}

/// Finds a value by its name; `what` is what the type is.
///
/// # Errors
///
/// [`Error::Parameter`] with all names, if there is no such value.
pub fn find<T: Named>(name: &str, what: &str) -> Result<T> {
    let mut values = T::values().iter().copied();
    values.find(|value| value.value_name() == name).ok_or_else(|| {
        let names: Vec<&str> = T::values().iter().map(|value| value.value_name()).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        let others = others.join(", ");
        Error::parameter(format!("unknown {what} '{name}': expected {others} or {last}"))
    })
}

/// Gives the values of an enum their names: `ALL`, `name`, [`Display`](std::fmt::Display),
/// [`FromStr`](std::str::FromStr) and [`Named`](crate::names::Named).
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Rule {
///     All,
///     Observed,
/// }
/// dropchain_numerics::named!(Rule, "rule": All = "all", Observed = "observed");
///
/// assert_eq!("observed".parse::<Rule>().unwrap(), Rule::Observed);
/// let error = "some".parse::<Rule>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown rule 'some': expected all or observed");
/// ```
#[macro_export]
macro_rules! named {
    ($type:ident, $what:literal: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl $crate::names::Named for $type {
            fn values() -> &'static [Self] {
                &Self::ALL
            }

            fn value_name(self) -> &'static str {
                self.name()
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> ::std::result::Result<Self, $crate::Error> {
                $crate::names::find(name, $what)
            }
        }
    };
}
