//! The weights of a model by name: out of a model, and into a new one.

use serde_json::Value;

use super::container::check_memory;
use super::file::Model;
use super::format::{AttributeKind, Precision};
use super::header::Header;
use super::table::TableBuilder;
use crate::error::{Error, Result};
use crate::ids::LabelId;

/// Memory in bytes that copying a model takes for a weight: itself and its position while it is
/// collected, and three times its encoding in 12 bytes or less.
const COPIED_WEIGHT: usize = 56;

/// The option of training that records the threshold.
const PRUNE: &str = "prune";

/// How many times the rest of a model, mostly names, is in memory while it is copied.
const COPIES: usize = 6;

/// An attribute with its weights.
type Weights<N, T> = (N, Vec<(T, f64)>);

/// An attribute of tokens, with its weight for each label that has one.
pub type NodeWeights<N> = (N, Vec<(LabelId, f64)>);

/// An attribute of pairs of adjacent tokens, with its weight for each pair of labels (previous,
/// current) that has one.
pub type EdgeWeights<N> = (N, Vec<([LabelId; 2], f64)>);

impl Model {
    /// Iterates over the attributes of tokens in training order, each with its nonzero weights in
    /// the order of the labels.
    ///
    /// [`Model::from_weights`] makes the same model of them:
    ///
    /// ```
    /// use dropchain::label::LabelSet;
    /// use dropchain::model::Header;
    /// use dropchain::{Model, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let labels = LabelSet::try_from(vec!["noun".to_owned(), "verb".to_owned()])?;
    /// let [noun, verb] = ["noun", "verb"].map(|name| labels.id(name).unwrap());
    /// let mut header = Header::new(labels);
    /// header.label_weights.transitions[1] = 0.5; // from noun to verb
    /// let nodes = [("word=dogs", vec![(noun, 1.5)]), ("word=bark", vec![(verb, 2.0)])];
    /// let edges: [(&str, _); 0] = [];
    /// let model = Model::from_weights(header, nodes, edges)?;
    ///
    /// let nodes = model.node_weights().collect::<Result<Vec<_>>>()?;
    /// let edges = model.edge_weights().collect::<Result<Vec<_>>>()?;
    /// assert_eq!(nodes[1], (&b"word=bark"[..], vec![(verb, 2.0)]));
    /// let copy = Model::from_weights(model.header().clone(), nodes, edges)?;
    /// assert_eq!(copy.as_bytes(), model.as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Model`] if the file is damaged there.
    pub fn node_weights(&self) -> impl Iterator<Item = Result<NodeWeights<&[u8]>>> {
        (0..self.attributes(AttributeKind::Node)).map(|i| {
            let (name, weights) = self.attribute_weights(AttributeKind::Node, i)?;
            Ok((name, weights.map(|(label, weight)| (LabelId(label as u16), weight)).collect()))
        })
    }

    /// Iterates over the attributes of pairs of adjacent tokens; otherwise like
    /// [`node_weights`](Self::node_weights).
    ///
    /// # Errors
    ///
    /// An item is [`Error::Model`] if the file is damaged there.
    pub fn edge_weights(&self) -> impl Iterator<Item = Result<EdgeWeights<&[u8]>>> {
        let k = self.header().labels.len();
        let pair = move |position: usize| [position / k, position % k].map(|i| LabelId(i as u16));
        (0..self.attributes(AttributeKind::Edge)).map(move |i| {
            let (name, weights) = self.attribute_weights(AttributeKind::Edge, i)?;
            Ok((name, weights.map(|(position, weight)| (pair(position), weight)).collect()))
        })
    }

    /// Returns the name of attribute `i`, numbered in training order, and its nonzero weights, each
    /// with the number of its label or that of the pair of labels, K·previous + current.
    ///
    /// # Errors
    ///
    /// Those of [`attribute_name`](Self::attribute_name).
    pub fn attribute_weights(
        &self,
        kind: AttributeKind,
        i: usize,
    ) -> Result<(&[u8], impl Iterator<Item = (usize, f64)>)> {
        let table = self.table(kind);
        let name = table.name(i)?;
        let weights = table.weights_of(self.key(name))?;
        let weights =
            weights.ok_or_else(|| table.file.damaged("a name has no weights"))?.into_iter();
        Ok((name, weights.filter(|(_, weight)| *weight != 0.0)))
    }

    /// Builds a model from weights. Everything else, including the label weights and the precision,
    /// comes from `header`; see [`Header::new`] for one without a training corpus.
    ///
    /// Weights of 0 and attributes without other weights are omitted.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a name occurs twice, a label does not exist or has two weights, a
    /// weight is not finite in the precision of the model, or the header contradicts itself.
    pub fn from_weights<N: AsRef<[u8]>, E: AsRef<[u8]>>(
        header: Header,
        nodes: impl IntoIterator<Item = NodeWeights<N>>,
        edges: impl IntoIterator<Item = EdgeWeights<E>>,
    ) -> Result<Self> {
        Self::from_weight_results(header, nodes.into_iter().map(Ok), edges.into_iter().map(Ok))
    }

