//! The crate from outside: lint, conversion and reading, on files of our writer and recorder, on
//! hostile ones, and on traces recorded by many implementations where they are at hand.

mod completeness;
mod convert;
mod disorder;
mod drawn;
mod encodings;
mod lint_framings;
mod lint_hostile;
mod lint_recorded;
mod lint_rules;
mod lint_traces;
mod order;
mod paths;
mod pseudonyms;
mod read_recorded;
mod reference;
