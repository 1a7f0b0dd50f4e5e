//! The templates that come with dropchain, compiled in so that an installed program has them.

use super::Template;
use crate::error::Result;

/// Name and text of each, as in `features/`.
const SHIPPED: [(&str, &str); 7] = [
    ("minimal", include_str!("../../features/minimal.tpl")),
    ("chunk", include_str!("../../features/chunk.tpl")),
    ("pos", include_str!("../../features/pos.tpl")),
    ("ner", include_str!("../../features/ner.tpl")),
    ("ner-finkel", include_str!("../../features/ner-finkel.tpl")),
    (
        "ner-finkel-edges",
        include_str!("../../features/ner-finkel-edges.tpl"),
    ),
    ("pos-sancl", include_str!("../../features/pos-sancl.tpl")),
];

impl Template {
    /// The names of the templates that come with dropchain.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The template of that name that comes with dropchain, or `None` if there is none.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Result<Self>> {
        let (_, source) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
        let file = format!("{name}.tpl");
        let no_files = |name: &str| {
            Err(crate::Error::parameter(format!(
                "the template asks for the file '{name}'"
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
