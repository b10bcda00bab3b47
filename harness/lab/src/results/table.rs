//! A table: named columns of equal length, and its CSV form.

use std::borrow::Cow;

use crate::output::StoreError;

/// A table of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, and stem of its file.
    pub name: &'static str,
    /// The columns, all of one length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name; ends in its unit where it has one.
    pub name: Cow<'static, str>,
    /// The cells, one for each row; `None` for a missing value.
    pub values: Values,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Texts, UTF-8; `None` is an empty cell.
    Text(Vec<Option<String>>),
    /// Whole numbers, 0 or more.
    Count(Vec<Option<u64>>),
    /// Numbers, in the unit that the name of the column ends in.
    Number(Vec<Option<f64>>),
}

impl Values {
    /// Number of cells in the column.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Text(cells) => cells.len(),
            Values::Count(cells) => cells.len(),
            Values::Number(cells) => cells.len(),
        }
    }

    /// Whether the column has no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Values::Text(cells) => cells[row].clone(),
            Values::Count(cells) => cells[row].map(|x| x.to_string()),
            Values::Number(cells) => cells[row].map(|x| x.to_string()),
        }
        .unwrap_or_default()
    }
}

impl Table {
    /// A table of that name, without columns.
    #[must_use]
    pub fn new(name: &'static str) -> Table {
        Table { name, columns: Vec::new() }
    }

    /// Adds a column of words.
    #[must_use]
    pub fn text(self, name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = Option<String>>) -> Table {
        self.with(name.into(), Values::Text(cells.collect()))
    }

    /// Adds a column of counts.
    #[must_use]
    pub fn count(self, name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = Option<u64>>) -> Table {
        self.with(name.into(), Values::Count(cells.collect()))
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number(self, name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = Option<f64>>) -> Table {
        self.with(name.into(), Values::Number(cells.collect()))
    }

    fn with(mut self, name: Cow<'static, str>, values: Values) -> Table {
        self.columns.push(Column { name, values });
        self
    }

    /// Number of rows, which is the length of the first column.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The table as CSV (`RFC 4180`): a header, then the rows; a missing value is an
    /// empty cell.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write_csv(&self, out: impl std::io::Write) -> Result<(), csv::Error> {
        let mut csv = csv::Writer::from_writer(out);
        self.write_head(&mut csv)?;
        self.write_rows(&mut csv)?;
        csv.flush()?;
        Ok(())
    }

    pub(super) fn write_head(&self, csv: &mut csv::Writer<impl std::io::Write>) -> Result<(), csv::Error> {
        csv.write_record(self.columns.iter().map(|column| column.name.as_bytes()))
    }

    pub(super) fn write_rows(&self, csv: &mut csv::Writer<impl std::io::Write>) -> Result<(), csv::Error> {
        (0..self.rows()).try_for_each(|row| csv.write_record(self.columns.iter().map(|column| column.values.cell(row))))
    }

    /// The bytes of [`Table::write_csv`].
    ///
    /// # Errors
    /// A cell cannot be written.
    pub fn csv(&self) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let table = format!("{}.csv", self.name);
        self.write_csv(&mut bytes).map_err(|error| StoreError::Table { table, reason: error.to_string() })?;
        Ok(bytes)
    }
}
