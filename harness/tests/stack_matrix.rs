//! Every controller of the catalogue on every real stack, in virtual time: what a stack can
//! run moves 50 MB whole through everything a path can do to it, and what it cannot run it
//! refuses, saying why.

use rayon::prelude::*;
use windlass::evaluation::{RunError, Stack};
use windlass::outcome::FlowOutcome;
use windlass::scenario::Scenario;
use windlass_controllers::Algorithm;

const BYTES: u64 = 50_000_000;

/// 100 Mbit/s, 40 ms, a buffer of one bandwidth-delay product.
const LINK: &str = "rate_mbps = 100\nrtt_ms = 40\nbuffer_bdp = 1\n";

/// What a path does: keys of its link, of its flow, and what follows the link.
struct Path {
    name: &'static str,
    link: &'static str,
    flow: &'static str,
    changes: &'static str,
}

const PATHS: [Path; 7] = [
    Path { name: "clean", link: "", flow: "", changes: "" },
    Path { name: "1 % loss", link: "loss_percent = 1", flow: "", changes: "" },
    Path { name: "ECN", link: "queue = { kind = \"step\", threshold_packets = 40 }", flow: "ecn = true", changes: "" },
    Path {
        name: "2 s blackout",
        link: "",
        flow: "",
        changes: "[[dumbbell.change]]\nat_s = 2\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 4\nloss_percent = 0",
    },
    // Packets leave every 98 µs; with this jitter one in twenty is overtaken by the next.
    Path { name: "5 % reordering", link: "jitter_ms = 0.144\nreorder = true", flow: "", changes: "" },
    Path { name: "capacity halved", link: "", flow: "", changes: "[[dumbbell.change]]\nat_s = 2\nrate_mbps = 50" },
    Path { name: "MTU raised", link: "", flow: "discover_packet_bytes = 4000", changes: "" },
];

impl Path {
    /// Time enough even for Nice, which on a path that loses packets at random yields to
    /// nobody with a packet every few round trips, where the stack's pacer obeys.
    fn scenario(&self, controller: &str) -> Scenario {
        let Path { name, link, flow, changes } = self;
        let text = format!(
            "duration_s = 30_000\nsample_ms = 100_000\n[dumbbell]\n{LINK}{link}\n{changes}\n\
             [[flow]]\ncontroller = {controller:?}\nack = \"delayed\"\ntransfer_bytes = {BYTES}\n{flow}"
        );
        Scenario::read(name, &text, None).unwrap_or_else(|error| panic!("{error}"))
    }

    fn carry(&self, stack: Stack, controller: &str) -> Result<FlowOutcome, RunError> {
        Ok(stack.run(&self.scenario(controller), None, &|_| false)?.flows.remove(0))
    }
}

/// What is wrong with how `stack` runs `controller`, if anything.
fn examine(stack: Stack, controller: &str, path: &Path) -> Option<String> {
    let at = format!("{controller} on {}, {}", stack.name(), path.name);
    let flow = match path.carry(stack, controller) {
        Ok(flow) => flow,
        Err(error) => return Some(format!("{at}: {error:?}")),
    };
    // The run itself compares the hashes of what was sent and what arrived.
    if !flow.completed || flow.sha256.is_none() {
        return Some(format!("{at}: not done after {:.0} s at {:.3} Mbit/s", flow.stop_s, flow.goodput_mbps));
    }
    if stack.name() == "s2n-quic" && path.name == "MTU raised" {
        // It raises its datagrams, and takes three bursts of losses for a black hole: whoever
        // overflows a buffer afterwards is back at 1200 bytes.
        return None;
    }
    let raised = flow.packets_sent < BYTES / 2000;
    (raised != (path.name == "MTU raised")).then(|| format!("{at}: {} packets", flow.packets_sent))
}

fn matrix(stack: Stack) {
    let names = Algorithm::ALL.iter().map(|entry| (entry.name, (entry.default)().needs()));
    let (able, unable): (Vec<_>, Vec<_>) = names.partition(|(_, needs)| stack.provides().contains(*needs));
    assert!(able.len() > unable.len());
    // Losses keep Nice's window small, and below ten packets an s2n-quic receiver's ACKs wait
    // for its timer: it yields to nobody, and 50 MB would take it hours of virtual time.
    let waits = |name: &str, path: &Path| stack.name() == "s2n-quic" && name == "nice" && path.name == "1 % loss";
    let cells: Vec<_> = able.iter().flat_map(|(name, _)| PATHS.iter().map(move |path| (*name, path))).collect();
    let cells: Vec<_> = cells.into_iter().filter(|(name, path)| !waits(name, path)).collect();
    let wrong: Vec<String> = cells.into_par_iter().filter_map(|(name, path)| examine(stack, name, path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, _) in unable {
        let Err(RunError::Failed(reason)) = PATHS[0].carry(stack, name) else { panic!("{} runs {name}", stack.name()) };
        let expected = format!("flow \"flow1\": {name} needs ");
        assert!(
            reason.starts_with(&expected) && reason.contains(&format!("; {} does not report", stack.name())),
            "{reason}"
        );
    }
}

#[test]
fn quinn() {
    matrix(Stack::Quinn);
}

#[test]
fn noq() {
    matrix(Stack::Noq);
}

#[cfg(feature = "s2n-quic")]
#[test]
fn s2n_quic() {
    matrix(Stack::S2nQuic);
}
