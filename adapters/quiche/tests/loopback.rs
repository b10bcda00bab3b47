//! `quiche-serve` and `quiche-fetch` over 127.0.0.1: our CUBIC beside quiche's own.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: usize = 50_000_000;
/// Transfers of each; what else the machine does makes some of them long.
const TURNS: usize = 24;

/// An example, which `cargo test` builds beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is not built; cargo build --release --examples does", path.display());
    path
}

/// A server of one controller.
struct Server {
    child: Child,
    address: String,
    walls: Vec<Duration>,
}

impl Server {
    fn start(controller: &str, root: &Path) -> Server {
        let [served, keys] = ["served", "keys"].map(|name| root.join(name));
        let mut child = Command::new(example("quiche-serve"))
            .args(["--cc", controller, "127.0.0.1:0"])
            .args([&served, &keys])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        // It goes on to tell of its connections.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Server { child, address, walls: Vec::new() }
    }

    fn fetch(&mut self, root: &Path, expected: &[u8]) {
        let start = Instant::now();
        let fetched = Command::new(example("quiche-fetch"))
            .arg(&self.address)
            .arg(root.join("keys/certificate.der"))
            .arg("file")
            .output()
            .unwrap();
        self.walls.push(start.elapsed());
        assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
        assert!(fetched.stdout == expected, "what arrived is not the file");
    }

    /// Its CPU time so far, clock ticks (`proc_pid_stat(5)`).
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// The best and the median transfer, Mbit/s.
    fn rates(&mut self) -> [f64; 2] {
        self.walls.sort();
        [self.walls[0], self.walls[self.walls.len() / 2]].map(|wall| BYTES as f64 * 8e-6 / wall.as_secs_f64())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "a measurement; ci/quiche measure"]
fn a_controller_of_ours_costs_no_throughput() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir(root.join("served")).unwrap();
    let bytes: Vec<u8> = (0..BYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(root.join("served/file"), &bytes).unwrap();
    let mut servers = ["windlass/cubic", "cubic"].map(|controller| Server::start(controller, root));
    for _ in 0..TURNS {
        servers.iter_mut().for_each(|server| server.fetch(root, &bytes));
    }
    let [ours, native] = servers.each_ref().map(Server::ticks);
    let [[best, median], [native_best, native_median]] = servers.each_mut().map(|server| server.rates());
    println!("50 MB over 127.0.0.1, {TURNS} by turns, ours beside quiche's CUBIC:");
    println!("best, Mbit/s: {best:.0} beside {native_best:.0}, {:.2}", best / native_best);
    println!("median, Mbit/s: {median:.0} beside {native_median:.0}, {:.2}", median / native_median);
    println!("CPU of the server, ticks: {ours} beside {native}, {:.2}", ours as f64 / native as f64);
    // Clocks on a wall say more of the machine than of us; this holds on a busy one too.
    assert!(ours as f64 <= 1.15 * native as f64, "{ours} ticks of CPU with ours, {native} with quiche's own");
}
