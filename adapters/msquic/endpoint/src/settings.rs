//! Settings of an endpoint.

use windlass_msquic_sys::msquic::ffi;

/// The `QUIC_SETTINGS` an endpoint sets; all others keep MsQuic's defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `CongestionControlAlgorithm`: one of MsQuic's own, or an id of `windlass_msquic::register`; `None`
    /// leaves it to the environment.
    pub congestion_control: Option<u16>,
    /// Whether ECT(0) is set and CE marks are counted.
    pub ecn: bool,
    /// Whether packets carry time stamps, if the peer agrees.
    pub one_way_delay: bool,
    /// Whether [`Statistics`](crate::Statistics) are reported with acknowledgements.
    pub statistics: bool,
    /// `false`: packets are sent as soon as the window allows.
    pub pacing: bool,
    /// The smallest and the largest IP datagram, bytes.
    pub mtu: Option<(u16, u16)>,
    /// `max_ack_delay`, ms; `None` leaves MsQuic's own.
    pub max_ack_delay_ms: Option<u32>,
    /// `max_idle_timeout` (`RFC 9000 §18.2`), ms.
    pub idle_timeout_ms: u64,
    /// Whether a server takes the tickets it sends, and 0-RTT data with them.
    pub resumption: bool,
    /// Streams of either type that the peer may have open.
    pub streams: u16,
    /// Flow control window of a connection and of each stream, bytes; a power of two.
    pub receive_window: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            congestion_control: None,
            ecn: false,
            one_way_delay: false,
            statistics: false,
            pacing: true,
            mtu: None,
            max_ack_delay_ms: None,
            idle_timeout_ms: 30_000,
            resumption: false,
            streams: 100,
            receive_window: 1 << 24,
        }
    }
}

impl Settings {
    /// The receive windows alone.
    pub(crate) fn receive_windows(&self) -> ffi::QUIC_SETTINGS {
        // SAFETY: all fields are numbers; zeros mean that no setting is set.
        let mut raw: ffi::QUIC_SETTINGS = unsafe { std::mem::zeroed() };
        raw.StreamRecvWindowDefault = self.receive_window;
        raw.ConnFlowControlWindow = self.receive_window;
        // SAFETY: the other member of the union is a number with the same bits.
        unsafe {
            let set = &mut raw.__bindgen_anon_1.IsSet;
            set.set_StreamRecvWindowDefault(1);
            set.set_ConnFlowControlWindow(1);
        }
        raw
    }

    pub(crate) fn raw(&self) -> ffi::QUIC_SETTINGS {
        let mut raw = self.receive_windows();
        raw.IdleTimeoutMs = self.idle_timeout_ms;
        raw.PeerBidiStreamCount = self.streams;
        raw.PeerUnidiStreamCount = self.streams;
        raw.set_EcnEnabled(self.ecn.into());
        raw.set_PacingEnabled(self.pacing.into());
        raw.set_ServerResumptionLevel(if self.resumption {
            ffi::QUIC_SERVER_RESUMPTION_LEVEL_QUIC_SERVER_RESUME_AND_ZERORTT as u8
        } else {
            ffi::QUIC_SERVER_RESUMPTION_LEVEL_QUIC_SERVER_NO_RESUME as u8
        });
        raw.CongestionControlAlgorithm = self.congestion_control.unwrap_or(0);
        raw.MaxAckDelayMs = self.max_ack_delay_ms.unwrap_or(0);
        (raw.MinimumMtu, raw.MaximumMtu) = self.mtu.unwrap_or((0, 0));
        // SAFETY: the other members of the unions are numbers with the same bits.
        unsafe {
            let preview = &mut raw.__bindgen_anon_2.__bindgen_anon_1;
            preview.set_OneWayDelayEnabled(self.one_way_delay.into());
            preview.set_NetStatsEventEnabled(self.statistics.into());
            let set = &mut raw.__bindgen_anon_1.IsSet;
            set.set_IdleTimeoutMs(1);
            set.set_PeerBidiStreamCount(1);
            set.set_PeerUnidiStreamCount(1);
            set.set_EcnEnabled(1);
            set.set_PacingEnabled(1);
            set.set_ServerResumptionLevel(1);
            set.set_OneWayDelayEnabled(1);
            set.set_NetStatsEventEnabled(1);
            set.set_CongestionControlAlgorithm(self.congestion_control.is_some().into());
            set.set_MaxAckDelayMs(self.max_ack_delay_ms.is_some().into());
            set.set_MinimumMtu(self.mtu.is_some().into());
            set.set_MaximumMtu(self.mtu.is_some().into());
        }
        raw
    }
}
