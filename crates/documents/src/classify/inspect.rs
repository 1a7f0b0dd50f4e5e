//! What a classifier has learned, for people and programs.

use std::fmt::Write as _;

use dropchain::error::Result;
use serde_json::{Map, Value, json};

use super::classifier::Classifier;

/// Returns what a classifier has learned, as JSON: options, and for each class, or hidden unit, its
/// bias and its `top` features with the largest absolute weights, by weight.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn inspection(classifier: &Classifier, top: usize) -> Result<Value> {
    let header = classifier.header();
    let units = classifier.hidden_units();
    let columns = strongest(classifier, top)?;
    let classes = classifier.classes().iter().zip(classifier.biases());
    let classes = classes.enumerate().map(|(number, (class, bias))| {
        let features = match &units[..] {
            [] => columns[number].clone(),
            _ => Vec::new(), // those of its units
        };
        (class.clone(), json!({"bias": bias, "features": features}))
    });
    let classes: Map<String, Value> = classes.collect();
    let mut value = json!({
        "documents": header.documents,
        "features": header.features,
        "multiclass": header.multiclass,
        "loss": header.loss,
        "classes": classes,
        "options": header.options,
        "result": header.result,
    });
    if !units.is_empty() {
        let units = units.iter().zip(&columns).map(|(unit, features)| {
            json!({"class": unit.class, "weight": unit.weight, "bias": unit.bias,
                   "features": features})
        });
        value["hidden_units"] = units.collect();
    }
    Ok(value)
}

/// Returns the strongest features of each class, or of each hidden unit.
fn strongest(classifier: &Classifier, top: usize) -> Result<Vec<Vec<Value>>> {
    let is_binary = classifier.file().columns() == 1 && classifier.hidden_units().is_empty();
    let lists = if is_binary {
        2
    } else {
        classifier.file().columns()
    };
    let mut lists: Vec<Vec<(f64, String)>> = vec![Vec::new(); lists];
    for row in classifier.file().rows() {
        let (name, row) = row?;
        let name = || String::from_utf8_lossy(name).into_owned();
        for (column, weight) in row {
            if is_binary {
                // The scores of the classes are ∓½·f.
                lists[0].push((-0.5 * weight, name()));
                lists[1].push((0.5 * weight, name()));
            } else {
                lists[column as usize].push((weight, name()));
            }
        }
    }
    let strongest = lists.into_iter().map(|mut list| {
        list.sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
        list.truncate(top);
        list.sort_by(|(x, _), (y, _)| y.total_cmp(x));
        let features = list.into_iter();
        let features = features.map(|(weight, name)| json!({"feature": name, "weight": weight}));
        features.collect()
    });
    Ok(strongest.collect())
}

/// Returns an [`inspection`] as text for people.
#[must_use]
pub fn inspection_text(value: &Value) -> String {
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
    text
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
