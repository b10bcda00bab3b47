//! What controllers are built of. Each file is one idea, used by several schemes.
//!
//! Extension points, for controllers outside this crate:
//!
//! * [`window_scheme`]: a window that grows per ACK and shrinks on congestion, made a controller
//!   by [`window_controller`]; with [`base`] for its parameters, [`window`] for the window itself,
//!   [`start_up`] and [`recovery`] for what surrounds a scheme's own rules.
//! * [`vegas`]: delay-based schemes that keep a backlog.
//! * [`compose`]: a detector, an estimator and a flow control put together.
//!
//! The rest are measurements and arithmetic these use: their interfaces follow the schemes.

pub mod ack_rate;
pub mod base;
pub mod chirp;
pub mod competition;
pub mod compose;
pub mod cubic_curve;
pub mod delay_signal;
pub mod early;
pub mod guided;
pub mod high_speed;
pub mod marks;
pub mod minima;
pub mod parallel;
pub mod proecn;
pub mod queueing_delay;
pub mod rate_sample;
pub mod recovery;
pub mod smooth_rtt;
pub mod splitmix;
pub mod start_up;
pub mod utilization;
pub mod vegas;
pub mod weighted;
pub mod window;
pub mod window_controller;
pub mod window_scheme;
pub mod windowed;
