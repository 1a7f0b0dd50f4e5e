//! What spaCy's displaCy renders with `manual=True`: JSON lines, an object per text.

use std::ops::Range;

use serde::Serialize;

use super::annotated_text::AnnotatedText;
use super::spans::SpansRecord;
use crate::corpus::offset_unit::OffsetUnit;

/// An object for `displacy.render(…, style="ent", manual=True)`.
#[derive(Serialize)]
pub(super) struct DisplacyRecord<'a> {
    text: &'a str,
    ents: Vec<Entity<'a>>,
    title: Option<String>,
}

#[derive(Serialize)]
struct Entity<'a> {
    start: usize,
    end: usize,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

impl<'a> DisplacyRecord<'a> {
    pub fn new(text: &'a AnnotatedText) -> Self {
        let spans = SpansRecord::new(text, OffsetUnit::Chars);
        let entity = |mark| {
            let Range { start, end } = spans.position(mark);
            Entity {
                start,
                end,
                label: &mark.label,
                score: mark.probability,
            }
        };
        Self {
            text: &text.text,
            ents: text.marks.iter().map(entity).collect(),
            title: text.member("title"),
        }
    }
}
