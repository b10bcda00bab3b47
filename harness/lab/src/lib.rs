//! Experiments with controllers: [evaluation], [recommendations](choose), [conformance] of stacks, [regimes], [BBR cases](bbr_cases), [golden] traces, [response]
//! functions, [many runs](grid) in one store, [harm], [RFC 9743](rfc9743), [sweeps](sweep), [start-up](start_up), [estimated send rates](send_rate), [frame delays](frame_delay), [offline replay and identification](replay), the [results] they
//! yield, and how they are [written](output).

pub mod bbr_cases;
pub mod choose;
pub mod compare;
pub mod conformance;
pub mod evaluation;
pub mod frame_delay;
pub mod golden;
pub mod grid;
pub mod harm;
pub mod output;
pub mod plot;
pub mod regimes;
pub mod replay;
pub mod response;
pub mod results;
pub mod rfc9743;
pub mod send_rate;
pub mod start_up;
pub mod sweep;
#[cfg(feature = "testkit")]
pub mod testkit;
