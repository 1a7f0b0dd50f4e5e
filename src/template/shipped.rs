//! The templates that ship with dropchain, embedded in the binary.

use super::template_file::Template;
use crate::error::Result;

/// The name and text of each template in `features/`.
const SHIPPED: [(&str, &str); 9] = [
    ("minimal", include_str!("../../features/minimal.tpl")),
    ("chunk", include_str!("../../features/chunk.tpl")),
    ("pos", include_str!("../../features/pos.tpl")),
    ("ner", include_str!("../../features/ner.tpl")),
    (
        "ner-document",
        include_str!("../../features/ner-document.tpl"),
    ),
    (
        "ner-two-passes",
        include_str!("../../features/ner-two-passes.tpl"),
    ),
    ("ner-finkel", include_str!("../../features/ner-finkel.tpl")),
    (
        "ner-finkel-edges",
        include_str!("../../features/ner-finkel-edges.tpl"),
    ),
    ("pos-sancl", include_str!("../../features/pos-sancl.tpl")),
];

impl Template {
    /// Returns the names of the templates that ship with dropchain.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Parses the template `name` that ships with dropchain; `None` if there is no such template.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Result<Self>> {
        let (_, source) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
        let file = format!("{name}.tpl");
        let no_files = |name: &str| {
            Err(crate::Error::parameter(format!(
                "the template refers to the file '{name}'"
            )))
        };
        Some(Self::parse(source, &file, &mut { no_files }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_template_parses() {
        for name in Template::shipped_names() {
            assert!(matches!(Template::shipped(name), Some(Ok(_))), "{name}");
        }
        assert!(Template::shipped("nothing").is_none());
    }
}
