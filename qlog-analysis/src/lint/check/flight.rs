//! Packets sent and not yet acknowledged.

use std::collections::BTreeMap;

/// Packets remembered in each packet number space.
const REMEMBERED: usize = 1 << 20;

/// Packets sent in a trace, with their losses and acknowledgements.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// Packets sent whose length is logged.
    pub sent: u64,
    /// Numbers in acknowledged ranges, each as often as it is named.
    pub acknowledged: u64,
    /// Unacknowledged packets with their send times, ms, by packet number space.
    spaces: [Space; 3],
}

#[derive(Debug, Default)]
struct Space {
    flying: BTreeMap<u64, f64>,
    largest: Option<u64>,
}

fn space(kind: Option<&str>) -> Option<usize> {
    match kind? {
        "initial" => Some(0),
        "handshake" => Some(1),
        "0RTT" | "1RTT" => Some(2),
        _ => None,
    }
}

impl Flight {
    /// A packet left at `now`, ms.
    pub fn send(&mut self, kind: Option<&str>, number: Option<u64>, now: f64, measured: bool) {
        self.sent += u64::from(measured);
        let (Some(space), Some(number)) = (space(kind), number) else { return };
        let space = &mut self.spaces[space];
        space.flying.insert(number, now);
        space.largest = space.largest.max(Some(number));
        if space.flying.len() > REMEMBERED {
            space.flying.pop_first();
        }
    }

    /// Packets were acknowledged at `now`, ms. Gives the RTT of the largest, ms, if it is
    /// newly acknowledged, and whether the largest was sent at all. That is taken for granted
    /// where no packet of the space was.
    pub fn acknowledge(
        &mut self,
        kind: Option<&str>,
        ranges: impl Iterator<Item = (u64, u64)>,
        largest: u64,
        now: f64,
    ) -> (Option<f64>, bool) {
        let Some(space) = space(kind) else { return (None, true) };
        let space = &mut self.spaces[space];
        let Some(sent) = space.largest else { return (None, true) };
        let rtt = space.flying.get(&largest).map(|departed| now - departed);
        for (low, high) in ranges {
            while let Some((&number, _)) = space.flying.range(low..=high).next() {
                space.flying.remove(&number);
            }
        }
        (rtt, largest <= sent)
    }
}
