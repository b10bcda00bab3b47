//! Recovery metrics, congestion states and controllers' state variables.

use super::Options;
use super::encoding::Encoding;
use super::event;
use super::packet;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, EventKind, Metrics, Name, State, StateVariable, TransportParameters, Unbounded};

/// Reads recovery metrics; their place in the table.
pub(super) fn metrics(
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<u32, Malformed> {
    let mut metrics = Metrics { path: packet::NOT_LOGGED, ..Metrics::default() };
    let bounded = |number: Option<u64>, field: Unbounded| number.filter(|&number| !field.is_none(number));
    let rtt = |value: &mut Cursor<'_>| {
        value.decimal().map(|rtt| rtt.and_then(|rtt| rtt.scaled(encoding.rtt_places)).filter(|&rtt| rtt >= 0))
    };
    value.object(|key, value| {
        match key {
            b"congestion_window" | b"cwnd" | b"current_cwnd" => {
                metrics.cwnd = bounded(value.whole()?, Unbounded::Other)
            }
            b"bytes_in_flight" => metrics.bytes_in_flight = value.whole()?,
            b"packets_in_flight" => metrics.packets_in_flight = value.whole()?,
            b"ssthresh" => {
                metrics.ssthresh = bounded(value.whole()?, Unbounded::Ssthresh);
            }
            b"min_rtt" => metrics.min_rtt = rtt(value)?,
            b"smoothed_rtt" => metrics.smoothed_rtt = rtt(value)?,
            b"latest_rtt" => metrics.latest_rtt = rtt(value)?,
            b"rtt_variance" | b"rttvar" => metrics.rtt_variance = rtt(value)?,
            b"pacing_rate" => {
                let rate = bounded(value.whole()?, Unbounded::Other);
                metrics.pacing_rate = rate.map(|rate| rate.saturating_mul(encoding.pacing_factor));
            }
            b"pto_count" => metrics.pto_count = value.whole()?.and_then(|count| u32::try_from(count).ok()),
            b"app_limited" | b"cf_app_limited" => metrics.app_limited = app_limited(value)?,
            b"cf_lost_packets" if value.peek() == Some(b'{') => {
                metrics.lost_packets = value.field(&[b"total"], Cursor::whole)?;
            }
            b"path_id" => metrics.path = packet::path(value)?,
            _ => private(key, value, options, batch)?,
        }
        Ok(())
    })?;
    batch.metrics.push(metrics);
    Ok(batch.metrics.len() as u32 - 1)
}

/// Whether the sender has too little to send: a flag, or mvfst's words for it.
fn app_limited(value: &mut Cursor<'_>) -> Result<Option<bool>, Malformed> {
    if value.peek() != Some(b'"') {
        return value.flag();
    }
    Ok(match value.word()? {
        Some(b"app_limited" | b"app limited" | b"true") => Some(true),
        Some(b"app_unlimited" | b"app unlimited" | b"false") => Some(false),
        _ => None,
    })
}

/// Reads the flow control limits among transport parameters; their place in the table.
pub(super) fn parameters(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<u32, Malformed> {
    let mut parameters = TransportParameters::default();
    value.object(|key, value| {
        match key {
            b"initiator" | b"owner" => parameters.remote = value.word()? == Some(b"remote"),
            name => match parameters.limit(name) {
                Some(limit) => *limit = value.whole()?,
                None => value.skip()?,
            },
        }
        Ok(())
    })?;
    batch.parameters.push(parameters);
    Ok(batch.parameters.len() as u32 - 1)
}

/// A number of the controller's own, or a field that is not known.
fn private(key: &[u8], value: &mut Cursor<'_>, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    let text = String::from_utf8_lossy(key);
    if options.state_variables && matches!(value.peek(), Some(b'-' | b'0'..=b'9')) {
        if let Some(number) = value.decimal()? {
            let name = batch.names.add(&text);
            batch.state_variables.push(StateVariable {
                event: batch.events.len() as u32,
                name,
                value: number.to_f64(),
            });
        }
        return Ok(());
    }
    value.skip()?;
    batch.count_unknown(&text);
    Ok(())
}

/// Reads a change of the congestion state. mvfst also logs with this event that the application limits it;
/// that is no new state.
pub(super) fn state(value: &mut Cursor<'_>, name: &[u8], batch: &mut Batch) -> Result<EventKind, Malformed> {
    let mut state = State { new: Name::default(), trigger: None };
    let mut limited = None;
    value.object(|key, value| {
        match key {
            b"new" => state.new = value.string()?.map_or(Name::default(), |new| batch.names.add(&new)),
            b"trigger" => state.trigger = value.string()?.map(|trigger| batch.names.add(&trigger)),
            b"app_limited" => limited = app_limited(value)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(match (state.new == Name::default(), limited) {
        (false, _) => {
            batch.states.push(state);
            EventKind::CongestionState(batch.states.len() as u32 - 1)
        }
        (true, Some(_)) => {
            batch.metrics.push(Metrics { app_limited: limited, ..Metrics::default() });
            EventKind::MetricsUpdated(batch.metrics.len() as u32 - 1)
        }
        (true, None) => EventKind::Other(event::other(name, batch)),
    })
}

/// The name of the congestion controller among the parameters of recovery.
pub(super) fn controller(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<Option<Name>, Malformed> {
    const KEYS: [&[u8]; 4] = [b"congestion_controller", b"controller", b"congestion_control", b"cc_algorithm"];
    let name = value.field(&KEYS, Cursor::string)?;
    Ok(name.map(|name| batch.names.add(&name)))
}

/// Data on their way to or from the application; what counts is what arrives there.
pub(super) fn moved(value: &mut Cursor<'_>, name: &[u8], batch: &mut Batch) -> Result<EventKind, Malformed> {
    let mut bytes = None;
    let mut delivered = false;
    value.object(|key, value| {
        match key {
            b"to" => delivered = matches!(value.word()?, Some(b"application" | b"user")),
            b"length" => bytes = value.whole()?.or(bytes),
            b"raw" if value.peek() == Some(b'{') => value.object(|key, value| {
                if key == b"length" {
                    bytes = value.whole()?.or(bytes);
                    return Ok(());
                }
                value.skip()
            })?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(match bytes {
        Some(bytes) if delivered => EventKind::DataDelivered(u32::try_from(bytes).unwrap_or(u32::MAX)),
        _ => EventKind::Other(event::other(name, batch)),
    })
}

/// The state variables of a recorded step.
pub(super) fn state_variables(value: &mut Cursor<'_>, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    if !options.state_variables {
        return value.skip();
    }
    let event = batch.events.len() as u32;
    value.object(|key, value| {
        if key != b"state_variables" {
            return value.skip();
        }
        value.object(|key, value| {
            let number = value.decimal()?.map_or(f64::NAN, |number| number.to_f64());
            let name = batch.names.add(&String::from_utf8_lossy(key));
            batch.state_variables.push(StateVariable { event, name, value: number });
            Ok(())
        })
    })
}
