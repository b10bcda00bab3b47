//! The language of the rows: what happens to a sender, and what is expected of it then.
//!
//! | step | what it is |
//! |---|---|
//! | `rtt 100`, `delay 40` | the round-trip time, the one-way delay from now on, ms |
//! | `used` | the window counts as used, whatever is in flight |
//! | `send`, `send 4` | as many packets as the window has room for, or that many |
//! | `ack 2`, `ack 2 x 5` | an acknowledgement of that many packets; five of them |
//! | `acks`, `acks 9` | an acknowledgement for each packet in flight, or for so many |
//! | `mark 1` | an acknowledgement of one packet that reports that many CE marks |
//! | `lose 1`, `lose 2 newest` | packets in flight are lost, the oldest or the newest |
//! | `persistent` | all that is in flight is lost, and that is persistent congestion |
//! | `spurious` | the losses so far were none |
//! | `wait 50` | time passes, ms |
//! | `9 times send, ack 2` | several steps, again and again |
//!
//! An expectation is a quantity, a relation (`=`, `<`, `<=`, `>`, `>=`), a number and what it may be off by:
//! `cwnd = 14600`, `cwnd = 9.8p by 0.1p`; `p` are packets. Quantities are `cwnd`, `ssthresh` (bytes), `packets` (the
//! window in whole packets), `grown` (whole packets since the latest `remember`), `room` (packets that may be sent) and
//! any state variable of the controller by its name. A text that decides against one follows `|`.

use windlass_controllers::{Algorithm, Span};

use crate::sender::{Frame, Sender, Which};
use crate::{Outcome, Test};

/// The sender and what a script remembers.
struct Run<'a> {
    sender: Sender,
    remembered: u64,
    outcomes: Vec<Outcome>,
    test: &'a Test,
}

/// Carries out the steps of `test` with `algorithm`.
///
/// # Errors
/// A step is none, with the step.
pub fn run(test: &Test, algorithm: Algorithm) -> Result<Vec<Outcome>, String> {
    let sender = Sender::new(algorithm, test.mtu);
    let mut run = Run { sender, remembered: 0, outcomes: Vec::new(), test };
    for step in &test.steps {
        run.step(step).map_err(|error| format!("{}: {step:?}: {error}", test.name))?;
    }
    run.rounds();
    Ok(run.outcomes)
}

