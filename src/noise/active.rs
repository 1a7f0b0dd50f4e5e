//! The attributes of one sentence, and which of them share their expectations (section 4.1).
//!
//! Attributes that fire once in the sentence, and at the same token, have the same expectations, up
//! to their values. So they are replaced by one *feature* of value 1, from whose derivative each
//! takes its own. That is without loss, and in the paper it takes the number of active attributes
//! per token from 20 to less than 5. Any other attribute is a feature by itself.

/// The attributes of the tokens of a sentence. By default there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features<'a> {
    /// Those that go with one label. Boundary weights are attributes of the first or last token.
    pub node: AttributeRows<'a>,
    /// Those that go with two labels, the bare transition excepted; those of the first token do not
    /// count.
    pub edge: AttributeRows<'a>,
}

/// A sparse matrix of attributes by token.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttributeRows<'a> {
    /// Where each token's entries end, `[T]`; or nothing, where no token has any.
    pub ends: &'a [usize],
    /// Attribute and value, token by token.
    pub entries: &'a [(u32, f64)],
}

impl<'a> AttributeRows<'a> {
    /// The entries of a token; none where there are no rows.
    fn row(&self, t: usize) -> &'a [(u32, f64)] {
        if self.ends.is_empty() {
            return &[];
        }
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        &self.entries[start..self.ends[t]]
    }
}

/// How many attributes the sentences had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveCounts {
    /// Tokens.
    pub tokens: u64,
    /// Different attributes of each sentence, summed over sentences.
    pub attributes: u64,
    /// The same after collapsing: those that expectations were computed of.
    pub collapsed: u64,
}

impl ActiveCounts {
    /// Counts a sentence of so many tokens. O(n log n) for n entries.
    ///
    /// # Panics
    ///
    /// If there are rows, but not one for each token.
    pub fn add(&mut self, features: Features<'_>, tokens: usize) {
        let mut active = Active::default();
        for (rows, first) in [(features.node, 0), (features.edge, 1)] {
            active.set(rows, first, tokens, true);
            self.attributes += active.columns.len() as u64;
            self.collapsed += active.features as u64;
        }
        self.tokens += tokens as u64;
    }
}

/// The features of a sentence, of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Active {
    /// Different attributes, in ascending order, `[J]`.
    pub columns: Vec<u32>,
    /// For each of them the feature it is part of, and its value in terms of that, `[J]`.
    pub members: Vec<(usize, f64)>,
    /// Number of features.
    pub features: usize,
    entries: Vec<(usize, usize, f64)>, // token, feature, value
    ends: Vec<usize>,                  // [T] in `entries`
    sorted: Vec<(u32, usize, f64)>,    // attribute, token, value
    collapsed: Vec<Option<usize>>,     // [T] the feature of what fires there alone
}

impl Active {
    /// Takes the attributes of the tokens `first..tokens`. O(n log n) for n entries.
    pub fn set(&mut self, rows: AttributeRows<'_>, first: usize, tokens: usize, collapse: bool) {
        self.columns.clear();
        self.members.clear();
        self.entries.clear();
        self.sorted.clear();
        self.features = 0;
        self.collapsed.clear();
        self.collapsed.resize(tokens, None);
        for t in first..tokens {
            let entries = rows.row(t).iter();
            self.sorted
                .extend(entries.map(|&(column, value)| (column, t, value)));
        }
        self.sorted
            .sort_unstable_by_key(|&(column, t, _)| (column, t));
        for places in self.sorted.chunk_by(|x, y| x.0 == y.0) {
            let member = match places {
                &[(_, t, value)] if collapse => {
                    let feature = *self.collapsed[t].get_or_insert_with(|| {
                        self.entries.push((t, self.features, 1.0));
                        self.features += 1;
                        self.features - 1
                    });
                    (feature, value)
                }
                _ => {
                    let feature = self.features;
                    let entries = places.iter();
                    self.entries
                        .extend(entries.map(|&(_, t, value)| (t, feature, value)));
                    self.features += 1;
                    (feature, 1.0)
                }
            };
            self.columns.push(places[0].0);
            self.members.push(member);
        }
        self.index(tokens);
    }

    /// Sorts the entries by token.
    fn index(&mut self, tokens: usize) {
        self.entries
            .sort_unstable_by_key(|&(t, feature, _)| (t, feature));
        self.ends.clear();
        let mut end = 0;
        for t in 0..tokens {
            end += self.entries[end..].partition_point(|entry| entry.0 == t);
            self.ends.push(end);
        }
    }

    /// The features of a token, with their values.
    pub fn at(&self, t: usize) -> impl Iterator<Item = (usize, f64)> {
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        let entries = self.entries[start..self.ends[t]].iter();
        entries.map(|&(_, feature, value)| (feature, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: AttributeRows<'_> = AttributeRows {
        ends: &[3, 4, 8],
        entries: &[
            (7, 1.0),
            (2, 0.5),
            (4, 1.0),
            (4, 2.0),
            (1, 1.0),
            (9, -3.0),
            (8, 1.0),
            (8, 1.0),
        ],
    };

    fn active(collapse: bool) -> Active {
        let mut active = Active::default();
        active.set(ROWS, 0, 3, collapse);
        active
    }

    fn features(active: &Active) -> Vec<Vec<(usize, f64)>> {
        (0..3).map(|t| active.at(t).collect()).collect()
    }

    #[test]
    fn attributes_that_fire_once_at_the_same_token_are_one_feature() {
        let active = active(true);
        assert_eq!(active.columns, [1, 2, 4, 7, 8, 9]);
        assert_eq!(
            active.members,
            [(0, 1.0), (1, 0.5), (2, 1.0), (1, 1.0), (3, 1.0), (0, -3.0)]
        );
        assert_eq!(active.features, 4);
        let expected: [&[_]; 3] = [
            &[(1, 1.0), (2, 1.0)],
            &[(2, 2.0)],
            &[(0, 1.0), (3, 1.0), (3, 1.0)],
        ];
        assert_eq!(features(&active), expected);
    }

    #[test]
    fn without_collapsing_every_attribute_is_a_feature() {
        let active = active(false);
        assert_eq!((active.features, active.columns.len()), (6, 6));
        let members: Vec<_> = (0..6).map(|feature| (feature, 1.0)).collect();
        assert_eq!(active.members, members);
        assert_eq!(features(&active)[0], [(1, 0.5), (2, 1.0), (3, 1.0)]);
    }

    #[test]
    fn sentences_are_counted_before_and_after_collapsing() {
        let mut counts = ActiveCounts::default();
        let sentence = Features {
            node: ROWS,
            edge: ROWS,
        };
        counts.add(sentence, 3);
        // Edge attributes of the first token do not count: 7 and 2 go, 4 fires once.
        let expected = ActiveCounts {
            tokens: 3,
            attributes: 6 + 4,
            collapsed: 4 + 3,
        };
        assert_eq!(counts, expected);
        counts.add(Features::default(), 2);
        assert_eq!((counts.tokens, counts.attributes), (5, 10));
    }

    #[test]
    fn tokens_before_the_first_do_not_count() {
        let mut active = Active::default();
        active.set(ROWS, 1, 3, true);
        assert_eq!(active.columns, [1, 4, 8, 9]);
        assert_eq!(active.at(0).count(), 0);
        active.set(AttributeRows::default(), 0, 3, true);
        assert_eq!((active.features, active.at(2).count()), (0, 0));
    }
}