    /// Copies the model with its weights in another precision. Everything else stays, as do the
    /// weights if they fit.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged or memory does not suffice; [`Error::Parameter`] if
    /// a weight is too large for the precision.
    pub fn with_precision(&self, precision: Precision) -> Result<Self> {
        self.converted(&|pass| {
            let header = Header { precision, ..pass.header().clone() };
            Self::from_weight_results(header, pass.node_weights(), pass.edge_weights())
        })
    }

    /// Copies the model without the attribute weights whose absolute value is below a threshold,
    /// which the copy records among its options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the threshold is negative or not finite; [`Error::Model`] if the
    /// file is damaged or memory does not suffice.
    pub fn pruned(&self, threshold: f64) -> Result<Self> {
        if !(threshold.is_finite() && threshold >= 0.0) {
            let message = format!("the pruning threshold is {threshold}; expected 0 or more");
            return Err(Error::parameter(message));
        }
        self.converted(&|pass| {
            let mut header = pass.header().clone();
            let mut options = header.provenance.parsed_options();
            if let Some(fields) = options.as_object_mut() {
                let before = fields.get(PRUNE).and_then(Value::as_f64).unwrap_or(0.0);
                fields.insert(PRUNE.to_owned(), before.max(threshold).into());
                header.provenance.options = options.to_string();
            }
            Self::from_weight_results(
                header,
                pass.node_weights().map(|row| without_small(row, threshold)),
                pass.edge_weights().map(|row| without_small(row, threshold)),
            )
        })
    }

    /// Copies the model of each pass with `convert`, which leaves the first pass out.
    fn converted(&self, convert: &dyn Fn(&Self) -> Result<Self>) -> Result<Self> {
        let mut bytes = COPIES * self.as_bytes().len();
        for kind in [AttributeKind::Node, AttributeKind::Edge] {
            bytes +=
                self.weights(kind) * COPIED_WEIGHT + COPIES * self.table(kind).length_of_names()?;
        }
        check_memory(self.path(), bytes as u64, || "copying the model".to_owned())?;
        let copy = convert(self)?;
        match self.first_pass() {
            Some(first) => Self::combine(&copy, &first.converted(convert)?),
            None => Ok(copy),
        }
    }

    fn from_weight_results<N: AsRef<[u8]>, E: AsRef<[u8]>>(
        header: Header,
        nodes: impl Iterator<Item = Result<NodeWeights<N>>>,
        edges: impl Iterator<Item = Result<EdgeWeights<E>>>,
    ) -> Result<Self> {
        header.validate().map_err(Error::parameter)?;
        let k = header.labels.len();
        let node = |label: LabelId| Some(label.index()).filter(|&label| label < k);
        let edge = |[a, b]: [LabelId; 2]| Some(node(a)? * k + node(b)?);
        let nodes = table(AttributeKind::Node, &header, nodes, node)?;
        let edges = table(AttributeKind::Edge, &header, edges, edge)?;
        for table in [&nodes, &edges] {
            if let Some(name) = table.duplicate() {
                return Err(Error::parameter(format!(
                    "attribute '{}' occurs twice; expected each attribute once",
                    String::from_utf8_lossy(name)
                )));
            }
        }
        Self::build(header, [nodes, edges])
    }
}

/// Removes the weights whose absolute value is below a threshold.
fn without_small<N, T>(row: Result<Weights<N, T>>, threshold: f64) -> Result<Weights<N, T>> {
    let (name, mut weights) = row?;
    weights.retain(|(_, weight)| weight.abs() >= threshold);
    Ok((name, weights))
}

