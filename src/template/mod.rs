//! Feature templates, which determine the attributes of a token.
//!
//! Each line of a template file describes features of the context of a token; `docs/templates.md`
//! is the reference of the language. [`Template::parse`] parses a file, [`Template::learn`] learns
//! the parts that depend on the training data, and [`Template::bind`] resolves the columns of a
//! corpus. The resulting [`Extractor`] passes the attributes of a token to an [`AttributeSink`]:
//!
//! ```
//! use dropchain::Sentence;
//! use dropchain::sentence::Schema;
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
//! | text → lines, tokens | `parser`, `syntax` |
//! | tokens → [`Template`] | `parser`, `pattern_parser`, `calls` |
//! | parsed templates | `ast` |
//! | files that templates refer to | `resources`, `lexicon` (phrases, clusters), `vectors` |
//! | lines of a file → its kind; what is stored of it | `resource_kind`; `resource_text` |
//! | what is learned from the training data | `shape`, `caseless` |
//! | [`Template`] + columns → [`Extractor`] | `bind` |
//! | sentence → values | `extractor`, `evaluate`, `text_function`, `document` |
//! | values → [`Attribute`]s | `attribute` |
//! | what is memoized | `workspace` |
//! | lines that a tagger sums together | `bundle` |
//! | attribute → template line, words | `attribute_lines`, `wording` |
//! | what has no effect on the training data | `unmatched` |
//! | labels → built-in template | `by_labels` |

mod ast;
mod attribute;
pub(crate) mod attribute_lines;
mod bind;
mod bundle;
mod by_labels;
mod calls;
mod caseless;
mod document;
mod evaluate;
pub(crate) mod extractor;
mod lexicon;
mod parser;
mod pattern_parser;
mod resource_kind;
mod resource_text;
mod resources;
mod shape;
mod syntax;
mod template_file;
pub(crate) mod text;
mod text_function;
#[cfg(feature = "train")]
mod unmatched;
mod vectors;
mod wording;
pub(crate) mod workspace;

#[cfg(test)]
mod tests;

pub use ast::ColumnRef;
pub use attribute::{Attribute, AttributeSink};
pub(crate) use extractor::{BundleSink, Extractor};
pub use resource_kind::ResourceKind;
pub use resource_text::{cluster_lines, phrase_lines};
pub use template_file::Template;
pub(crate) use workspace::BundleKey;
pub use workspace::Workspace;
