//! From a file of CRFsuite to the header and the tables of a model.

use super::features::FeatureKind;
use super::file::CrfsuiteFile;
use crate::error::{Error, Result};
use crate::label::LabelSet;
use crate::model::bytes::damaged;
use crate::model::format::{MAX_LABELS, Precision};
use crate::model::header::Header;
use crate::model::table::TableBuilder;

impl CrfsuiteFile<'_> {
    /// Converts the file to the header and the table of attributes of a model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is damaged, a label is not UTF-8, or a weight is not finite.
    pub fn convert(&self) -> Result<(Header, TableBuilder)> {
        let labels = self.read_labels()?;
        self.check_boundaries()?;
        let mut header = Header::new(labels);
        header.precision = Precision::F64;
        header.provenance.options = r#"{"converted_from":"CRFsuite"}"#.to_owned();
        let nodes = self
            .read_weights(&mut header.label_weights.transitions)
            .map_err(|what| damaged(self.path, &what))?;
        Ok((header, nodes))
    }

    fn read_labels(&self) -> Result<LabelSet> {
        let k = self.labels();
        if k == 0 || k > MAX_LABELS {
            let message = format!(
                "a CRFsuite model of {k} labels; expected at least one and at most {MAX_LABELS}"
            );
            return Err(Error::model(self.path, message));
        }
        let names: Result<Vec<String>> = (0..k).map(|id| self.read_label(id)).collect();
        LabelSet::try_from(names?).map_err(|error| damaged(self.path, &error.to_string()))
    }

    fn read_label(&self, id: usize) -> Result<String> {
        let name = self.label_names.get(id).ok_or_else(|| {
            let what = format!("the name of label {id} is not where it should be");
            damaged(self.path, &what)
        })?;
        String::from_utf8(name.to_vec()).map_err(|_| {
            let message = format!(
                "the name of label {id}, '{}', is not UTF-8; expected labels in UTF-8, so convert \
                 the training corpus and retrain the model",
                name.escape_ascii()
            );
            Error::model(self.path, message)
        })
    }

    /// Rejects lists of features beyond those of the labels: CRFsuite before 0.12 had features for
    /// the first and the last label of a sequence there.
    fn check_boundaries(&self) -> Result<()> {
        let lists = (self.labels()..self.of_labels.len()).map(|i| self.of_labels.get(i));
        let message = "the model has features for the first or last label of a sequence, as those \
                       of CRFsuite before 0.12; expected one without, so retrain it";
        match lists.flatten().all(<[_]>::is_empty) {
            true => Ok(()),
            false => Err(Error::model(self.path, message)),
        }
    }

    /// Reads the weights of label pairs, `[K][K]`, and of attributes; the error is a message.
    fn read_weights(&self, transitions: &mut [f64]) -> Result<TableBuilder, String> {
        let k = self.labels();
        let (mut row, mut features) = (Vec::new(), 0);
        for (label, weights) in transitions.chunks_exact_mut(k).enumerate() {
            let list = self
                .of_labels
                .get(label)
                .ok_or_else(|| format!("the features of label {label} lie outside of the file"))?;
            (self.features).collect(list, FeatureKind::Transition, label, k, &mut row)?;
            features += list.len();
            for &(next, weight) in &row {
                weights[next as usize] = weight;
            }
        }
        let mut nodes = TableBuilder::nodes(k, Precision::F64);
        let mut size = 0;
        for attribute in 0..self.attribute_names.len() {
            let name = self.attribute_names.get(attribute).ok_or_else(|| {
                format!("the name of attribute {attribute} is not where it should be")
            })?;
            // Crafted names could overlap and together take much more memory than the file.
            size += name.len();
            if size > self.attribute_names.size() {
                return Err("the names of attributes overlap".to_owned());
            }
            let list = self.of_attributes.get(attribute).ok_or_else(|| {
                format!("the features of attribute {attribute} lie outside of the file")
            })?;
            (self.features).collect(list, FeatureKind::State, attribute, k, &mut row)?;
            features += list.len();
            let pushed = nodes.push(name, row.drain(..));
            pushed.map_err(|error| error.to_string())?;
        }
        match nodes.duplicate() {
            Some(name) => Err(format!(
                "there are two attributes '{}'",
                String::from_utf8_lossy(name)
            )),
            None if features != self.features.len() => Err(format!(
                "it has {} features; its labels and attributes have {features}",
                self.features.len()
            )),
            None => Ok(nodes),
        }
    }
}
