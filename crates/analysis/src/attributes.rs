//! The attributes of a model: in words, the ones with the largest weights, those with names like a
//! given one, and what each template line contributes to them.

use dropchain::kernel::template::{AttributeLines, edit_distance};
use dropchain::model::{AttributeKind, Header};
use dropchain::{Model, Result, Template};
use serde::Serialize;

use crate::uncertainty::Highest;

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

/// A weight of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopAttribute<'m> {
    /// The weight.
    pub weight: f64,
    /// The number of the label, or that of a pair, K·from + to.
    pub column: usize,
    /// The name of the attribute.
    pub attribute: &'m [u8],
}

/// Returns the weights whose values are the largest and above 0, by descending weight, such as
/// those of the largest absolute values: of attributes of tokens `limit` for each label, `[K]`; of
/// attributes of pairs of tokens `limit` over all pairs of labels, `[1]`.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn top_attributes(
    model: &Model,
    kind: AttributeKind,
    limit: usize,
    value: fn(f64) -> f64,
) -> Result<Vec<Vec<TopAttribute<'_>>>> {
    let lists = if kind == AttributeKind::Node { model.header().labels.len() } else { 1 };
    let mut highest: Vec<_> = (0..lists).map(|_| Highest::new(limit)).collect();
    for i in 0..model.attributes(kind) {
        let (attribute, weights) = model.attribute_weights(kind, i)?;
        for (column, weight) in weights.filter(|(_, weight)| value(*weight) > 0.0) {
            let item = TopAttribute { weight, column, attribute };
            highest[column % lists].add(value(weight), (i as u64, column), item);
        }
    }
    let sorted = highest.into_iter().map(|highest| {
        let ranked = highest.into_ranked().into_iter().map(|(_, item)| item);
        let mut list: Vec<TopAttribute<'_>> = ranked.collect();
        list.sort_by(|x, y| y.weight.total_cmp(&x.weight));
        list
    });
    Ok(sorted.collect())
}

/// Returns the names of at most `limit` attributes of a model that may be meant by one that the
/// model does not have: those that contain the text, whatever the case, the shortest first; if
/// there are none, those that differ in the fewest characters, and in at most a third of them.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn similar_attributes(model: &Model, name: &str, limit: usize) -> Result<Vec<String>> {
    let (lower, most) = (name.to_lowercase(), 1.max(name.chars().count() / 3));
    let mut found = Vec::new();
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        for i in 0..model.attributes(kind) {
            let candidate = String::from_utf8_lossy(model.attribute_name(kind, i)?);
            let contains = candidate.to_lowercase().contains(&lower);
            let distance = match contains {
                true => candidate.chars().count(),
                false => edit_distance(name, &candidate, most),
            };
            if contains || distance <= most {
                found.push((!contains, distance, candidate.into_owned()));
            }
            // Bounds the memory.
            if found.len() > 1000 + 2 * limit {
                found.sort();
                found.truncate(limit);
            }
        }
    }
    found.sort();
    found.dedup();
    let any_contains = found.first().is_some_and(|(differs, ..)| !differs);
    let found = found.into_iter().filter(|(differs, ..)| !(any_contains && *differs));
    Ok(found.take(limit).map(|(_, _, name)| name).collect())
}

/// Statistics of the attributes of a template line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LineStatistics {
    /// Number of attributes that have weights.
    pub attributes: usize,
    /// Number of weights that are not 0.
    pub weights: usize,
    /// Sum of the absolute values of the weights.
    pub absolute: f64,
    /// Sum of the squares of the weights.
    pub squares: f64,
    /// Their size in the model file, with names and slots, in bytes.
    pub bytes: f64,
}

/// The size of an attribute of a table in the model file, in bytes.
struct Costs {
    /// Bytes of each attribute: its share of slots and ends of names; in dense tables, its weights.
    attribute: f64,
    /// Bytes of each weight, in sparse tables.
    weight: f64,
    /// Bytes in the file for each byte of a name: less than 1 if names are compressed.
    name_byte: f64,
}

impl LineStatistics {
    /// Returns what each template line contributes to a model, in the order of
    /// [`Template::attribute_lines`], and last the attributes of no line: all of them without a
    /// template.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
    pub fn of(model: &Model) -> Result<Vec<Self>> {
        let template = model.header().template.as_ref();
        let lines = template.map(Template::attribute_lines);
        let count = lines.as_ref().map_or(0, |lines| lines.lines().len());
        let mut statistics = vec![Self::default(); count + 1];
        for kind in [AttributeKind::Node, AttributeKind::Edge] {
            let costs = Costs::of(model, kind)?;
            let is_edge = kind == AttributeKind::Edge;
            for i in 0..model.attributes(kind) {
                let (name, weights) = model.attribute_weights(kind, i)?;
                let line = lines.as_ref().and_then(|lines| lines.find(is_edge, name));
                let line = &mut statistics[line.unwrap_or(count)];
                let before = line.weights;
                for (_, weight) in weights {
                    line.weights += 1;
                    line.absolute += weight.abs();
                    line.squares += weight * weight;
                }
                line.attributes += 1;
                line.bytes += costs.name_byte * name.len() as f64 + costs.attribute;
                line.bytes += costs.weight * (line.weights - before) as f64;
            }
        }
        Ok(statistics)
    }
}

impl Costs {
    /// Returns what the attributes of a table take in the file.
    fn of(model: &Model, kind: AttributeKind) -> Result<Self> {
        let info = &model.header().tables[kind as usize];
        let sizes = model.sizes();
        let table = [sizes.nodes, sizes.edges][kind as usize];
        let [attributes, weights] = [info.attributes, info.weights].map(|n| n.max(1) as f64);
        let weights_of_attribute = if info.dense { table.weights } else { 0 };
        Ok(Self {
            attribute: (table.slots + table.ends + weights_of_attribute) as f64 / attributes,
            weight: (table.weights - weights_of_attribute) as f64 / weights,
            name_byte: table.names as f64 / model.table(kind).length_of_names()?.max(1) as f64,
        })
    }
}
