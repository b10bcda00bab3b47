//! All flows of one run: those a scenario names, and those of its crowds as the seed has
//! them.

use windlass_controllers::{Span, Time};

use super::crowd::{Arrivals, Crowd, CrowdPattern, Web};
use super::model::{FlowSpec, Scenario};
use windlass_network::{Stream, Topology};

/// All flows of one run.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The scenario's own flows, then those of each crowd. What waits for others has a
    /// start at the end of time.
    pub flows: Vec<FlowSpec>,
    /// What starts when.
    pub stage: Stage,
}

/// When flows start: at times known from the beginning, or when others are over.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// How many flows are the scenario's own.
    own: usize,
    /// How many flows each crowd has.
    sizes: Vec<usize>,
    /// The page each flow of a crowd belongs to.
    pages_of: Vec<Option<usize>>,
    pages: Vec<Page>,
}

/// Flows of which the last to end starts others.
#[derive(Clone, Debug, Default)]
struct Page {
    /// How many are not over.
    left: usize,
    /// What starts then, and how much later.
    then: Vec<(usize, Span)>,
}

/// What waits for others.
const WAITS: Time = Time(u64::MAX);

impl Stage {
    /// The number of the crowd flow `number` belongs to.
    #[must_use]
    pub fn crowd(&self, number: usize) -> Option<usize> {
        let mut rest = number.checked_sub(self.own)?;
        self.sizes.iter().position(|size| {
            let here = rest < *size;
            rest = rest.wrapping_sub(*size);
            here
        })
    }

    /// Whether no flow waits for another.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.pages.is_empty()
    }

    /// Flow `number` is over at `now`, which is to be told once. Returns what starts
    /// because of that, and when.
    pub fn over(&mut self, number: usize, now: Time) -> Vec<(usize, Time)> {
        let page = number.checked_sub(self.own).and_then(|i| *self.pages_of.get(i)?);
        let Some(page) = page.and_then(|page| self.pages.get_mut(page)) else { return Vec::new() };
        page.left = page.left.saturating_sub(1);
        match page.left {
            0 => std::mem::take(&mut page.then).into_iter().map(|(flow, later)| (flow, now + later)).collect(),
            _ => Vec::new(),
        }
    }
}

impl Scenario {
    /// All flows of the run with the scenario's seed.
    #[must_use]
    pub fn cast(&self) -> Cast {
        let stage = Stage { own: self.flows.len(), ..Stage::default() };
        let mut cast = Cast { flows: self.flows.clone(), stage };
        for crowd in &self.crowds {
            let before = cast.flows.len();
            match &crowd.pattern {
                CrowdPattern::Arrivals(arrivals) => cast.arrive(crowd, arrivals, self.seed),
                CrowdPattern::Web(web) => cast.browse(crowd, web, self.seed, &self.topology),
            }
            cast.stage.sizes.push(cast.flows.len() - before);
        }
        cast
    }
}

impl Cast {
    fn add(&mut self, flow: FlowSpec, page: Option<usize>) {
        self.flows.push(flow);
        self.stage.pages_of.push(page);
    }

    fn arrive(&mut self, crowd: &Crowd, arrivals: &Arrivals, seed: u64) {
        let flow = &crowd.flow;
        let mut random = Stream::new(seed, &format!("crowd {}", flow.name));
        let gap = |random: &mut Stream| match arrivals.random {
            true => Span::from_secs_f64(random.exponential(arrivals.gap.secs())),
            false => arrivals.gap,
        };
        let mut at = flow.start;
        if arrivals.random {
            at += gap(&mut random);
        }
        let (forward, backward) = crowd.routes[0][0];
        let mut number = 0;
        let mut times = 0;
        while at < flow.stop && arrivals.times.is_none_or(|most| times < most) {
            for i in 0..arrivals.count {
                number += 1;
                let start = at + Span(arrivals.stagger.0.saturating_mul(i));
                let transfer_bytes = match arrivals.size {
                    Some(size) => {
                        let scale = size.mean * (size.shape - 1.0) / size.shape;
                        Some((random.pareto(scale, size.shape).ceil() as u64).max(1))
                    }
                    None => flow.transfer_bytes,
                };
                let stop = arrivals.lives.map_or(flow.stop, |lives| (start + lives).min(flow.stop));
                let name = format!("{}-{number}", flow.name);
                self.add(FlowSpec { name, start, stop, transfer_bytes, forward, backward, ..flow.clone() }, None);
            }
            times += 1;
            at += gap(&mut random).max(Span(1));
        }
    }

    /// `spec: cho §14.3`.
    fn browse(&mut self, crowd: &Crowd, web: &Web, seed: u64, topology: &Topology) {
        let flow = &crowd.flow;
        let chunk = u64::from(flow.packet_bytes - flow.header_bytes);
        let mut sessions = Stream::new(seed, &format!("crowd {}", flow.name));
        let mut begin = flow.start;
        for session in 0..web.sessions {
            begin += Span::from_secs_f64(sessions.exponential(web.session_gap));
            // A stream of its own, so that how long pages take changes nobody's luck.
            let mut random = Stream::new(seed, &format!("crowd {} session {session}", flow.name));
            let client = random.integer();
            let mut previous: Option<usize> = None;
            for page in 0..web.pages {
                let routes = &crowd.routes[(random.integer() % crowd.routes.len() as u64) as usize];
                let (forward, backward) = routes[(client % routes.len() as u64) as usize];
                let mut later = match previous {
                    Some(_) => Span::from_secs_f64(random.exponential(web.page_gap)),
                    None => Span::ZERO,
                };
                // A request takes the way of the ACKs before the object can start.
                later = later + topology.delay(backward);
                let number = self.stage.pages.len();
                let mut starts = Vec::new();
                for object in 0..web.objects {
                    if object > 0 {
                        later = later + Span::from_secs_f64(random.exponential(web.object_gap));
                    }
                    let packets = random.pareto_ii(web.object_packets, web.shape).ceil().max(1.0);
                    let start = if previous.is_some() { WAITS } else { begin + later };
                    starts.push((self.flows.len(), later));
                    self.add(
                        FlowSpec {
                            name: format!("{}-{}.{}.{}", flow.name, session + 1, page + 1, object + 1),
                            start,
                            transfer_bytes: Some((packets as u64).saturating_mul(chunk)),
                            forward,
                            backward,
                            ..flow.clone()
                        },
                        Some(number),
                    );
                }
                if let Some(previous) = previous.and_then(|page| self.stage.pages.get_mut(page)) {
                    previous.then = starts;
                }
                self.stage.pages.push(Page { left: web.objects as usize, then: Vec::new() });
                previous = Some(number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
