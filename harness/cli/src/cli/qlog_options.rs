//! The options that say what is logged.

use clap::ValueEnum;
use windlass_qlog::Profile;

use windlass_stacks::stack::{LogDetail, LogSettings};

/// What goes into qlog files.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct QlogOptions {
    /// Form of the qlog files: the IETF's, or the older one that qvis reads
    #[arg(long, value_enum, default_value_t = Form::Ietf, value_name = "FORM")]
    qlog_profile: Form,
    /// How much goes into the qlog files [default: packets for `run`, recovery for `evaluate`]
    #[arg(long, value_enum, value_name = "AMOUNT")]
    qlog_detail: Option<Amount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The IETF's: quic-events, as JSON text sequences
    Ietf,
    /// Draft 0.3, for qvis
    Qvis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Amount {
    /// Every packet, with every event and decision of the controller, to replay it
    Steps,
    /// Every packet and every change of a metric
    Packets,
    /// Congestion states, losses, and metrics every 100 ms
    Recovery,
    /// No qlog files
    Off,
}

impl QlogOptions {
    /// What to log, `default` unless the user said how much; `None` for nothing.
    pub(super) fn settings(&self, default: LogDetail) -> Option<LogSettings> {
        let profile = match self.qlog_profile {
            Form::Ietf => Profile::Ietf,
            Form::Qvis => Profile::Qvis,
        };
        let detail = match self.qlog_detail {
            None => default,
            Some(Amount::Steps) => LogDetail::Steps,
            Some(Amount::Packets) => LogDetail::Packets,
            Some(Amount::Recovery) => LogDetail::Recovery,
            Some(Amount::Off) => return None,
        };
        Some(LogSettings { detail, profile })
    }
}
