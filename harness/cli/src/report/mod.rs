//! Reports: self-contained HTML pages that ask the network for nothing.
//!
//! `frame` is what all of them share. Each page embeds its data and builds its tables and
//! plots from them.

pub mod comparison;
pub mod evaluation;
pub mod figure;
mod frame;
pub mod harm;
pub mod live;
pub mod papers;
pub mod regimes;
pub mod rfc9743;
pub mod start_up;
pub mod sweep;
pub mod traces;
