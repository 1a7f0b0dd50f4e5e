//! What the attributes of a model are, in words.

use dropchain::Template;
use dropchain::kernel::template::AttributeLines;
use dropchain::model::Header;

/// Says what the attributes of a model are.
pub(crate) struct AttributeWords<'m> {
    lines: Option<AttributeLines<'m>>,
    columns: &'m [String],
}

impl<'m> AttributeWords<'m> {
    pub fn new(header: &'m Header) -> Self {
        let lines = header.template.as_ref().map(Template::attribute_lines);
        Self { lines, columns: &header.columns.names }
    }

    /// Returns what an attribute is; its name if there are no words for it.
    pub fn of(&self, is_edge: bool, name: &str) -> String {
        let words = |lines: &AttributeLines<'_>| lines.words_for(is_edge, name, self.columns);
        self.lines.as_ref().and_then(words).unwrap_or_else(|| name.to_owned())
    }
}
