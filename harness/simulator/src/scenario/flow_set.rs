//! All flows of one run: those a scenario names, and those of its dynamic_flows as the seed has
//! them.

use windlass_controllers::{Span, Time};

use super::dynamic_flows::{ArrivalPattern, Arrivals, DynamicFlows, Web};
use super::flow_spec::FlowSpec;
use super::model::Scenario;
use windlass_network::{Stream, Topology};

/// All flows of one run.
#[derive(Clone, Debug)]
pub struct FlowSet {
    /// The scenario's own flows, then those of each set of dynamic flows. What waits for others has a
    /// start at the end of time.
    pub flows: Vec<FlowSpec>,
    /// Start times of the flows.
    pub start_schedule: StartSchedule,
}

/// When flows start: at times known from the beginning, or when others are over.
#[derive(Clone, Debug, Default)]
pub struct StartSchedule {
    /// How many flows are the scenario's own.
    own: usize,
    /// How many flows each set of dynamic flows has.
    sizes: Vec<usize>,
    /// The page each flow of a set of dynamic flows belongs to.
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

/// Start of flows that wait for others to end.
const WAITS: Time = Time(u64::MAX);

impl StartSchedule {
    /// The number of the set of dynamic flows that flow `number` belongs to.
    #[must_use]
    pub fn dynamic_set(&self, number: usize) -> Option<usize> {
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

    /// Flow `number` is over at `now`; to be called once for each. Returns the flows that start
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
    pub fn flow_set(&self) -> FlowSet {
        let start_schedule = StartSchedule { own: self.flows.len(), ..StartSchedule::default() };
        let mut flow_set = FlowSet { flows: self.flows.clone(), start_schedule };
        for dynamic in &self.dynamic_flows {
            let before = flow_set.flows.len();
            match &dynamic.pattern {
                ArrivalPattern::Arrivals(arrivals) => flow_set.arrive(dynamic, arrivals, self.seed),
                ArrivalPattern::Web(web) => flow_set.browse(dynamic, web, self.seed, &self.topology),
            }
            flow_set.start_schedule.sizes.push(flow_set.flows.len() - before);
        }
        flow_set
    }
}

impl FlowSet {
    fn add(&mut self, flow: FlowSpec, page: Option<usize>) {
        self.flows.push(flow);
        self.start_schedule.pages_of.push(page);
    }

    fn arrive(&mut self, dynamic: &DynamicFlows, arrivals: &Arrivals, seed: u64) {
        let flow = &dynamic.flow;
        let mut random = Stream::new(seed, &format!("crowd {}", flow.name));
        let gap = |random: &mut Stream| match arrivals.random {
            true => Span::from_secs_f64(random.exponential(arrivals.gap.secs())),
            false => arrivals.gap,
        };
        let mut at = flow.start;
        if arrivals.random {
            at += gap(&mut random);
        }
        let (forward, backward) = dynamic.routes[0][0];
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

    /// Schedules the objects of web pages (`spec: cho §14.3`).
    fn browse(&mut self, dynamic: &DynamicFlows, web: &Web, seed: u64, topology: &Topology) {
        let flow = &dynamic.flow;
        let chunk = u64::from(flow.packet_bytes - flow.header_bytes);
        let mut sessions = Stream::new(seed, &format!("crowd {}", flow.name));
        let mut begin = flow.start;
        for session in 0..web.sessions {
            begin += Span::from_secs_f64(sessions.exponential(web.session_gap));
            // A stream of its own: how long pages take does not change the random numbers of others.
            let mut random = Stream::new(seed, &format!("crowd {} session {session}", flow.name));
            let client = random.integer();
            let mut previous: Option<usize> = None;
            for page in 0..web.pages {
                let routes = &dynamic.routes[(random.integer() % dynamic.routes.len() as u64) as usize];
                let (forward, backward) = routes[(client % routes.len() as u64) as usize];
                let mut later = match previous {
                    Some(_) => Span::from_secs_f64(random.exponential(web.page_gap)),
                    None => Span::ZERO,
                };
                // A request takes the way of the ACKs before the object can start.
                later = later + topology.delay(backward);
                let number = self.start_schedule.pages.len();
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
                if let Some(previous) = previous.and_then(|page| self.start_schedule.pages.get_mut(page)) {
                    previous.then = starts;
                }
                self.start_schedule.pages.push(Page { left: web.objects as usize, then: Vec::new() });
                previous = Some(number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