/// What a quantity should be.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// Its name.
    pub quantity: String,
    relation: Relation,
    wanted: f64,
    by: f64,
    text: String,
    decided: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Equal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Expectation {
    /// Reads an expectation; a number that ends in `p` is of packets, each worth `packet`.
    ///
    /// # Errors
    /// The text is none.
    pub fn read(text: &str, packet: f64) -> Result<Expectation, String> {
        let (text, decided) = match text.split_once(" | ") {
            Some((expectation, by)) => (expectation, Some(by.to_owned())),
            None => (text, None),
        };
        let value = |text: &str| {
            let (digits, unit) = text.strip_suffix('p').map_or((text, 1.0), |digits| (digits, packet));
            digits.parse::<f64>().map(|value| value * unit).map_err(|_| format!("{text:?} is no number"))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (quantity, relation, wanted, by) = match words[..] {
            [quantity, relation, wanted] => (quantity, relation, value(wanted)?, 0.0),
            [quantity, relation, wanted, "by", by] => (quantity, relation, value(wanted)?, value(by)?),
            _ => return Err("neither a step nor an expectation".to_owned()),
        };
        let relation = match relation {
            "=" => Relation::Equal,
            "<" => Relation::Below,
            "<=" => Relation::AtMost,
            ">" => Relation::Above,
            ">=" => Relation::AtLeast,
            _ => return Err(format!("{relation:?} is no relation; expected =, <, <=, > or >=")),
        };
        Ok(Expectation { quantity: quantity.to_owned(), relation, wanted, by, text: text.to_owned(), decided })
    }

    /// What becomes of it where the quantity is `ours`.
    #[must_use]
    pub fn outcome(&self, ours: f64) -> Outcome {
        let Expectation { wanted, by, .. } = *self;
        let met = match self.relation {
            Relation::Equal => (ours - wanted).abs() <= by || ours == wanted,
            Relation::Below => ours < wanted,
            Relation::AtMost => ours <= wanted + by,
            Relation::Above => ours > wanted,
            Relation::AtLeast => ours >= wanted - by,
        };
        Outcome { expected: self.text.clone(), ours, met, decided: self.decided.clone() }
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text:?} is no whole number"))
}

fn millis(text: &str) -> Result<Span, String> {
    let ms: f64 = text.parse().map_err(|_| format!("{text:?} is no number of milliseconds"))?;
    Ok(Span::from_secs_f64(ms / 1000.0))
}

impl Run<'_> {
    fn step(&mut self, text: &str) -> Result<(), String> {
        if let Some((times, steps)) = text.split_once(" times ") {
            for _ in 0..number(times)? {
                steps.split(", ").try_for_each(|step| self.step(step))?;
            }
            return Ok(());
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["rtt", ms] => self.sender.rtt = millis(ms)?,
            ["delay", ms] => self.sender.delay = Some(millis(ms)?),
            ["used"] => self.sender.used = true,
            ["send"] => self.sender.send(self.sender.room()),
            ["send", packets] => self.sender.send(number(packets)?),
            ["ack", packets] => self.acknowledge(number(packets)?, 1),
            ["ack", packets, "x", frames] => self.acknowledge(number(packets)?, number(frames)?),
            ["acks"] => self.acknowledge(1, self.sender.in_flight()),
            ["acks", packets] => self.acknowledge(1, number(packets)?),
            ["mark", marks] => self.sender.acknowledge(Frame { packets: 1, marks: number(marks)? as u32 }),
            ["lose", packets] => self.sender.lose(number(packets)?, Which::Oldest, false),
            ["lose", packets, "newest"] => self.sender.lose(number(packets)?, Which::Newest, false),
            ["persistent"] => self.sender.lose(self.sender.in_flight().max(1), Which::Oldest, true),
            ["spurious"] => self.sender.take_back_losses(),
            ["wait", ms] => self.sender.now += millis(ms)?,
            ["remember"] => self.remembered = self.sender.decision().cwnd,
            _ => return self.expect(text),
        }
        Ok(())
    }

    fn acknowledge(&mut self, packets: usize, frames: usize) {
        for _ in 0..frames {
            self.sender.acknowledge(Frame { packets, marks: 0 });
        }
    }

    /// Our value; NaN, which no relation holds of, where the controller has no such state variable now.
    fn quantity(&self, name: &str) -> f64 {
        let (decision, mtu) = (self.sender.decision(), self.sender.mtu());
        match name {
            "cwnd" => decision.cwnd as f64,
            "ssthresh" => decision.ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64),
            "packets" => (decision.cwnd / mtu) as f64,
            "grown" => ((decision.cwnd as f64 - self.remembered as f64) / mtu as f64).floor(),
            "room" => self.sender.room() as f64,
            _ => self.sender.variable(name).unwrap_or(f64::NAN),
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        let expectation = Expectation::read(text, self.sender.mtu() as f64)?;
        self.outcomes.push(expectation.outcome(self.quantity(&expectation.quantity)));
        Ok(())
    }

    /// Round trips in which a window is sent, acknowledged packet by packet and begins the next; the window at the
    /// start of each is expected.
    fn rounds(&mut self) {
        let mut drops = self.test.drops.iter().peekable();
        let most = self.test.round_bytes.map_or(usize::MAX, |bytes| bytes.div_ceil(self.sender.mtu()) as usize);
        for (round, &expected) in self.test.rounds.iter().enumerate() {
            let cwnd = self.sender.decision().cwnd;
            // Whole packets are reported.
            let packets = (cwnd / self.sender.mtu()) as f64;
            let by = self.test.within.max(self.test.share * expected);
            let decided = self.test.decided.iter().find(|decided| (decided.from..=decided.to).contains(&round));
            self.outcomes.push(Outcome {
                expected: format!("round {round}: {expected} packets"),
                ours: packets,
                met: (packets - expected).abs() <= by,
                decided: decided.map(|decided| decided.by.clone()),
            });
            // A round begins as the acknowledgements of the one before come, or a round-trip time after a loss.
            if drops.next_if(|drop| cwnd >= **drop).is_some() {
                self.sender.lose(1, Which::Oldest, false);
                self.sender.now += self.sender.rtt;
            } else {
                let packets = self.sender.room().min(most);
                self.sender.send(packets);
                self.acknowledge(1, packets);
            }
        }
    }
}
