//! What to do with spans that cut tokens.

use dropchain::corpus::Repair;

use dropchain::sentence::OffsetUnit;

/// Spans that [`Misaligned::Expand`] extends.
pub(super) const EXPANDED: Repair =
    Repair { one: "span cuts a token", many: "spans cut tokens", fate: "extended to whole tokens" };

/// Spans that [`Misaligned::Drop`] leaves out.
pub(super) const DROPPED: Repair = Repair { fate: "left out", ..EXPANDED };

/// How spans of characters are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanOptions {
    /// What their offsets count.
    pub offsets: OffsetUnit,
    /// What becomes of those that cut tokens.
    pub misaligned: Misaligned,
}

/// What to do with annotated spans that begin or end inside a token, or are discontinuous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Misaligned {
    /// They are an error, which lists them.
    #[default]
    Error,
    /// They are extended to whole tokens, and counted.
    Expand,
    /// They are left out, and counted.
    Drop,
}

dropchain::named!(Misaligned, "treatment of misaligned spans":
    Error = "error",
    Expand = "expand",
    Drop = "drop",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in Misaligned::ALL {
            assert_eq!(choice.to_string().parse::<Misaligned>().unwrap(), choice);
        }
        assert!("snap".parse::<Misaligned>().is_err());
    }
}
