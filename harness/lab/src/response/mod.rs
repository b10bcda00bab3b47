//! Response functions: how much a controller sends at a given rate of loss, as its
//! document's closed form has it and as the simulator measures it.

mod draw;
mod law;
mod measure;

pub use draw::svg;
pub use law::{Cycle, LAWS, Law};
pub use measure::{Point, measure};
