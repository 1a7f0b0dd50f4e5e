//! Feature templates, which determine the attributes of a token.
//!
//! Each line of a template file describes features of the context of a token; `docs/templates.md`
//! is the reference of the language. [`Template::parse`] parses a file, [`Template::learn`] learns
//! the parts that depend on the training data, and [`Template::bind`] resolves the columns of a
//! corpus. The resulting [`Extractor`] passes the attributes of a token to an [`AttributeSink`]:
//!
//! ```
//! use dropchain::Sentence;
//! use dropchain::corpus::Schema;
//! use dropchain::template::{Attribute, AttributeSink, Template, Workspace};
//!
//! struct Names(Vec<u8>);
//! impl AttributeSink for Names {
//!     fn node(&mut self, attribute: &Attribute<'_>, _value: f64) {
//!         attribute.write(&mut self.0);
//!         self.0.push(b' ');
//!     }
//!     fn edge(&mut self, _attribute: &Attribute<'_>, _value: f64) {}
//! }
//!
//! let source = "word\nword[-1] & shape(collapsed)\n";
//! let template = Template::parse(source, "my.tpl", &mut |_| unreachable!())?;
//! let extractor = template.bind(&Schema::words())?;
//! let sentence = Sentence::from_words(["in", "London"]);
//! let (mut workspace, mut sink) = (Workspace::default(), Names(Vec::new()));
//! extractor.prepare(&sentence, &mut workspace)?;
//! extractor.extract(&sentence, 1, &mut workspace, &mut sink);
//! assert_eq!(sink.0, b"word[0]=London word[-1]|shape(collapsed)[0]=in|Xx ");
//! # Ok::<(), dropchain::Error>(())
//! ```
//!
//! Characters are grapheme clusters throughout and are never split.
//!
//! The stages, and the files that implement them:
//!
//! | stage | files |
//! |---|---|
//! | text → [`Template`] | `lines`, `lexer`, `parser`, `arguments`, `calls`, `pattern_parser` |
//! | what a document is | `document_line` |
//! | parsed templates | `ast`, `template_function`, `input`, `pattern`, `source_regex` |
//! | files that templates refer to | `resources`, `lexicon`, `clusters`, `vectors` |
//! | what is learned from the training data | `mined`, `shape`, `caseless` |
//! | [`Template`] + columns → [`Extractor`] | `bind`, `compiled`, `bound_function` |
//! | sentence → [`Attribute`]s | `extractor`, `evaluation_plan`, `evaluate`, `workspace` |
//! | a line's attributes; which a tagger sums together | `combinations`; `bundle`, `bundle_key` |
//! | attribute → template line | `attribute_lines` |
//! | document → values | `others`, `mention`, `forms`, `run`, `document_state` |

mod arguments;
mod ast;
mod attribute;
mod attribute_lines;
mod bind;
mod bound_function;
mod bundle;
mod bundle_key;
mod calls;
mod caseless;
mod clusters;
mod combinations;
mod compiled;
mod document_line;
mod document_state;
mod evaluate;
mod evaluation_plan;
mod extractor;
mod forms;
mod input;
mod lexer;
mod lexicon;
mod line_options;
mod lines;
mod mention;
mod mined;
mod name_context;
mod others;
mod parser;
mod pattern;
mod pattern_parser;
mod resources;
mod run;
mod shape;
mod shipped;
mod source_regex;
mod syntax;
mod template_file;
mod template_function;
mod text;
mod vectors;
mod wapiti_regex;
mod word_learner;
mod workspace;

#[cfg(test)]
mod tests;

pub use attribute::Attribute;
pub use attribute_lines::AttributeLines;
pub use bundle_key::BundleKey;
#[doc(hidden)]
pub use caseless::CaselessExtractor;
pub use extractor::BundleSink;
pub use extractor::{AttributeSink, Extractor};
pub use input::ColumnRef;
#[doc(hidden)]
pub use line_options::{LineAmount, LineGroup, LineOptions};
pub use template_file::Template;
pub use text::edit_distance;
pub use workspace::Workspace;
