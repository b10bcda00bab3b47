//! Delays of a video's frames beside a flow that always has data, at a bottleneck whose queue is managed in one way or another.

mod measure;
mod plan;

pub use measure::{Frames, measure};
pub use plan::{BULK_SHARE, CONTROLLERS, Case, LINK_MBPS, Queue, VIDEO_MBPS};

#[cfg(test)]
mod tests;
