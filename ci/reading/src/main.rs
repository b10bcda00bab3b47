//! `reading FILE.sqlog`: counts events and acknowledged ranges with the qlog crate's reader.

use std::fs::File;
use std::io::BufReader;

use qlog::events::EventData;
use qlog::reader::{Event, QlogSeqReader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: reading FILE.sqlog")?;
    let reader = QlogSeqReader::new(Box::new(BufReader::with_capacity(1 << 20, File::open(path)?)))?;
    let (mut events, mut sent, mut bytes) = (0_u64, 0_u64, 0_u64);
    for event in reader {
        events += 1;
        if let Event::Qlog(event) = event
            && let EventData::QuicPacketSent(packet) = event.data
        {
            sent += 1;
            bytes += packet.raw.and_then(|raw| raw.length).unwrap_or(0);
        }
    }
    println!("{events} events, {sent} packets sent, {bytes} bytes");
    Ok(())
}