/// Collects attributes in a table. `position` is `None` for labels that do not exist.
fn table<N: AsRef<[u8]>, T>(
    kind: AttributeKind,
    header: &Header,
    attributes: impl Iterator<Item = Result<Weights<N, T>>>,
    position: impl Fn(T) -> Option<usize>,
) -> Result<TableBuilder> {
    let mut table = TableBuilder::new(kind, header.labels.len(), header.precision);
    for attribute in attributes {
        let (name, weights) = attribute?;
        let fault = |what: &str| {
            let name = String::from_utf8_lossy(name.as_ref());
            Error::parameter(format!("attribute '{name}' {what}"))
        };
        let entry = |(target, weight)| Some((position(target)? as u32, weight));
        let row: Option<Vec<(u32, f64)>> = weights.into_iter().map(entry).collect();
        let unknown = || fault("has a weight for a label that does not exist");
        let mut row = row.ok_or_else(unknown)?;
        row.sort_unstable_by_key(|&(position, _)| position);
        if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(fault("has two weights for the same label"));
        }
        table.push(name.as_ref(), row)?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Order;
    use crate::label::LabelSet;
    use crate::model::Precision;
    use crate::model::tests::PRECISIONS;

    fn header(precision: Precision) -> Header {
        let labels = LabelSet::try_from(["O", "B-X", "I-X"].map(str::to_owned).to_vec());
        Header { precision, ..Header::new(labels.unwrap()) }
    }

    fn label(i: u16) -> LabelId {
        LabelId(i)
    }

    #[test]
    fn a_model_of_the_weights_of_a_model_has_the_same_bits() {
        for precision in PRECISIONS {
            // dense and sparse tables, labels in any order
            for second in [vec![], vec![(label(2), 1.0 / 3.0), (label(1), -2.0)]] {
                let nodes = [
                    ("a", vec![(label(0), 0.1), (label(1), 0.2), (label(2), 0.3)]),
                    ("ü", second),
                    ("", vec![(label(1), 1e-3), (label(0), 0.0)]),
                ];
                let edges = [("e", vec![([label(2), label(1)], -0.7)])];
                let mut header = header(precision);
                header.label_weights.transitions[3] = 0.25;
                let model = Model::from_weights(header, nodes, edges).unwrap();
                let nodes = model.node_weights().collect::<Result<Vec<_>>>().unwrap();
                let edges = model.edge_weights().collect::<Result<Vec<_>>>().unwrap();
                assert_eq!(edges[0].0, b"e");
                assert_eq!(edges[0].1[0].0, [label(2), label(1)]);
                let copy = Model::from_weights(model.header().clone(), nodes, edges).unwrap();
                assert!(copy.as_bytes() == model.as_bytes());
            }
        }
    }

    #[test]
    fn a_copy_in_another_precision_has_the_same_weights() {
        let nodes = || [("a", vec![(label(0), 0.1)]), ("b", vec![(label(2), -2.5)])];
        let edges = || [("e", vec![([label(2), label(1)], 1.0 / 3.0)])];
        let model = |precision| Model::from_weights(header(precision), nodes(), edges()).unwrap();
        let [single, double] = [Precision::F32, Precision::F64].map(model);
        let copy = |model: &Model, precision| model.with_precision(precision).unwrap();
        assert!(copy(&double, Precision::F64).as_bytes() == double.as_bytes());
        assert!(copy(&double, Precision::F32).as_bytes() == single.as_bytes());
        let widened = copy(&single, Precision::F64);
        assert_eq!(widened.header().precision, Precision::F64);
        let first = widened.node_weights().next().unwrap().unwrap();
        assert_eq!(first, (&b"a"[..], vec![(label(0), f64::from(0.1_f32))]));

        let large = [("a", vec![(label(0), 1e300)])];
        let model = Model::from_weights(header(Precision::F64), large, edges()).unwrap();
        let error = model.with_precision(Precision::F32).unwrap_err().to_string();
        assert!(error.starts_with("attribute 'a' has the weight 1e300"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let fault = |name: &'static str, weights: &[(u16, f64)]| {
            let weights = weights.iter().map(|&(l, w)| (label(l), w)).collect();
            let nodes = [("a", vec![(label(0), 1.0)]), (name, weights)];
            let edges: [EdgeWeights<&str>; 0] = [];
            Model::from_weights(header(Precision::F32), nodes, edges).unwrap_err().to_string()
        };
        assert_eq!(
            fault("a", &[(1, 1.0)]),
            "attribute 'a' occurs twice; expected each attribute once"
        );
        assert_eq!(
            fault("b", &[(3, 1.0)]),
            "attribute 'b' has a weight for a label that does not exist"
        );
        assert_eq!(
            fault("b", &[(1, 1.0), (0, 1.0), (1, 2.0)]),
            "attribute 'b' has two weights for the same label"
        );
        assert!(fault("b", &[(1, f64::NAN)]).starts_with("attribute 'b' has the weight NaN"));
        assert!(fault("b", &[(1, 1e300)]).starts_with("attribute 'b' has the weight 1e300"));
        let of = |weight: f64| {
            let nodes = [("a", vec![(label(0), weight), (label(1), -1.0)])];
            let edges: [EdgeWeights<&str>; 0] = [];
            Model::from_weights(header(Precision::F16), nodes, edges)
        };
        assert!(of(65519.0).is_ok());
        let error = of(-65520.0).unwrap_err().to_string();
        assert!(error.contains("too large to be stored"), "{error}");
    }

    #[test]
    fn the_header_is_checked() {
        let none: [NodeWeights<&str>; 0] = [];
        let edges: [EdgeWeights<&str>; 0] = [];
        let mut header = header(Precision::F32);
        header.label_weights.start.pop();
        let error = Model::from_weights(header, none, edges).unwrap_err();
        let expected = "the number of transition or boundary weights does not match the labels";
        assert_eq!(error.to_string(), expected);
        assert_eq!(Header::new(LabelSet::new()).order, Order::One);
    }
}
