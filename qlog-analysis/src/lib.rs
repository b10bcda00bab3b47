//! Reads qlog, says what is wrong with it, measures it.

pub mod lint;
