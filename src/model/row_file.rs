//! Files of named rows of weights after a header of any kind: models that are no taggers.
//!
//! The file is one of [`super`] with another magic: its header is JSON, its node table has the
//! rows, and its edge table is empty.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::container::Container;
use super::format::{AttributeKind, Magic, Precision, TableInfo};
use super::table::{AttributeTable, TableBuilder, TableFormat, TableLayout, WeightLocation};
use crate::error::{Error, Result};
use crate::fingerprint::key;

/// The largest number of columns: a position has 15 bits.
const MAX_COLUMNS: usize = 0x7fff;

/// Named rows of weights, with a header: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct RowFile {
    file: Container,
    columns: usize,
    precision: Precision,
    table: TableLayout,
}

/// The header of a file: the shape of the rows, and what a kind of models adds.
#[derive(Debug, Serialize, Deserialize)]
struct RowHeader<H> {
    columns: usize,
    precision: Precision,
    table: TableInfo,
    content: H,
}

/// A name with its weights that are not 0, by column.
pub type NamedRow<N> = (N, Vec<(u32, f64)>);

impl RowFile {
    /// Encodes rows of so many columns, whose names must be distinct. Columns of a row ascend;
    /// weights of 0 and rows without others are omitted.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are too many columns, or a weight is too large for the
    /// precision.
    pub fn encode<N: AsRef<[u8]>>(
        magic: &Magic,
        header: &impl Serialize,
        (columns, precision): (usize, Precision),
        rows: impl IntoIterator<Item = NamedRow<N>>,
    ) -> Result<Vec<u8>> {
        if columns > MAX_COLUMNS {
            return Err(Error::parameter(format!(
                "{columns} columns of weights; expected at most {MAX_COLUMNS}"
            )));
        }
        let mut builder = TableBuilder::nodes(columns, precision);
        for (name, row) in rows {
            builder.push(name.as_ref(), row)?;
        }
        let mut seeds = (0..).filter_map(|seed| Some((seed, builder.slots(seed)?)));
        let (seed, slots) = seeds.next().expect("there is no last seed");
        let table = builder.info(seed)?;
        let header = serde_json::to_vec(&RowHeader { columns, precision, table, content: header });
        let header = header.map_err(|e| Error::parameter(format!("cannot write a header: {e}")))?;
        Ok(Container::encode(magic, &header, builder.into_sections(slots).into()))
    }

    /// Reads a file with this magic into memory; also returns its header.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read; [`Error::Model`] if it is of another kind, is damaged,
    /// or memory does not suffice.
    pub fn open<H: DeserializeOwned>(path: impl AsRef<Path>, magic: &Magic) -> Result<(Self, H)> {
        Self::decode(Container::open(path, magic)?)
    }

    /// Reads the contents of a file with this magic; also returns its header.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open).
    pub fn from_bytes<H: DeserializeOwned>(bytes: Vec<u8>, magic: &Magic) -> Result<(Self, H)> {
        Self::decode(Container::from_bytes(bytes, magic)?)
    }

    fn decode<H: DeserializeOwned>(file: Container) -> Result<(Self, H)> {
        let header: RowHeader<H> = serde_json::from_slice(file.header())
            .map_err(|e| file.damaged(&format!("the header cannot be read: {e}")))?;
        if header.columns > MAX_COLUMNS {
            return Err(file.damaged("there are too many columns"));
        }
        let format = TableFormat {
            precision: header.precision,
            kind: AttributeKind::Node,
            labels: header.columns,
        };
        let sections = std::array::from_fn(|i| file.sections()[2 + i].clone());
        let table = TableLayout::new(&header.table, format, sections);
        let table = table.map_err(|what| file.damaged(&what))?;
        let file = Self { file, columns: header.columns, precision: header.precision, table };
        Ok((file, header.content))
    }

