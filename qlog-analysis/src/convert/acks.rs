//! Acknowledged ranges as qvis can bear them.
//!
//! qvis visits every number of every range: an ACK names only packets that no earlier one
//! named, and the largest. A range over more packets than there can be is cut to those sent.

use windlass_qlog::Acknowledged;

use super::Omitted;
use super::node::Node;

/// A range of more numbers than this is not taken by its word.
const WIDEST: u64 = 1_000_000;

/// What was sent and acknowledged so far, by packet number space.
#[derive(Debug, Default)]
pub(super) struct Acks {
    spaces: [Space; 3],
}

#[derive(Debug, Default)]
struct Space {
    named: Acknowledged,
    largest_sent: Option<u64>,
}

impl Acks {
    fn space(&mut self, data: &Node<'_>) -> &mut Space {
        let kind = data.get("header").and_then(|header| header.get("packet_type")).and_then(Node::text);
        &mut self.spaces[match kind {
            Some(b"initial") => 0,
            Some(b"handshake") => 1,
            _ => 2,
        }]
    }

    /// Remembers a packet sent, if it has a number.
    pub(super) fn sent(&mut self, data: &Node<'_>) {
        let number = data.get("header").and_then(|header| header.get("packet_number")).and_then(Node::whole);
        let space = self.space(data);
        space.largest_sent = space.largest_sent.max(number);
    }

    /// Rewrites the ranges of a packet's ACK frames. Those of a packet sent are about the
    /// packets of the other end, which qvis does not draw; of them the largest stays.
    pub(super) fn rewrite(&mut self, data: &mut Node<'_>, received: bool, omitted: &mut Omitted) {
        let space = self.space(data);
        let Some(Node::Array(frames)) = data.get_mut("frames") else { return };
        for frame in frames.iter_mut().filter(|frame| frame.get("frame_type").is_some_and(|kind| kind.is("ack"))) {
            let Some(Node::Array(ranges)) = frame.get_mut("acked_ranges") else { continue };
            let acked: Vec<(u64, u64)> = ranges.iter().filter_map(|range| space.bounded(range, omitted)).collect();
            let Some(largest) = acked.iter().map(|range| range.1).max() else {
                frame.take("acked_ranges");
                continue;
            };
            let pair = |low, high| Node::Array(vec![Node::number(low), Node::number(high)]);
            let mut named = Vec::new();
            let mut top = None;
            for (low, high) in acked.into_iter().filter(|_| received) {
                space.named.add(low, high, |low, high| {
                    top = top.max(Some(high));
                    named.push(pair(low, high));
                });
            }
            if top != Some(largest) {
                named.push(pair(largest, largest));
            }
            *ranges = named;
        }
    }
}

impl Space {
    /// The numbers of a range, as far as they can be meant.
    fn bounded(&self, range: &Node<'_>, omitted: &mut Omitted) -> Option<(u64, u64)> {
        let ends = match range {
            Node::Array(ends) => (ends.first().and_then(Node::whole), ends.get(1).map(Node::whole)),
            single => (single.whole(), None),
        };
        let (Some(one), other) = ends else {
            omitted.add("acknowledged ranges that are no numbers");
            return None;
        };
        let other = other.flatten().unwrap_or(one);
        let (low, high) = (one.min(other), one.max(other));
        if high - low < WIDEST {
            return Some((low, high));
        }
        omitted.add("acknowledged ranges over more packets than were sent, cut to those");
        let high = self.largest_sent.map_or(low, |sent| high.min(sent));
        (high >= low).then(|| (low.max(high.saturating_sub(WIDEST - 1)), high))
    }
}
