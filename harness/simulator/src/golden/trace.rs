//! A golden trace as text: decisions and queue length at equal distances in time.

use std::fmt;

use windlass_controllers::Phase;

/// A flow of a trace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Name of the flow, unique in the scenario.
    pub name: String,
    /// Congestion window, bytes; `None` before its first event and after its end.
    pub cwnd: Vec<Option<u64>>,
    /// Slow-start threshold, bytes; `None` while there is none.
    pub ssthresh: Vec<Option<u64>>,
    /// Its phase; `None` before its first event and after its end.
    pub phase: Vec<Option<Phase>>,
    /// Packets sent, declared lost and seen CE-marked, and congestion responses, in the
    /// whole run.
    pub totals: [u64; 4],
}

/// What a controller did on a golden scenario, at equal distances in time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// The controller as a user types it.
    pub controller: String,
    /// Name of the golden scenario.
    pub scenario: String,
    /// Time of each point, ms.
    pub time_ms: Vec<u64>,
    /// The flows under test, in the scenario's order.
    pub flows: Vec<Line>,
    /// Packets waiting in the first queue at each point.
    pub queue: Vec<u64>,
}

/// A line of a golden trace that does not have the form it should.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("line {line} of a golden trace is {found:?}; expected {expected}")]
pub struct Malformed {
    line: usize,
    found: String,
    expected: &'static str,
}

impl fmt::Debug for Malformed {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const PHASES: [(Phase, &str); 3] =
    [(Phase::SlowStart, "ss"), (Phase::CongestionAvoidance, "ca"), (Phase::Recovery, "re")];

fn cell<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} on {}", self.controller, self.scenario)?;
        for flow in &self.flows {
            let [sent, lost, marked, responses] = flow.totals;
            writeln!(f, "# {}: {sent} sent, {lost} lost, {marked} marked, {responses} responses", flow.name)?;
        }
        write!(f, "time_ms")?;
        for _ in &self.flows {
            write!(f, ",cwnd,ssthresh,phase")?;
        }
        writeln!(f, ",queue")?;
        for (i, time) in self.time_ms.iter().enumerate() {
            write!(f, "{time}")?;
            for flow in &self.flows {
                let phase = flow.phase[i].map(|phase| PHASES.iter().find(|(p, _)| *p == phase).map_or("", |p| p.1));
                write!(f, ",{},{},{}", cell(flow.cwnd[i]), cell(flow.ssthresh[i]), cell(phase))?;
            }
            writeln!(f, ",{}", self.queue[i])?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Trace {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Trace, Malformed> {
        let mut trace = Trace::default();
        for (i, line) in text.lines().enumerate() {
            let wrong = |expected| Malformed { line: i + 1, found: line.to_owned(), expected };
            if let Some(comment) = line.strip_prefix("# ") {
                if i == 0 {
                    let (controller, scenario) = comment.split_once(" on ").ok_or(wrong("# CONTROLLER on SCENARIO"))?;
                    (trace.controller, trace.scenario) = (controller.to_owned(), scenario.to_owned());
                } else {
                    trace.flows.push(totals(comment).ok_or(wrong("# FLOW: … sent, … lost, … marked, … responses"))?);
                }
            } else if !line.starts_with("time_ms,") {
                row(&mut trace, line).ok_or(wrong("a row of cells as the heading names them"))?;
            }
        }
        Ok(trace)
    }
}

fn totals(comment: &str) -> Option<Line> {
    let (name, rest) = comment.split_once(": ")?;
    let mut totals = [0; 4];
    let mut parts = rest.split(", ");
    for total in &mut totals {
        *total = parts.next()?.split(' ').next()?.parse().ok()?;
    }
    Some(Line { name: name.to_owned(), totals, ..Line::default() })
}

fn row(trace: &mut Trace, line: &str) -> Option<()> {
    let number = |cell: &str| if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) };
    let mut cells = line.split(',');
    trace.time_ms.push(cells.next()?.parse().ok()?);
    for flow in &mut trace.flows {
        flow.cwnd.push(number(cells.next()?)?);
        flow.ssthresh.push(number(cells.next()?)?);
        let phase = cells.next()?;
        flow.phase.push(PHASES.iter().find(|(_, name)| *name == phase).map(|(phase, _)| *phase));
    }
    trace.queue.push(cells.next()?.parse().ok()?);
    cells.next().is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_as_the_same_trace() {
        let trace = Trace {
            controller: "reno:iw=4".to_owned(),
            scenario: "shared".to_owned(),
            time_ms: vec![100, 200],
            flows: vec![Line {
                name: "flow".to_owned(),
                cwnd: vec![None, Some(12_000)],
                ssthresh: vec![None, Some(2400)],
                phase: vec![None, Some(Phase::Recovery)],
                totals: [1, 2, 3, 4],
            }],
            queue: vec![0, 7],
        };
        let text = trace.to_string();
        assert_eq!(text.parse::<Trace>().unwrap(), trace);
        assert!(text.contains("\n100,,,,0\n200,12000,2400,re,7\n"), "{text}");
    }

    #[test]
    fn says_what_is_wrong_where() {
        let wrong = |text: &str| text.parse::<Trace>().unwrap_err().to_string();
        assert!(wrong("# reno\n").starts_with("line 1 of a golden trace is \"# reno\"; expected # CONTROLLER"));
        assert!(wrong("# reno on shared\n# f: 1 sent\n").starts_with("line 2"));
        assert!(wrong("# reno on shared\ntime_ms,queue\n1,2,3\n").starts_with("line 3"));
    }
}
