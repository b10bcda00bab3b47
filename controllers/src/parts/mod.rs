//! What controllers are built of. Each file is one idea, used by several schemes.
//!
//! Extension points, for controllers outside this crate:
//!
//! * [`window_scheme`]: a window that grows per ACK and shrinks on congestion, made a controller
//!   by [`window_controller`]; with [`base`] for its parameters, [`window`] for the window itself,
//!   [`limits`], [`start_up`] and [`recovery`] for what surrounds a scheme's own rules.
//! * [`vegas`]: delay-based schemes that keep a backlog.
//! * [`compose`]: a detector, an estimator and a flow control put together.
//!
//! Public for the parameters of schemes that are declared in them: [`backstop`], [`base_delay`], [`chirp`], [`competition`],
//! [`early`], [`guided`], [`high_speed`], [`proecn`], [`weighted`]; their other items follow the
//! schemes.

pub(crate) mod ack_rate;
pub mod backstop;
pub mod base;
pub mod base_delay;
pub mod careful_resume;
pub mod chirp;
pub mod competition;
pub mod compose;
pub(crate) mod cubic_curve;
pub(crate) mod delay_signal;
pub mod early;
pub mod guided;
pub mod high_speed;
pub mod limits;
pub(crate) mod marks;
pub(crate) mod parallel;
pub(crate) mod probe_rtt;
pub mod proecn;
pub(crate) mod queue_signal;
pub(crate) mod queueing_delay;
pub(crate) mod rate_sample;
pub mod recovery;
pub(crate) mod smooth_rtt;
pub(crate) mod splitmix;
pub mod start_up;
pub mod vegas;
pub mod weighted;
pub mod window;
pub mod window_controller;
pub mod window_scheme;
pub(crate) mod windowed;
pub(crate) mod windowed_rate;
