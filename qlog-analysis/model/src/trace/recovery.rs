//! Loss detection, congestion control, parameters.

use std::io::Write;

use super::Trace;
use crate::{Detail, LossTrigger, Metrics, PacketType, RecoveryParameters, Side, TransportParameters};

impl<W: Write> Trace<W> {
    /// A packet was declared lost; `None` where the reason is not known.
    pub fn packet_lost(&mut self, now_ns: u64, kind: PacketType, number: u64, trigger: Option<LossTrigger>) {
        self.begin(now_ns, self.names.packet_lost);
        self.packet_header(kind, number);
        if let Some(trigger) = trigger {
            self.json.word("trigger", trigger.name());
        }
        self.end();
        self.urgent = true;
    }

    /// The metrics now; what did not change is not written again.
    pub fn recovery_metrics(&mut self, now_ns: u64, metrics: &Metrics) {
        self.latest = self.latest.updated_by(metrics);
        let due = match self.detail {
            Detail::Packets => true,
            Detail::Recovery { every_ns } => {
                let answered = self.latest.cwnd != self.written.cwnd || self.latest.ssthresh != self.written.ssthresh;
                self.urgent && answered || self.metrics_at.is_none_or(|at| now_ns >= at.saturating_add(every_ns))
            }
        };
        self.urgent = false;
        if due {
            self.flush_metrics(now_ns);
        }
    }

    /// Writes what changed since metrics were last written.
    pub(super) fn flush_metrics(&mut self, now_ns: u64) {
        if self.latest == self.written {
            return;
        }
        self.begin(now_ns, self.names.metrics_updated);
        let (old, new, json) = (&self.written, &self.latest, &mut self.json);
        let changed = |old: Option<u64>, new: Option<u64>| new.filter(|_| old != new);
        if let Some(bytes) = changed(old.cwnd, new.cwnd) {
            json.raw("\"");
            json.raw(self.names.congestion_window);
            json.field("\":", bytes);
            json.raw(",");
        }
        for (key, old, new) in [
            ("\"bytes_in_flight\":", old.bytes_in_flight, new.bytes_in_flight),
            ("\"packets_in_flight\":", old.packets_in_flight, new.packets_in_flight),
            ("\"ssthresh\":", old.ssthresh, new.ssthresh),
            ("\"pacing_rate\":", old.pacing_rate, new.pacing_rate),
            ("\"pto_count\":", old.pto_count, new.pto_count),
        ] {
            if let Some(value) = changed(old, new) {
                json.field(key, value);
                json.raw(",");
            }
        }
        for (key, old, new) in [
            ("\"latest_rtt\":", old.latest_rtt, new.latest_rtt),
            ("\"smoothed_rtt\":", old.smoothed_rtt, new.smoothed_rtt),
            ("\"min_rtt\":", old.min_rtt, new.min_rtt),
            ("\"rtt_variance\":", old.rtt_variance, new.rtt_variance),
        ] {
            if let Some(ns) = changed(old, new) {
                json.field_millis(key, ns);
                json.raw(",");
            }
        }
        match new.app_limited.filter(|_| old.app_limited != new.app_limited) {
            Some(limited) => json.flag("app_limited", limited),
            // The comma after the last.
            None => json.bytes.truncate(json.bytes.len() - 1),
        }
        self.end();
        self.written = self.latest;
        self.metrics_at = Some(self.now);
    }

    /// The congestion controller is in the state `new`, such as `slow_start`,
    /// `congestion_avoidance`, `recovery`; written only when it is another than before.
    pub fn congestion_state(&mut self, now_ns: u64, new: &str, trigger: Option<&str>) {
        if self.state.as_deref() == Some(new) {
            return;
        }
        self.flush_metrics(now_ns);
        self.begin(now_ns, self.names.congestion_state_updated);
        if let Some(old) = self.state.take() {
            self.json.text("old", &old);
        }
        self.json.text("new", new);
        if let Some(trigger) = trigger {
            self.json.text("trigger", trigger);
        }
        self.end();
        self.state = Some(new.to_owned());
        self.urgent = true;
    }

    /// Constants of loss detection and congestion control.
    pub fn recovery_parameters_set(&mut self, now_ns: u64, parameters: &RecoveryParameters<'_>) {
        self.begin(now_ns, self.names.recovery_parameters_set);
        let json = &mut self.json;
        let mut integer = |name, value: Option<u64>| {
            if let Some(value) = value {
                json.integer(name, value);
            }
        };
        integer("reordering_threshold", parameters.reordering_threshold.map(u64::from));
        integer("timer_granularity", Some(parameters.timer_granularity_ms.into()));
        integer("max_datagram_size", Some(parameters.max_datagram_size.into()));
        integer("initial_congestion_window", parameters.initial_congestion_window);
        integer("minimum_congestion_window", parameters.minimum_congestion_window);
        integer("persistent_congestion_threshold", parameters.persistent_congestion_threshold.map(u64::from));
        if let Some(rtts) = parameters.time_threshold {
            json.float("time_threshold", rtts);
        }
        if let Some(ns) = parameters.initial_rtt {
            json.millis("initial_rtt", ns);
        }
        json.text("congestion_controller", parameters.controller);
        self.end();
    }

    /// Transport parameters of one side.
    pub fn parameters_set(&mut self, now_ns: u64, side: Side, parameters: &TransportParameters) {
        self.begin(now_ns, self.names.parameters_set);
        let json = &mut self.json;
        json.word(
            self.names.owner,
            match side {
                Side::Local => "local",
                Side::Remote => "remote",
            },
        );
        if let Some(id) = parameters.original_destination_connection_id {
            json.word("original_destination_connection_id", &id.to_string());
        }
        for (name, value) in [
            ("initial_max_data", parameters.initial_max_data),
            ("initial_max_stream_data_bidi_local", parameters.initial_max_stream_data_bidi_local),
            ("initial_max_stream_data_bidi_remote", parameters.initial_max_stream_data_bidi_remote),
            ("initial_max_stream_data_uni", parameters.initial_max_stream_data_uni),
            ("max_idle_timeout", parameters.max_idle_timeout),
            ("max_ack_delay", parameters.max_ack_delay),
            ("ack_delay_exponent", parameters.ack_delay_exponent),
            ("max_udp_payload_size", parameters.max_udp_payload_size),
        ] {
            if let Some(value) = value {
                json.integer(name, value);
            }
        }
        self.end();
    }

    /// The maximum datagram size is `new` bytes.
    pub fn mtu_updated(&mut self, now_ns: u64, old: Option<u32>, new: u32) {
        self.begin(now_ns, self.names.mtu_updated);
        if let Some(old) = old {
            self.json.integer("old", old.into());
        }
        self.json.integer("new", new.into());
        self.end();
    }
}
