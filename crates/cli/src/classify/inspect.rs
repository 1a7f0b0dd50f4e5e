//! `dropchain classify inspect`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::Result;
use dropchain::classify::Classifier;
use serde_json::{Map, Value, json};

use crate::CommandResult;
use crate::inspect::TopAttributes;
use crate::outputs::CommandFiles;
use crate::{json_line, print};

/// Show what a classifier has learned: its features, the strongest ones of each class
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify inspect reviews.model
  dropchain classify inspect reviews.model --top 50 --json

`dropchain inspect` shows the same model as a tagger of order 0: sizes, options, single features.")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of features to print per class
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        let classifier = Classifier::open(&self.model)?;
        let model = classifier.model();
        model.verify()?;
        let top = TopAttributes::find(model, self.top)?;
        let value = self.json(&classifier, &top);
        print(&match self.json {
            true => json_line(&value)?,
            false => text(&value)?,
        })
    }

    fn json(&self, classifier: &Classifier, top: &TopAttributes) -> Value {
        let header = classifier.model().header();
        let units = classifier.hidden_units();
        let classes = classifier.classes().iter().zip(classifier.biases());
        let classes = classes.enumerate().map(|(number, (class, bias))| {
            let features = match &units[..] {
                [] => features(&top.nodes[number]),
                _ => Vec::new(), // those of its units
            };
            let value = json!({"bias": bias, "features": features});
            (class.clone(), value)
        });
        let classes: Map<String, Value> = classes.collect();
        let mut value = json!({
            "documents": header.provenance.sentences,
            "features": classifier.features(),
            "multiclass": classifier.multiclass(),
            "loss": header.provenance.training_options().get("loss"),
            "classes": classes,
        });
        if !units.is_empty() {
            let units = units.iter().zip(&top.nodes).map(|(unit, nodes)| {
                json!({"class": unit.class, "weight": unit.weight, "bias": unit.bias,
                       "features": features(nodes)})
            });
            value["hidden_units"] = units.collect();
        }
        value
    }
}

/// Returns features with their weights.
fn features(features: &[(f64, String)]) -> Vec<Value> {
    let features = features.iter();
    let features = features.map(|(weight, name)| json!({"feature": name, "weight": weight}));
    features.collect()
}

/// Returns a text for people.
fn text(value: &Value) -> Result<String> {
    let mut text = format!("trained on {} documents\n", value["documents"]);
    let features = match &value["features"] {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields: Vec<String> = fields
                .map(|(name, value)| match value {
                    Value::String(text) => format!("{name} {text}"),
                    Value::Object(range) => {
                        format!("{name} {}..{}", range["shortest"], range["longest"])
                    }
                    other => format!("{name} {other}"),
                })
                .collect();
            fields.join(", ")
        }
        _ => "ready-made".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "features: {features}");
    let loss = &value["loss"];
    let keyed = loss.as_object().and_then(|fields| fields.keys().next());
    if let Some(name) = loss.as_str().or(keyed.map(String::as_str)) {
        let _ = writeln!(text, "loss: {name}");
    }
    for (class, content) in value["classes"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "\n{class}");
        write_weights(&mut text, content);
    }
    let units = value["hidden_units"].as_array();
    for (number, unit) in units.into_iter().flatten().enumerate() {
        let class = unit["class"].as_str().unwrap_or_default();
        let weight = unit["weight"].as_f64().unwrap_or_default();
        let _ = writeln!(
            text,
            "\nhidden unit {}: {weight:.4} for {class}",
            number + 1
        );
        write_weights(&mut text, unit);
    }
    Ok(text)
}

/// Writes the bias and the strongest features of a class or a hidden unit.
fn write_weights(text: &mut String, content: &Value) {
    let bias = content["bias"].as_f64().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{bias:10.4}  (bias)");
    for feature in content["features"].as_array().into_iter().flatten() {
        let weight = feature["weight"].as_f64().unwrap_or_default();
        let name = feature["feature"].as_str().unwrap_or_default();
        let _ = writeln!(text, "{weight:10.4}  {name}");
    }
}
