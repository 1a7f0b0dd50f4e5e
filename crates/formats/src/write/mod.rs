//! Writing markup and the formats of annotation tools.

mod annotated_text;
mod brat;
mod color;
mod html;
mod inline;
mod inline_xml;
mod json;
mod slash_tags;
#[cfg(test)]
mod tests;
mod text_format;
mod text_writer;

pub use inline::Inline;
pub use slash_tags::SlashTags;
pub use text_format::TextFormat;
pub use text_writer::TextWriter;
