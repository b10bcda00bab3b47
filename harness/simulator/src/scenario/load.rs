//! Reading a scenario file from its text to a checked [`Scenario`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::de::DeTable;
use windlass_controllers::{ConfiguredController, Span};

use super::application::OBJECTS;
use super::dynamic_flows::{self, DynamicFlows};
use super::fields::{MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, within};
use super::flow_spec::{Control, FlowSpec};
use super::flows::{self, Defaults, UnderTest};
use super::links::LinkDraft;
use super::model::{Scenario, WeightChange, set_weight};
use super::problem::{Problems, ScenarioError, nearest};
use super::service;
use super::traffic;
use windlass_network::{LinkId, RouteId, Service, Topology};

mod routes;

impl Scenario {
    /// Reads the file at `path`. `controller` is what flows under test run; it outranks
    /// the file's own `under_test`.
    ///
    /// # Errors
    /// The file cannot be read, or has mistakes: all of them, each with its place.
    pub fn load(path: &Path, controller: Option<&str>) -> Result<Scenario, ScenarioError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScenarioError::Unreadable { path: path.to_owned(), source })?;
        let mut scenario = Scenario::read(&path.display().to_string(), &text, controller)?;
        if scenario.name.is_empty() {
            scenario.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(scenario)
    }

    /// Reads a scenario from `text`; `file` names it in messages.
    ///
    /// # Errors
    /// The text has mistakes: all of them, each with its place.
    pub fn read(file: &str, text: &str, controller: Option<&str>) -> Result<Scenario, ScenarioError> {
        // Places are line and column, the same for lines that end in CR LF.
        let text = &text.replace("\r\n", "\n");
        let problems = RefCell::new(Problems::new(file, text));
        let scenario = parse(text, controller, &problems);
        let problems = problems.into_inner();
        match scenario {
            Some(scenario) if problems.is_empty() => Ok(scenario),
            _ => Err(problems.into_error()),
        }
    }
}

fn parse(text: &str, controller: Option<&str>, problems: &RefCell<Problems>) -> Option<Scenario> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        problems.borrow_mut().add(span, "not TOML", format!("not valid TOML: {}", error.message()), None);
    }
    if errors.is_empty() {
        read(&Section::new("the scenario", 0..0, table.get_ref(), problems), controller)
    } else {
        None
    }
}

