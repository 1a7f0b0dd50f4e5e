//! Pre-extracted attributes.

use serde::{Deserialize, Serialize};

use super::storage::TextList;

/// Pre-extracted attributes (as in CRFsuite's format): names with values, per token. Attributes of
/// a token have a weight for each label; those of the edge into it, which are a separate list, have
/// one for each pair of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    nodes: AttributeList,
    edges: Option<Box<AttributeList>>, // `None` if there are none
}

/// Names with values, per token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct AttributeList {
    names: TextList,
    values: Option<Vec<f64>>, // of each name; `None` if all are 1
    tokens: Vec<usize>,       // [T] the end of each token in `names`
}

impl Attributes {
    /// Adds an attribute to the current token, which [`Attributes::end_token`] completes.
    pub fn push(&mut self, name: &str, value: f64) {
        self.nodes.push(name, value);
    }

    /// Adds an attribute to the edge into the current token. The first token has no such edge:
    /// there it has no effect.
    pub fn push_edge(&mut self, name: &str, value: f64) {
        let tokens = self.len();
        let edges = self.edges.get_or_insert_with(|| {
            Box::new(AttributeList { tokens: vec![0; tokens], ..AttributeList::default() })
        });
        if tokens > 0 {
            edges.push(name, value);
        }
    }

    /// Completes the current token and starts the next.
    pub fn end_token(&mut self) {
        for list in self.lists_mut() {
            list.tokens.push(list.names.len());
        }
    }

    /// Number of completed tokens.
    pub fn len(&self) -> usize {
        self.nodes.tokens.len()
    }

    /// Whether there are no completed tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The attributes of token `t` with their values.
    pub fn token(&self, t: usize) -> impl Iterator<Item = (&str, f64)> {
        self.nodes.token(t)
    }

    /// The attributes of the edge into token `t` with their values.
    pub fn edge(&self, t: usize) -> impl Iterator<Item = (&str, f64)> {
        self.edges.iter().flat_map(move |edges| edges.token(t))
    }

    /// Whether the names exceed 4 GiB, so that their positions have overflowed.
    pub fn is_full(&self) -> bool {
        self.lists().any(|list| u32::try_from(list.names.bytes()).is_err())
    }

    /// Memory on the heap in bytes.
    pub(super) fn memory(&self) -> usize {
        let memory = |list: &AttributeList| {
            let names: usize = list.names.allocations().into_iter().sum();
            names + 8 * list.values.as_ref().map_or(0, Vec::capacity) + 8 * list.tokens.capacity()
        };
        self.lists().map(memory).sum()
    }

    /// Frees excess capacity.
    pub fn shrink(&mut self) {
        for list in self.lists_mut() {
            list.names.shrink();
            list.tokens.shrink_to_fit();
            if let Some(values) = &mut list.values {
                values.shrink_to_fit();
            }
        }
    }

    fn lists(&self) -> impl Iterator<Item = &AttributeList> {
        [&self.nodes].into_iter().chain(self.edges.as_deref())
    }

    fn lists_mut(&mut self) -> impl Iterator<Item = &mut AttributeList> {
        [&mut self.nodes].into_iter().chain(self.edges.as_deref_mut())
    }
}

/// Checks the name and the value of an attribute.
///
/// # Errors
///
/// A message if the name is empty, or the value infinite or not a number.
pub fn check_attribute(name: &str, value: f64) -> Result<(), String> {
    if name.is_empty() {
        return Err("an attribute without a name".to_owned());
    }
    match value.is_finite() {
        true => Ok(()),
        false => Err(format!("attribute '{name}' has the value {value}; expected a finite number")),
    }
}

impl AttributeList {
    fn push(&mut self, name: &str, value: f64) {
        if self.values.is_none() && value != 1.0 {
            self.values = Some(vec![1.0; self.names.len()]);
        }
        self.names.push(name);
        if let Some(values) = &mut self.values {
            values.push(value);
        }
    }

    fn token(&self, t: usize) -> impl Iterator<Item = (&str, f64)> {
        let first = if t == 0 { 0 } else { self.tokens[t - 1] };
        (first..self.tokens[t])
            .map(|i| (self.names.get(i), self.values.as_ref().map_or(1.0, |values| values[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_keep_names_and_values_per_token() {
        let mut a = Attributes::default();
        a.push("w=a", 1.0);
        a.push("len", 0.5);
        a.end_token();
        a.end_token();
        a.push("w=b", 2.0);
        a.end_token();
        assert_eq!(a.token(0).collect::<Vec<_>>(), [("w=a", 1.0), ("len", 0.5)]);
        assert_eq!(a.token(1).count(), 0);
        assert_eq!(a.token(2).collect::<Vec<_>>(), [("w=b", 2.0)]);
    }

    #[test]
    fn edges_have_attributes_of_their_own_but_not_the_first() {
        let mut a = Attributes::default();
        a.push("w", 1.0);
        a.end_token();
        a.push_edge("e", 0.5);
        a.end_token();
        a.end_token();
        assert_eq!(a.edge(1).collect::<Vec<_>>(), [("e", 0.5)]);
        assert_eq!(a.edge(0).chain(a.edge(2)).count(), 0);
        assert_eq!((a.token(0).count(), a.token(1).count()), (1, 0));
        let mut first = Attributes::default();
        first.push_edge("e", 1.0);
        first.end_token();
        assert_eq!((first.len(), first.edge(0).count()), (1, 0));
    }
}
