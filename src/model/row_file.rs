//! Files of named rows of weights after a header of any kind: models that are no taggers.
//!
//! The file is one of [`super`] with another magic: its header is JSON, its node table has the
//! rows, and its edge table is empty.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
use super::file_contents::{self, assemble, check, sections};
use super::format::{AttributeKind, Magic, Precision, SECTIONS, TableInfo};
use super::table::{AttributeWeights, Table, TableBuilder, TableFormat};
#[cfg(feature = "train")]
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::fingerprint::key;
use crate::input_file::InputFile;

/// The largest number of columns: a position has 15 bits.
const MAX_COLUMNS: usize = 0x7fff;

/// Named rows of weights, with a header: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct RowFile {
    bytes: Bytes,
    columns: usize,
    precision: Precision,
    table: Table,
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
        let mut sections = Vec::from(builder.into_sections(slots));
        sections.resize(SECTIONS - 2, Vec::new());
        Ok(assemble(magic, &header, sections))
    }

    /// Reads a file with this magic into memory; also returns its header.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read; [`Error::Model`] if it is of another kind, is damaged,
    /// or memory does not suffice.
    pub fn open<H: DeserializeOwned>(path: impl AsRef<Path>, magic: &Magic) -> Result<(Self, H)> {
        let file = InputFile::open(path.as_ref(), file_contents::EXPECTED)?;
        Self::decode(file_contents::read(file, magic)?, magic)
    }

    /// Reads the contents of a file with this magic; also returns its header.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open).
    pub fn from_bytes<H: DeserializeOwned>(bytes: Vec<u8>, magic: &Magic) -> Result<(Self, H)> {
        Self::decode(Bytes::new(bytes, Path::new("model in memory")), magic)
    }

    fn decode<H: DeserializeOwned>(mut bytes: Bytes, magic: &Magic) -> Result<(Self, H)> {
        let sections = sections(bytes.path(), bytes.all(), magic)?;
        check(bytes.path(), bytes.all(), &sections)?;
        let [header, sums, sections @ ..] = sections;
        let header: RowHeader<H> = serde_json::from_slice(&bytes.all()[header])
            .map_err(|e| bytes.damaged(&format!("the header cannot be read: {e}")))?;
        if header.columns > MAX_COLUMNS {
            return Err(bytes.damaged("there are too many columns"));
        }
        let format = TableFormat {
            precision: header.precision,
            kind: AttributeKind::Node,
            labels: header.columns,
        };
        let sections = std::array::from_fn(|i| sections[i].clone());
        let table = Table::new(&header.table, format, sections);
        let table = table.map_err(|what| bytes.damaged(&what))?;
        bytes.set_blocks(sums)?;
        let file = Self { bytes, columns: header.columns, precision: header.precision, table };
        Ok((file, header.content))
    }

    /// Returns the path that the file was opened from.
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Returns the contents of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// Writes the file, atomically.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written.
    #[cfg(feature = "train")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_file::write(path, self.as_bytes())
    }

    /// Verifies the checksums of the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        self.bytes.get(self.table.slots_and_weights().start..self.bytes.len()).map(drop)
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
        let Some(weights) = self.row(name)? else {
            return Ok(false);
        };
        match weights.add_to(value, self.columns, scores) {
            true => Ok(true),
            false => Err(self.bytes.weight_without_label()),
        }
    }

    /// Iterates over the names, in the order in which they were encoded, with their rows.
    ///
    /// # Errors
    ///
    /// An item is [`Error::Model`] if the file is damaged there.
    pub fn rows(&self) -> impl Iterator<Item = Result<NamedRow<&[u8]>>> {
        (0..self.table.len()).map(|i| {
            let name = self.table.names().get(&self.bytes, i)?;
            let weights = self.row(name)?;
            let weights = weights.ok_or_else(|| self.bytes.damaged("a name has no weights"))?;
            let mut row = Vec::new();
            weights.for_each(|column, weight| row.push((column as u32, weight)));
            row.retain(|&(_, weight)| weight != 0.0);
            match row.iter().all(|&(column, _)| (column as usize) < self.columns) {
                true => Ok((name, row)),
                false => Err(self.bytes.weight_without_label()),
            }
        })
    }

    fn row(&self, name: &[u8]) -> Result<Option<AttributeWeights<'_>>> {
        let location =
            (self.table).find(&self.bytes, key(self.table.fingerprinter().fingerprint(name)))?;
        let at = |location| self.table.weights_at(&self.bytes, location);
        location.map(at).transpose()
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
