//! Documents with a class: files of one document per line, of ready-made features, of one document
//! each.

mod header;
mod instance;
mod line;
mod reader;
mod table;

pub use instance::{Instance, InstanceContent, InstanceFormat, InstanceReadOptions};
pub use reader::InstanceReader;
