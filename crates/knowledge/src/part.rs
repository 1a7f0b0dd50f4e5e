//! One file or clustering, and the template lines that use it.

use dropchain::sentence::SourceFile;
use serde::Serialize;

/// Lengths of the prefixes of cluster paths, and the positions around the token; see
/// `docs/knowledge.md` for what they gain.
const CLUSTER_PREFIXES: &str = "4, 6, 10, 20";
const NEIGHBORS: [&str; 3] = ["", "[-1]", "[+1]"];

/// Target of the root mean square of the components of vectors, which are scaled to it.
const VECTOR_SIZE: f64 = 0.5;

/// Vectors whose components are measured.
const MEASURED_VECTORS: usize = 1000;

/// The kind of a [`KnowledgePart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KnowledgeKind {
    /// Brown clusters.
    Clusters,
    /// Word vectors.
    Vectors,
    /// A list of names.
    Gazetteer,
}

impl KnowledgeKind {
    /// Describes the kind in messages.
    pub fn description(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Vectors => "vectors",
            Self::Gazetteer => "a gazetteer",
        }
    }
}

/// A file, or clusters learned from files, and how the template uses it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnowledgePart {
    /// The kind of knowledge.
    #[serde(rename = "role")]
    pub kind: KnowledgeKind,
    /// Name in the template and in the names of attributes.
    pub name: String,
    /// The files as the user named them.
    pub files: Vec<String>,
    /// Number of bytes that were read of vectors; of others, that the template stores.
    pub bytes: usize,
    /// Number of clusters, if they were learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// Number of different words that clusters were learned of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// Number of tokens that clusters were learned from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The terms of the template that look words up.
    pub terms: Vec<String>,
    /// Says what of the file is read, if not all.
    #[serde(skip)]
    pub(super) note: String,
    #[serde(skip)]
    pub(super) text: String,
    /// The files with their checksums.
    #[serde(skip)]
    pub(super) sources: Vec<SourceFile>,
}

impl KnowledgePart {
    /// Creates the part for the text of files, of which `vectors` vectors are used.
    pub(super) fn new(
        kind: KnowledgeKind,
        name: String,
        sources: Vec<SourceFile>,
        text: String,
        vectors: usize,
    ) -> Self {
        let quoted = name.replace('\\', r"\\").replace('"', r#"\""#);
        let call = match kind {
            KnowledgeKind::Clusters => format!("cluster(\"{quoted}\", {CLUSTER_PREFIXES})"),
            KnowledgeKind::Vectors => {
                let scale = vector_scale(&text);
                format!("vector(\"{quoted}\", first({vectors}), scale({scale}))")
            }
            KnowledgeKind::Gazetteer => format!("lexicon(\"{quoted}\")"),
        };
        let mut terms = NEIGHBORS.map(|position| format!("{call}{position}")).to_vec();
        if kind == KnowledgeKind::Gazetteer {
            terms.push(format!("lexicon(\"{quoted}\", lower)"));
        }
        Self {
            kind,
            files: sources.iter().map(ToString::to_string).collect(),
            sources,
            bytes: text.len(),
            clusters: None,
            words: None,
            tokens: None,
            terms,
            note: String::new(),
            name,
            text,
        }
    }

    /// Describes where it comes from.
    pub fn description(&self) -> String {
        let files = self.files.join(" ").replace(['\n', '\r'], " ");
        match (self.clusters, self.words, self.tokens) {
            (Some(clusters), Some(words), Some(tokens)) => format!(
                "{clusters} clusters of {words} words, learned from {tokens} tokens of {files}"
            ),
            _ => {
                let (kind, bytes, note) = (self.kind.description(), self.bytes, &self.note);
                format!("{kind} of {files} ({bytes} bytes{note})")
            }
        }
    }

    /// Returns the lines to add to a template: a comment that says where it comes from, and a line
    /// for each term.
    pub(super) fn lines(&self) -> String {
        format!("\n# {}\n{}\n", self.description(), self.terms.join("\n"))
    }
}

/// Returns the factor that gives the components of the first vectors a root mean square of
/// [`VECTOR_SIZE`], with two digits; 1 if there are no numbers.
fn vector_scale(text: &str) -> f64 {
    let lines = text.lines().filter(|line| line.split_whitespace().count() > 2);
    let (mut sum, mut count) = (0.0, 0.0);
    for line in lines.take(MEASURED_VECTORS) {
        let numbers = line.split_whitespace().skip(1);
        for number in numbers.filter_map(|number| number.parse::<f64>().ok()) {
            sum += number * number;
            count += 1.0;
        }
    }
    let size = (sum / f64::max(count, 1.0)).sqrt();
    let scale: f64 = format!("{:.1e}", VECTOR_SIZE / size).parse().unwrap_or(1.0);
    if scale.is_finite() && (1e-3..=1e3).contains(&scale) { scale } else { 1.0 }
}
