//! A number of a description that is out of its range.

/// A number that is out of its range, without the name of the link or source it belongs to.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("{what} is {value}; expected {expected}")]
pub struct OutOfRange {
    /// Name of the field.
    pub what: &'static str,
    /// Value of the field.
    pub value: f64,
    /// The values the field may have.
    pub expected: &'static str,
}

/// An error unless `within`.
pub(super) fn check(within: bool, what: &'static str, value: f64, expected: &'static str) -> Result<(), OutOfRange> {
    if within { Ok(()) } else { Err(OutOfRange { what, value, expected }) }
}