fn read(top: &Section<'_>, controller: Option<&str>) -> Option<Scenario> {
    let text = |key| top.text(key).map_or(String::new(), |found| found.value);
    let (name, description) = (text("name"), text("description"));
    let duration = top.required_number("duration_s", above_zero(MAX_TIME, "s")).map(|found| at_s(found.value));
    let seed = top.whole("seed", 0, u64::MAX, "").map_or(1, |found| found.value);
    let sample = top.number("sample_ms", above_zero(1e10, "ms"));
    let (packet_bytes, overhead_bytes, ack_bytes) = flows::sizes(top, (1200, 28, 40));
    let header_bytes = flows::header(top, packet_bytes, 0);
    let burst_packets = flows::burst(top, 1);
    let under_way = top.whole("max_packets_under_way", 1, 1 << 32, "packets");
    let in_file = top.text("under_test");
    let under_test = match (controller, &in_file) {
        (Some(text), _) => UnderTest::Given(text),
        (None, Some(found)) => UnderTest::InFile(found),
        (None, None) => UnderTest::Open,
    };
    let end = duration.unwrap_or(at_s(1.0));
    let defaults = Defaults { packet_bytes, overhead_bytes, ack_bytes, header_bytes, burst_packets, end };

    let mut plan = Plan { wire_bytes: packet_bytes + overhead_bytes, ..Plan::default() };
    let mut back = None;
    let dumbbell = top.table("dumbbell", "[dumbbell]");
    let links = top.tables("link");
    match (&dumbbell, links.first()) {
        (Some(dumbbell), Some(link)) => {
            let help = "write the dumbbell as a [[link]] too, or leave the links out";
            link.lacks("a scenario has either [dumbbell] or [[link]]".to_owned(), Some(help.to_owned()));
            dumbbell.finish();
        }
        (Some(dumbbell), None) => back = plan.dumbbell(dumbbell),
        (None, None) => {
            top.lacks("the scenario has no network".to_owned(), Some("add [dumbbell] or [[link]]".to_owned()))
        }
        (None, Some(_)) => {}
    }
    links.iter().for_each(|link| plan.link(link));
    let flow_sections = top.tables("flow");
    let web_sections = top.tables("web");
    if flow_sections.is_empty() && web_sections.is_empty() {
        top.lacks("the scenario has no flows".to_owned(), Some("add [[flow]]".to_owned()));
    }
    // Routes may name only links that were read without mistakes.
    for (i, section) in flow_sections.iter().enumerate() {
        plan.flow(section, i, &defaults, &under_test);
    }
    for (i, section) in web_sections.iter().enumerate() {
        plan.web(section, i, &defaults, &under_test);
    }
    for section in top.tables("group") {
        plan.group(&section);
    }
    for (i, section) in top.tables("traffic").iter().enumerate() {
        plan.traffic(section, i, &defaults);
    }
    top.finish();
    let sections: Vec<&Section<'_>> = dumbbell.iter().chain(&back).chain(&links).collect();
    plan.default_buffers(&sections);

    let duration = Span(duration?.0);
    let sample = sample.map_or(Span((duration.0 / 500).max(1)), |found| ms(found.value));
    if sample == Span::ZERO || duration.0 / sample.0 > 10_000_000 {
        top.lacks(
            format!("sample_ms gives {} points", duration.0 / sample.0.max(1)),
            Some("at most 10 million points; take a larger sample_ms".to_owned()),
        );
    }
    let queues = (0u32..)
        .zip(&plan.topology.links)
        .filter(|(i, link)| link.rate.is_finite() && !plan.access.contains(&LinkId(*i)))
        .map(|(i, _)| LinkId(i));
    Some(Scenario {
        name,
        description,
        duration,
        seed,
        sample,
        wire_bytes: plan.wire_bytes,
        queues: queues.collect(),
        topology: plan.topology,
        flows: plan.flows,
        dynamic_flows: plan.dynamic_flows,
        weight_changes: plan.weight_changes,
        max_packets_under_way: under_way.map_or(Scenario::MAX_PACKETS_UNDER_WAY, |found| found.value),
        threads: 1,
    })
}

/// Parts of a scenario while it is read.
#[derive(Default)]
struct Plan {
    wire_bytes: u32,
    topology: Topology,
    drafts: Vec<Option<LinkDraft>>,
    flows: Vec<FlowSpec>,
    dynamic_flows: Vec<DynamicFlows>,
    weight_changes: Vec<WeightChange>,
    names: BTreeSet<String>,
    groups: BTreeMap<String, (String, Control)>,
    /// The base RTT of a dumbbell.
    rtt: Option<Span>,
    /// The link of a dumbbell's way back, if that is more than a delay.
    back: Option<LinkId>,
    /// Access links of single flows.
    access: BTreeSet<LinkId>,
    /// Routes by the links they lead over.
    routes: BTreeMap<Vec<LinkId>, RouteId>,
}

