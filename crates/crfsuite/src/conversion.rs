//! From a file of CRFsuite to a model.

use dropchain::kernel::ids::LabelId;
use dropchain::kernel::model::MAX_LABELS;
use dropchain::label::{LabelSet, Labeling, SchemeDetector};
use dropchain::model::{EdgeWeights, Header, Precision};
use dropchain::{Error, Model, Result};

use super::damaged;
use super::file::{CrfsuiteFile, STATE, TRANSITION};

/// The name of an attribute, its weights and the number of its features.
type Attribute<'a> = (&'a [u8], Vec<(LabelId, f64)>, usize);

/// Returns how labels are read by their names alone. Their order is not known, so the rules of the
/// scheme are not enforced, and CRFsuite's predictions stay as they are.
fn labeling(labels: &LabelSet) -> Labeling {
    let mut detector = SchemeDetector::new();
    detector.observe_partial(&[labels.names().to_vec()], |_| None);
    let detected = detector.detected();
    match detected.labeling.scheme.has_spans() && detected.strays.is_empty() {
        true => Labeling { strict: false, ..detected.labeling },
        false => Labeling::default(),
    }
}

impl<'a> CrfsuiteFile<'a> {
    /// Converts the file to a model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is damaged, a label is not UTF-8, or a weight is not finite.
    pub fn convert(&self) -> Result<Model> {
        let labels = self.read_labels()?;
        self.check_boundaries()?;
        let mut header = Header::new(labels);
        header.precision = Precision::F64;
        header.labeling = labeling(&header.labels);
        header.corpus_labeling = header.labeling.clone();
        header.provenance.options = r#"{"converted_from":"CRFsuite"}"#.to_owned();
        let fault = |what: String| damaged(self.path, &what);
        let of_labels = self.read_transitions(&mut header.label_weights.transitions);
        let mut features = of_labels.map_err(fault)?;
        let mut failure = None;
        let mut size = 0;
        let attributes = (0..self.attribute_names.offsets.len()).map_while(|attribute| {
            let read = self.read_attribute(attribute, &mut size);
            let (name, weights, count) = read.map_err(|what| failure = Some(what)).ok()?;
            features += count;
            Some((name, weights))
        });
        let model = Model::from_weights(header, attributes, [] as [EdgeWeights<&[u8]>; 0]);
        if let Some(what) = failure {
            return Err(fault(what));
        }
        let count = self.features.len();
        if features != count {
            return Err(fault(format!(
                "it has {count} features; its labels and attributes have {features}"
            )));
        }
        model.map_err(|error| fault(error.to_string()))
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
        let absent = || format!("the name of label {id} is not where it should be");
        let name = self.label_names.get(id).ok_or_else(|| damaged(self.path, &absent()))?;
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
        let lists = self.labels()..self.of_labels.len();
        let lists = lists.map(|i| self.list(self.of_labels, i));
        let message = "the model has features for the first or last label of a sequence, as those \
                       of CRFsuite before 0.12; expected one without, so retrain it";
        match lists.flatten().all(<[_]>::is_empty) {
            true => Ok(()),
            false => Err(Error::model(self.path, message)),
        }
    }

    /// Reads the weights of label pairs, `[K][K]`; returns the number of their features. The error
    /// is a message.
    fn read_transitions(&self, transitions: &mut [f64]) -> Result<usize, String> {
        let k = self.labels();
        let (mut row, mut features) = (Vec::new(), 0);
        for (label, weights) in transitions.chunks_exact_mut(k).enumerate() {
            let list = self
                .list(self.of_labels, label)
                .ok_or_else(|| format!("the features of label {label} lie outside of the file"))?;
            self.collect(list, TRANSITION, label, &mut row)?;
            features += list.len();
            for &(next, weight) in &row {
                weights[next.index()] = weight;
            }
        }
        Ok(features)
    }

    /// Reads an attribute; returns its name, its weights and the number of its features. `size` is
    /// that of all names so far. The error is a message.
    fn read_attribute(&self, attribute: usize, size: &mut usize) -> Result<Attribute<'a>, String> {
        let name = self.attribute_names.get(attribute).ok_or_else(|| {
            format!("the name of attribute {attribute} is not where it should be")
        })?;
        // Crafted names could overlap and together take much more memory than the file.
        *size += name.len();
        if *size > self.attribute_names.database.len() {
            return Err("the names of attributes overlap".to_owned());
        }
        let list = self.list(self.of_attributes, attribute).ok_or_else(|| {
            format!("the features of attribute {attribute} lie outside of the file")
        })?;
        let mut row = Vec::new();
        self.collect(list, STATE, attribute, &mut row)?;
        Ok((name, row, list.len()))
    }
}
