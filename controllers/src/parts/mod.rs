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

pub mod fractional;
pub mod grouped;
pub mod guided;
pub mod high_speed;
pub mod labels;
pub mod loss_based;
pub mod marks;
pub mod minima;
pub mod parallel;
pub mod proecn;
pub mod queueing_delay;
pub mod rate_sample;
pub mod recovery;
pub mod slow_start;
pub mod smooth_rtt;
pub mod splitmix;
pub mod utilization;
pub mod vegas;
pub mod weighted;
pub mod window;
pub mod windowed_max;
pub mod windowed_min;
