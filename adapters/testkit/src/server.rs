//! What a stack's whole server costs with our controller and with the stack's own, by turns.
//!
//! A server is a process of its own, started for one transfer over loopback to this process; measured is its CPU time
//! from when it listens to when the client has everything. `cargo bench -p windlass-quinn --bench server [-- TURNS [MEGABYTES]]`.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

use crate::files::{Identity, identity};
use crate::rounds::{median, tried_only};

const TURNS: usize = 31;
const MEGABYTES: u64 = 1000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server and a client of one stack.
pub trait Stack {
    /// Sends `bytes` to the first client under `controller`, and returns when that has closed the connection; `listens` is called
    /// with the address, one of loopback.
    ///
    /// # Errors
    /// There is no such controller, or the stack fails.
    fn serve(identity: &Identity, controller: &str, bytes: u64, listens: impl FnOnce(SocketAddr)) -> Result<()>;

    /// Asks for `bytes`, which the server may know without that. `came` is called with how many came once the last of them has: how long a
    /// connection is closing depends on its round trips.
    ///
    /// # Errors
    /// The stack fails.
    fn fetch(server: SocketAddr, certificate: &[u8], bytes: u64, came: impl FnOnce(u64)) -> Result<()>;
}

/// `bytes` in parts, as a program hands them over.
pub fn chunks(bytes: u64) -> impl Iterator<Item = &'static [u8]> {
    static CHUNK: [u8; 1 << 16] = [0; 1 << 16];
    let whole = CHUNK.len() as u64;
    (0..bytes.div_ceil(whole)).map(move |chunk| &CHUNK[..(bytes - chunk * whole).min(whole) as usize])
}

/// What one transfer took.
#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    elapsed: Duration,
}

/// Compares our controllers with the stack's own, `(ours, its own)`, and prints a table; as a server, serves.
///
/// # Errors
/// A transfer fails or is short; this is no Unix.
pub fn beside<S: Stack>(pairs: &[(&str, &str)]) -> Result<()> {
    let typed: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &typed[..] {
        [role, keys, controller, bytes] if role == "serve" => {
            return serve::<S>(Path::new(keys), controller, bytes.parse()?);
        }
        _ => {}
    }
    let tried = tried_only();
    let number = |index: usize, default: u64| typed.get(index).map_or(Ok(default), |text| text.parse());
    let (turns, megabytes) = if tried { (1, 1) } else { (number(0, TURNS as u64)?.max(1), number(1, MEGABYTES)?) };
    let keys = env::temp_dir().join(format!("windlass-server-{}", std::process::id()));
    let measured = measure::<S>(&keys, pairs, turns as usize, megabytes * 1_000_000);
    fs::remove_dir_all(&keys)?;
    let measured = measured?;
    if tried {
        println!("{} servers run", 2 * measured.len());
        return Ok(());
    }
    println!("| ours | the stack's | CPU of the server, s | ratio | throughput, Mbit/s | ratio |");
    println!("|---|---|--:|--:|--:|--:|");
    for ((ours, native), costs) in pairs.iter().zip(&measured) {
        let rate = |cost: Cost| megabytes as f64 * 8.0 / cost.elapsed.as_secs_f64();
        let cpu = |cost: Cost| cost.cpu.as_secs_f64();
        let (own_cpu, own_rate) = (of(costs, |[ours, _]| cpu(*ours)), of(costs, |[ours, _]| rate(*ours)));
        let (cpus, rates) = (
            of(costs, |[ours, native]| cpu(*ours) / cpu(*native)),
            of(costs, |[ours, native]| rate(*ours) / rate(*native)),
        );
        println!(
            "| {ours} | {native} | {:.2} | {} | {:.0} | {} |",
            median(own_cpu),
            interval(cpus),
            median(own_rate),
            interval(rates)
        );
    }
    Ok(())
}

/// The costs of each pair in each turn. Who is first changes from turn to turn.
fn measure<S: Stack>(keys: &Path, pairs: &[(&str, &str)], turns: usize, bytes: u64) -> Result<Vec<Vec<[Cost; 2]>>> {
    let certificate = identity(keys)?.certificate;
    let mut measured = vec![Vec::new(); pairs.len()];
    for turn in 0..turns {
        for (pair, costs) in pairs.iter().zip(&mut measured) {
            let transfer = |controller| transfer::<S>(keys, &certificate, controller, bytes);
            let (ours, native);
            if turn % 2 == 0 {
                (ours, native) = (transfer(pair.0)?, transfer(pair.1)?);
            } else {
                native = transfer(pair.1)?;
                ours = transfer(pair.0)?;
            }
            costs.push([ours, native]);
        }
    }
    Ok(measured)
}

/// A server that ends with this process, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn transfer<S: Stack>(keys: &Path, certificate: &[u8], controller: &str, bytes: u64) -> Result<Cost> {
    let mut server = Command::new(env::current_exe()?);
    server.arg("serve").arg(keys).arg(controller).arg(bytes.to_string()).stdout(Stdio::piped());
    let mut server = Server(server.spawn()?);
    let mut says = BufReader::new(server.0.stdout.take().ok_or("the server has no output")?).lines();
    let mut line = || says.next().ok_or_else(|| format!("the server under {controller} ended"));
    let address = line()??.parse()?;
    let (began, mut ended) = (Instant::now(), None);
    S::fetch(address, certificate, bytes, |came| ended = Some((came, began.elapsed())))?;
    let (came, elapsed) = ended.ok_or("the client did not say what came")?;
    if came != bytes {
        return Err(format!("{came} bytes of {bytes} came under {controller}").into());
    }
    Ok(Cost { cpu: Duration::from_nanos(line()??.parse()?), elapsed })
}

fn serve<S: Stack>(keys: &Path, controller: &str, bytes: u64) -> Result<()> {
    let mut before = Ok(Duration::ZERO);
    S::serve(&identity(keys)?, controller, bytes, |address| {
        before = cpu_time();
        println!("{address}");
    })?;
    println!("{}", (cpu_time()? - before?).as_nanos());
    Ok(())
}

/// CPU time of this process.
#[cfg(unix)]
fn cpu_time() -> Result<Duration> {
    Ok(clock_gettime(ClockId::ProcessCPUTime).try_into()?)
}

#[cfg(not(unix))]
fn cpu_time() -> Result<Duration> {
    Err("the CPU time of a process is read on Unix alone".into())
}

fn of(costs: &[[Cost; 2]], value: impl Fn(&[Cost; 2]) -> f64) -> Vec<f64> {
    costs.iter().map(value).collect()
}

/// The median and its 95 % interval by order: of ranks by the normal approximation, rounded outwards.
fn interval(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let below = (n / 2.0 - 0.98 * n.sqrt()).floor().max(1.0) as usize;
    let (least, most) = (values[below - 1], values[values.len() - below]);
    format!("{:.3} ({least:.3}–{most:.3})", median(values))
}
