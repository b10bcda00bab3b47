//! Two ends of one connection on one clock, by their handshake.

use super::ConnectionSeries;
use crate::model::{Batch, Event, EventKind, PacketType, Vantage};

/// When an end sent and received its first Initial packets, ns of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handshake {
    /// The first Initial packet that it sent.
    pub sent: Option<i64>,
    /// The first that it received.
    pub received: Option<i64>,
}

impl Handshake {
    pub(super) fn on_event(&mut self, batch: &Batch, event: &Event) {
        let (index, time) = match event.kind {
            EventKind::PacketSent(index) => (index, &mut self.sent),
            EventKind::PacketReceived(index) => (index, &mut self.received),
            _ => return,
        };
        if time.is_none() && batch.packets[index as usize].kind == PacketType::Initial {
            *time = Some(event.time);
        }
    }

    /// By how much the server's clock is ahead of the client's, ns: the way there takes as long as the way back
    /// (`RFC 5905 §8`). `None` without an Initial packet each way at both ends.
    #[must_use]
    pub fn server_ahead(client: &Handshake, server: &Handshake) -> Option<i64> {
        let there = server.received?.saturating_sub(client.sent?);
        let back = server.sent?.saturating_sub(client.received?);
        Some(((i128::from(there) + i128::from(back)) / 2) as i64)
    }
}

/// One end of a connection, as far as its clock is concerned.
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    group: String,
    vantage: Vantage,
    start: i64,
    handshake: Handshake,
}

impl ConnectionSeries {
    /// The end that it was taken at; `None` of a path alone.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        let (group, vantage) = (self.measured.group.clone(), self.measured.trace.vantage);
        self.path.is_none().then_some(End { group, vantage, start: self.span.0, handshake: self.handshake })
    }
}

/// For each end, when it begins on a clock common with the other end of its connection, s after the first of both: 0
/// where no other end is there; and by how much the server's clock is ahead of the client's, s.
#[must_use]
pub fn align(ends: &[Option<End>]) -> Vec<(f64, Option<f64>)> {
    let of = |vantage: Vantage| {
        let ends = ends.iter().enumerate().filter_map(|(at, end)| Some((at, end.as_ref()?)));
        ends.filter(move |(_, end)| end.vantage == vantage && !end.group.is_empty())
    };
    let mut aligned = vec![(0.0, None); ends.len()];
    for (at, server) in of(Vantage::Server) {
        let mut clients = of(Vantage::Client).filter(|(_, client)| client.group == server.group);
        let (Some((other, client)), None) = (clients.next(), clients.next()) else { continue };
        let Some(ahead) = Handshake::server_ahead(&client.handshake, &server.handshake) else { continue };
        let later = server.start.saturating_sub(ahead).saturating_sub(client.start) as f64 / 1e9;
        aligned[at] = (later.max(0.0), Some(ahead as f64 / 1e9));
        aligned[other] = ((-later).max(0.0), None);
    }
    aligned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_of_two_clocks_is_half_of_what_both_ways_show() {
        // 10 ms each way, the server's clock 2 s ahead.
        let client = Handshake { sent: Some(0), received: Some(21_000_000) };
        let server = Handshake { sent: Some(2_011_000_000), received: Some(2_010_000_000) };
        assert_eq!(Handshake::server_ahead(&client, &server), Some(2_000_000_000));
        assert_eq!(Handshake::server_ahead(&client, &Handshake { sent: None, ..server }), None);
        let end = |vantage, start, handshake| Some(End { group: "a".to_owned(), vantage, start, handshake });
        let ends = [end(Vantage::Server, 2_010_000_000, server), None, end(Vantage::Client, 0, client)];
        assert_eq!(align(&ends), [(0.01, Some(2.0)), (0.0, None), (0.0, None)]);
    }
}
