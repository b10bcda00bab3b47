//! The simulator against closed forms and the rules of its senders, receivers and queues.

mod background;
mod bbr;
mod careful_resume;
mod common;
mod equilibria;
mod excursion;
mod golden;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod libwindlass;
mod loss_bound;
mod media;
mod objects;
mod oracle;
mod poison;
mod queues;
mod sim_flows;
mod sim_idle;
mod sim_marks;
mod sim_parts;
mod sim_recovery;
mod sim_sack;
mod sim_tcp;
mod vegas_family;
