//! quiche in the harness: what every stack is held to, and what is quiche's own.

mod identify;
mod live;
mod stack;

use windlass_stacks::stack::{Runner, register};
use windlass_stacks_quiche::Quiche;

/// quiche, registered as a stack of this process.
fn quiche() -> Runner {
    register(&Quiche);
    Runner::named("quiche").unwrap()
}
