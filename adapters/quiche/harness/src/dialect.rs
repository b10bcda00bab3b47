//! What the stack is called.

pub use windlass_quiche::STACK;