impl Plan {
    /// Reads the dumbbell; returns the section of its way back, if it has one.
    fn dumbbell<'t>(&mut self, section: &Section<'t>) -> Option<Section<'t>> {
        let (rate, service) = service::read(section, None);
        let rtt = section.required_number("rtt_ms", above_zero(MAX_DELAY, "ms"));
        let rtt = ms(rtt.map_or(1.0, |found| found.value));
        let draft = LinkDraft::read(section, "bottleneck", (rate, service.clone()), Span(rtt.0 / 2));
        let back = section.table("back", "[dumbbell.back]");
        section.finish();
        self.rtt = Some(rtt);
        self.add_link(draft);
        if let Some(back) = &back {
            let service = service::read(back, Some((rate, service)));
            let draft = LinkDraft::read(back, "back", service, Span(rtt.0 - rtt.0 / 2));
            back.finish();
            self.back = Some(LinkId(self.drafts.len() as u32));
            self.add_link(draft);
        }
        back
    }

    fn link(&mut self, section: &Section<'_>) {
        let name = section.text("name");
        let label = name.as_ref().map_or("[[link]]".to_owned(), |name| format!("link {:?}", name.value));
        let section = section.renamed(&label);
        match &name {
            None => section.lacks("a link has no name".to_owned(), Some("routes need it: add name = \"…\"".to_owned())),
            Some(name) if self.topology.links.iter().any(|link| link.name == name.value) => {
                section.problem(&name.span, "again", format!("two links are called {:?}", name.value), None);
            }
            Some(_) => {}
        }
        let service = service::read(&section, Some((f64::INFINITY, Service::Steady)));
        let delay = ms(section.number_or("delay_ms", within(0.0, MAX_DELAY, "ms"), 0.0));
        let name = name.map_or(format!("link {}", self.drafts.len()), |name| name.value);
        let draft = LinkDraft::read(&section, &name, service, delay);
        section.finish();
        self.add_link(draft);
    }

    fn name(&mut self, section: &Section<'_>, kind: &str, number: usize) -> String {
        let typed = section.text("name");
        let name = typed.as_ref().map_or(format!("{kind}{}", number + 1), |found| found.value.clone());
        if !self.names.insert(name.clone()) {
            let span = typed.map_or(section.span.clone(), |found| found.span);
            section.problem(&span, "again", format!("two flows or traffic sources are called {name:?}"), None);
        }
        name
    }

    fn flow(&mut self, section: &Section<'_>, number: usize, defaults: &Defaults, under_test: &UnderTest<'_>) {
        let name = self.name(section, "flow", number);
        let section = section.renamed(&format!("flow {name:?}"));
        let count = section.whole("count", 1, 10_000, "flows").map_or(1, |found| found.value);
        let stagger = section.number_or("stagger_s", within(0.0, MAX_TIME, "s"), 0.0);
        let flow = flows::read(&section, &name, defaults, under_test);
        let ways = self.ways(&section);
        let access = flows::access(&section);
        let is_crowd = section.has("arrivals");
        let arrivals = dynamic_flows::arrivals(&section, count, stagger);
        section.finish();
        let Some(flow) = flow else { return };
        self.one_controller(&section, &flow);
        if let Some(pattern) = arrivals {
            dynamic_flows::not_too_many(&section, &pattern, flow.start, flow.stop);
            let (forward, backward) = self.routes(&ways, &access, &name);
            let flow = FlowSpec { forward, backward, ..flow };
            self.dynamic_flows.push(DynamicFlows { flow, pattern, routes: vec![vec![(forward, backward)]] });
            return;
        }
        if is_crowd {
            return;
        }
        for i in 0..count {
            let start = at_s(stagger * i as f64);
            let name = if count > 1 { format!("{name}-{}", i + 1) } else { name.clone() };
            let (forward, backward) = self.routes(&ways, &access, &name);
            let copy = FlowSpec { start: flow.start + Span(start.0), forward, backward, ..flow.clone() };
            if count > 1 && !self.names.insert(name.clone()) {
                section.lacks(format!("two flows are called {name:?}"), None);
            }
            if copy.start >= copy.stop {
                // A stop before the start has been noted already.
                if flow.start < flow.stop || !section.has("stop_s") {
                    section.lacks(
                        format!("flow {name:?} would start when it has to stop"),
                        Some("lower start_s or stagger_s".to_owned()),
                    );
                }
                break;
            }
            self.flows.push(FlowSpec { name, ..copy });
        }
    }

    /// Notes a problem if a flow's group has another controller.
    fn one_controller(&mut self, section: &Section<'_>, flow: &FlowSpec) {
        if let Some(group) = &flow.group {
            let own = || (flow.controller.clone(), flow.control.clone());
            let (controller, _) = self.groups.entry(group.clone()).or_insert_with(own);
            if *controller != flow.controller {
                let message = format!(
                    "{}: group {group:?} has two controllers, {controller:?} and {:?}",
                    section.name, flow.controller
                );
                section.lacks(message, Some("flows of one group share one table and need one controller".to_owned()));
            }
        }
    }

    /// Reads what changes of a group.
    fn group(&mut self, section: &Section<'_>) {
        let name = section.text("name");
        let section =
            section.renamed(&name.as_ref().map_or("[[group]]".to_owned(), |name| format!("group {:?}", name.value)));
        let Some(name) = name else {
            if !section.has("name") {
                section.lacks("a group has no name".to_owned(), Some("flows name it: group = \"…\"".to_owned()));
            }
            return;
        };
        let changes = section.tables("change");
        section.finish();
        match self.groups.get(&name.value) {
            None => {
                let help = nearest(&name.value, self.groups.keys().map(String::as_str));
                let help = help.map(|near| format!("did you mean {near:?}?"));
                section.problem(&name.span, "whose?", format!("no flow is in the group {:?}", name.value), help);
            }
            Some((controller, control)) if !control.algorithm().is_some_and(|own| set_weight(&mut own.group(), 1)) => {
                let message = format!("{}: {controller} has no group weight", section.name);
                section.problem(&name.span, "cannot change", message, Some("tcp-p does".to_owned()));
            }
            Some(_) => {}
        }
        for change in changes {
            let at = change.required_number("at_s", within(0.0, MAX_TIME, "s"));
            let k = change.whole("k", 1, 1_000_000, "flows");
            if k.is_none() && !change.has("k") {
                change.lacks(format!("a change of {} changes nothing", section.name), Some("give k".to_owned()));
            }
            change.finish();
            if let (Some(at), Some(k)) = (at, k) {
                self.weight_changes.push(WeightChange {
                    at: at_s(at.value),
                    group: name.value.clone(),
                    k: k.value as u32,
                });
            }
        }
        self.weight_changes.sort_by_key(|change| change.at);
    }

    fn web(&mut self, section: &Section<'_>, number: usize, defaults: &Defaults, under_test: &UnderTest<'_>) {
        let name = self.name(section, "web", number);
        let section = section.renamed(&format!("web {name:?}"));
        let flow = flows::read(&section, &name, defaults, under_test);
        if section.has(OBJECTS) {
            let message = format!("{} has {OBJECTS}, but its flows transfer objects of a page", section.name);
            section.lacks(message, Some(format!("leave out {OBJECTS}")));
        }
        let [forward, backward] = self.ways(&section);
        let access = flows::access(&section);
        let pattern = dynamic_flows::web(&section);
        let ends = |key| match self.rtt {
            Some(_) => vec![None],
            None => match self.links(&section, key) {
                Some(links) if !links.is_empty() => links.into_iter().map(Some).collect(),
                _ => vec![None],
            },
        };
        let (servers, clients) = (ends("servers"), ends("clients"));
        section.finish();
        let Some(flow) = flow else { return };
        self.one_controller(&section, &flow);
        dynamic_flows::not_too_many(&section, &pattern, flow.start, flow.stop);
        let mut routes: Vec<Vec<(RouteId, RouteId)>> = Vec::new();
        for server in servers {
            let mut of_server = Vec::new();
            for client in &clients {
                let forth: Vec<LinkId> = server.into_iter().chain(forward.iter().copied()).chain(*client).collect();
                let ends: Vec<LinkId> = server.into_iter().chain(*client).collect();
                let mut back = backward.clone();
                self.lengthen(&mut back, self.delay(&ends));
                of_server.push(self.routes(&[forth, back], &access, &name));
            }
            routes.push(of_server);
        }
        let (forward, backward) = routes[0][0];
        self.dynamic_flows.push(DynamicFlows { flow: FlowSpec { forward, backward, ..flow }, pattern, routes });
    }

    fn traffic(&mut self, section: &Section<'_>, number: usize, defaults: &Defaults) {
        let name = self.name(section, "traffic", number);
        let section = section.renamed(&format!("traffic {name:?}"));
        let links = self.links(&section, "route").or_else(|| {
            self.rtt?;
            match (section.word("direction", &["forth", "back"]), self.back) {
                ("back", Some(back)) => Some(vec![back]),
                ("back", None) => {
                    section.lacks(
                        format!("{} goes back, where nothing queues", section.name),
                        Some("add [dumbbell.back]".to_owned()),
                    );
                    None
                }
                _ => Some(vec![LinkId(0)]),
            }
        });
        if links.is_none() && !section.has("route") && self.rtt.is_none() {
            section.lacks(format!("{} has no route", section.name), Some("add route = [\"…\"]".to_owned()));
        }
        let route = self.route(links.unwrap_or_default());
        let spec = traffic::read(&section, &name, route, defaults.end);
        section.finish();
        self.topology.traffic.extend(spec);
    }
}

#[cfg(test)]
mod tests;
