//! What controllers are composed of. Each file is one idea, used by several schemes.

pub mod ack_rate;
pub mod aimd;
pub mod base;
pub mod chirp;
pub mod competition;
pub mod compose;
pub mod cubic_curve;
pub mod dca;
pub mod delay_signal;
pub mod early;
pub mod epoch;
pub mod grouped;
pub mod guided;
pub mod labels;
pub mod loss_based;
pub mod marks;
pub mod minima;
pub mod parallel;
pub mod proecn;
pub mod queueing_delay;
pub mod smooth_rtt;
pub mod splitmix;
pub mod utilization;
pub mod vegas;
pub mod window;
pub mod windowed_min;
