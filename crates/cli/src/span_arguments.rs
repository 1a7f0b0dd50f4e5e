//! How to read spans of characters.

use clap::Args;
use dropchain_formats::{Misaligned, OffsetUnit, SpanOptions};

/// How to read spans of characters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct SpanArguments {
    /// What offsets of spans count: chars (code points), bytes or utf16 [default: chars]
    #[arg(
        long,
        value_name = "UNIT",
        hide_short_help = true,
        hide_long_help = true
    )]
    offsets: Option<OffsetUnit>,
    /// Spans that cut a token: error, expand (to whole tokens) or drop [default: error]
    ///
    /// The error lists all of them. Discontinuous spans of BRAT are treated alike.
    #[arg(
        long,
        value_name = "ACTION",
        hide_short_help = true,
        hide_long_help = true
    )]
    misaligned: Option<Misaligned>,
}

impl SpanArguments {
    pub fn options(&self) -> SpanOptions {
        SpanOptions {
            offsets: self.offsets.unwrap_or_default(),
            misaligned: self.misaligned.unwrap_or_default(),
        }
    }
}
