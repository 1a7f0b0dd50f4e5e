//! Pre-extracted attributes.

/// Pre-extracted attributes (as in CRFsuite's format): names with values, per token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    names: String,
    ends: Vec<u32>,           // the end of each name in `names`
    values: Option<Vec<f64>>, // of each name; `None` if all are 1
    tokens: Vec<usize>,       // [T] the end of each token in `ends`
}

impl Attributes {
    /// Adds an attribute to the current token, which [`Attributes::end_token`] completes.
    pub fn push(&mut self, name: &str, value: f64) {
        if self.values.is_none() && value != 1.0 {
            self.values = Some(vec![1.0; self.ends.len()]);
        }
        self.names.push_str(name);
        self.ends.push(self.names.len() as u32);
        if let Some(values) = &mut self.values {
            values.push(value);
        }
    }

    /// Completes the current token and starts the next.
    pub fn end_token(&mut self) {
        self.tokens.push(self.ends.len());
    }

    /// Number of completed tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are no completed tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The attributes of token `t` with their values.
    pub fn token(&self, t: usize) -> impl Iterator<Item = (&str, f64)> {
        let first = if t == 0 { 0 } else { self.tokens[t - 1] };
        (first..self.tokens[t]).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
            let value = self.values.as_ref().map_or(1.0, |values| values[i]);
            (&self.names[start..self.ends[i] as usize], value)
        })
    }

    /// Whether the names exceed 4 GiB, so that their positions have overflowed.
    pub(crate) fn is_full(&self) -> bool {
        u32::try_from(self.names.len()).is_err()
    }

    /// Memory on the heap in bytes.
    pub(super) fn memory(&self) -> usize {
        self.names.capacity()
            + 4 * self.ends.capacity()
            + 8 * self.values.as_ref().map_or(0, Vec::capacity)
            + 8 * self.tokens.capacity()
    }

    /// Frees excess capacity.
    pub(crate) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.tokens.shrink_to_fit();
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
}