    /// Returns the path that the file was opened from.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the contents of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.file.as_bytes()
    }

    /// Writes the file, atomically.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written.
    #[cfg(feature = "train")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.file.save(path)
    }

    /// Verifies the checksums of the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns how weights are stored.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Adds the row of a name, times `value`, to scores, `[columns]`. Returns whether there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    ///
    /// # Panics
    ///
    /// If `scores` has another length.
    pub fn add_row(&self, name: &[u8], value: f64, scores: &mut [f64]) -> Result<bool> {
        assert_eq!(scores.len(), self.columns, "scores are [columns]");
        let Some(location) = self.find(name)? else {
            return Ok(false);
        };
        let rows = self.table().rows();
        rows.add(&[(rows.locate(location)?, value)], self.columns, scores)?;
        Ok(true)
    }

    /// Iterates over the names, in the order in which they were encoded, with their rows.
    ///
    /// # Errors
    ///
    /// An item is [`Error::Model`] if the file is damaged there.
    pub fn rows(&self) -> impl Iterator<Item = Result<NamedRow<&[u8]>>> {
        (0..self.table().len()).map(|i| {
            let name = self.table().name(i)?;
            let location = self.find(name)?;
            let location = location.ok_or_else(|| self.table().name_without_weights())?;
            let mut row = Vec::new();
            self.table()
                .weights_at(location)?
                .for_each(|column, weight| row.push((column as u32, weight)))?;
            row.retain(|&(_, weight)| weight != 0.0);
            Ok((name, row))
        })
    }

    fn table(&self) -> AttributeTable<'_> {
        AttributeTable { layout: &self.table, file: &self.file }
    }

    fn find(&self, name: &[u8]) -> Result<Option<WeightLocation>> {
        self.table().find(key(self.table.fingerprinter().fingerprint(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: &Magic = b"DROPXYZ\n";

    fn rows() -> Vec<NamedRow<&'static str>> {
        vec![
            ("b", vec![(0, 1.5), (1, 0.0), (2, -0.25)]),
            ("zero", vec![(1, 0.0)]),
            ("ä", vec![(1, 0.1)]),
        ]
    }

    fn encoded() -> Vec<u8> {
        RowFile::encode(MAGIC, &"header", (3, Precision::F64), rows()).unwrap()
    }

    #[test]
    fn rows_come_back_without_zeros_and_in_order() {
        let (file, header): (RowFile, String) = RowFile::from_bytes(encoded(), MAGIC).unwrap();
        assert_eq!((&*header, file.columns()), ("header", 3));
        assert_eq!(file.precision(), Precision::F64);
        file.verify().unwrap();
        let rows = file.rows().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(rows[0], (&b"b"[..], vec![(0, 1.5), (2, -0.25)]));
        assert_eq!(rows[1], ("ä".as_bytes(), vec![(1, 0.1)]));
        assert_eq!(rows.len(), 2);
        let mut scores = [1.0; 3];
        assert!(file.add_row(b"b", 2.0, &mut scores).unwrap());
        assert!(!file.add_row(b"zero", 2.0, &mut scores).unwrap());
        assert_eq!(scores, [4.0, 1.0, 0.5]);
    }

    #[test]
    fn files_of_another_kind_and_damaged_ones_are_errors() {
        let error = |bytes: Vec<u8>, magic: &Magic| {
            let file = RowFile::from_bytes::<String>(bytes, magic);
            file.and_then(|(file, _)| file.verify()).unwrap_err().to_string()
        };
        let message = error(encoded(), b"DROPABC\n");
        let expected = "a file of another kind (it begins with DROPXYZ, not DROPABC)";
        assert!(message.contains(expected), "{message}");
        let message = crate::Model::from_bytes(encoded()).unwrap_err().to_string();
        assert!(message.contains("DROPXYZ, not DROPCRF"), "{message}");
        let (length, step) = (encoded().len(), 7);
        for at in (8..length).step_by(step) {
            let mut bytes = encoded();
            bytes[at] ^= 0x10;
            error(bytes, MAGIC);
        }
        for end in (0..length).step_by(step) {
            error(encoded()[..end].to_vec(), MAGIC);
        }
    }
}
