use std::path::Path;
use std::time::Instant;
use windlass_qlog_analysis::read::{Options, open, read};
fn main() {
    for jobs in [1] {
        for frames in [true, false] {
        let start = Instant::now();
        let mut rows = 0;
        let summary = read(open(Path::new(&std::env::args().nth(1).unwrap())).unwrap(), &Options { jobs, frames, ..Options::default() }, &mut |_, b| { rows += b.packets.len(); Ok(()) }).unwrap();
        let t = start.elapsed().as_secs_f64();
        println!("jobs {jobs} frames {frames}: {:.0} MB/s {} events bad {}", summary.bytes as f64 / t / 1e6, summary.events, summary.bad_records);
        }
    }
}
