//! The routes of a scenario: what a section names, or what a dumbbell has, the links they need besides,
//! and buffers in bandwidth-delay products of the routes over a link.

use windlass_controllers::Span;

use super::Plan;
use crate::scenario::fields::{Found, Section};
use crate::scenario::flows::{self, Access};
use crate::scenario::links::LinkDraft;
use crate::scenario::problem::nearest;
use windlass_network::{LinkId, LinkSpec, RouteId};

impl Plan {
    pub(super) fn add_link(&mut self, draft: LinkDraft) {
        self.topology.link(draft.spec.clone());
        self.drafts.push(Some(draft));
    }

    /// A pure delay, shared by all who ask for the same.
    fn pipe(&mut self, delay: Span) -> LinkId {
        let links = self.topology.links.iter().zip(&self.drafts);
        if let Some(i) = links
            .map(|(link, draft)| draft.is_none() && link.delay == delay && link.rate.is_infinite())
            .position(|same| same)
        {
            return LinkId(i as u32);
        }
        let mut name = format!("delay {} ms", delay.millis());
        while self.topology.links.iter().any(|link| link.name == name) {
            name.push('\'');
        }
        self.drafts.push(None);
        self.topology.link(LinkSpec { instrumented: false, ..LinkSpec::pipe(&name, delay) })
    }

    pub(super) fn route(&mut self, links: Vec<LinkId>) -> RouteId {
        if let Some(route) = self.routes.get(&links) {
            return *route;
        }
        let route = self.topology.route(links.clone());
        self.routes.insert(links, route);
        route
    }

    /// The links a route names.
    pub(super) fn links(&self, section: &Section<'_>, key: &'static str) -> Option<Vec<LinkId>> {
        let names = section.texts(key)?;
        let mut links = Vec::new();
        for Found { value, span } in names {
            let known = || (0u32..).zip(&self.topology.links).zip(&self.drafts).filter(|(_, draft)| draft.is_some());
            match known().find(|((_, link), _)| link.name == value) {
                Some(((i, _), _)) => links.push(LinkId(i)),
                None => {
                    let help = nearest(&value, known().map(|((_, link), _)| link.name.as_str()))
                        .map(|near| format!("did you mean {near:?}?"));
                    section.problem(
                        &span,
                        "no such link",
                        format!("{}: {key} names no link: {value:?}", section.name),
                        help,
                    );
                }
            }
        }
        Some(links)
    }

    pub(super) fn delay(&self, links: &[LinkId]) -> Span {
        links.iter().fold(Span::ZERO, |sum, link| sum + self.topology.links[link.0 as usize].delay)
    }

    /// The way of a flow's data and that of its ACKs: what it names, or the dumbbell's with
    /// the flow's own RTT.
    pub(super) fn ways(&mut self, section: &Section<'_>) -> [Vec<LinkId>; 2] {
        let Some(default) = self.rtt else {
            if !section.has("route") {
                section.lacks(
                    format!("{} has no route", section.name),
                    Some("add route = [\"…\"], the links its data passes in order".to_owned()),
                );
            }
            let forward = self.links(section, "route").unwrap_or_default();
            let backward = self.links(section, "return_route");
            let backward = backward.unwrap_or_else(|| vec![self.pipe(self.delay(&forward))]);
            return [forward, backward];
        };
        let goes_back = section.word("direction", &["forth", "back"]) == "back";
        let rtt = flows::rtt(section).unwrap_or(default);
        if rtt < default {
            let message = format!("{}: rtt_ms is less than the dumbbell's", section.name);
            section.lacks(message, Some("give [dumbbell] the smallest RTT of all flows".to_owned()));
            return [vec![LinkId(0)], vec![]];
        }
        let mut forward = Vec::new();
        if rtt > default {
            forward.push(self.pipe(Span(rtt.0 / 2) - self.delay(&[LinkId(0)])));
        }
        forward.push(LinkId(0));
        let Some(back) = self.back else {
            if goes_back {
                let help = "add [dumbbell.back], with rate_mbps or whatever else its way back has";
                section.lacks(format!("{} goes back, where nothing queues", section.name), Some(help.to_owned()));
            }
            return [forward, vec![self.pipe(Span(rtt.0 - rtt.0 / 2))]];
        };
        let mut backward = vec![back];
        if rtt > default {
            backward.push(self.pipe(Span(rtt.0 - rtt.0 / 2) - self.delay(&[back])));
        }
        if goes_back { [backward, forward] } else { [forward, backward] }
    }

    /// The routes over `ways` for the flow called `name`, which has `access` to them.
    pub(super) fn routes(&mut self, ways: &[Vec<LinkId>; 2], access: &Access, name: &str) -> (RouteId, RouteId) {
        let [mut forward, mut backward] = ways.clone();
        if access.rate.is_finite() {
            let name = format!("access of {name}");
            let known = self.access.iter().copied().find(|link| self.topology.links[link.0 as usize].name == name);
            let id = known.unwrap_or_else(|| {
                let link = LinkSpec::new(&name, access.rate, access.delay);
                self.drafts.push(None);
                self.topology.link(LinkSpec { limit: access.limit, instrumented: false, ..link })
            });
            self.access.insert(id);
            forward.insert(0, id);
        } else if access.delay > Span::ZERO {
            forward.insert(0, self.pipe(access.delay));
        }
        self.lengthen(&mut backward, access.delay);
        (self.route(forward), self.route(backward))
    }

    /// Adds a delay to the end of a way. Two delays one after the other are one.
    pub(super) fn lengthen(&mut self, way: &mut Vec<LinkId>, delay: Span) {
        if delay > Span::ZERO {
            let last = way.pop_if(|link| self.drafts[link.0 as usize].is_none() && !self.access.contains(link));
            let before = last.map_or(Span::ZERO, |link| self.delay(&[link]));
            way.push(self.pipe(before + delay));
        }
    }

    /// Turns buffers given in bandwidth-delay products into packets.
    pub(super) fn default_buffers(&mut self, sections: &[&Section<'_>]) {
        let drafts = std::mem::take(&mut self.drafts);
        for (i, draft) in drafts.into_iter().enumerate() {
            let Some(draft) = draft else { continue };
            let bdp = self
                .longest_rtt(LinkId(i as u32))
                .map(|rtt| draft.spec.rate * rtt.secs() / (8.0 * f64::from(self.wire_bytes)));
            let Some(section) = sections.iter().find(|section| section.span == draft.span) else { continue };
            let section = section.renamed(&format!("link {:?}", draft.spec.name));
            self.topology.links[i] = draft.finish(bdp, self.wire_bytes, &section);
        }
    }

    /// The longest base RTT of the flows whose data or ACKs use `link`; in a dumbbell,
    /// the dumbbell's.
    fn longest_rtt(&self, link: LinkId) -> Option<Span> {
        if self.rtt.is_some() {
            return self.rtt;
        }
        let uses = |route: RouteId| self.topology.routes[route.0 as usize].contains(&link);
        let dynamic_flows = self.dynamic_flows.iter().map(|dynamic| &dynamic.flow);
        self.flows
            .iter()
            .chain(dynamic_flows)
            .filter(|flow| uses(flow.forward) || uses(flow.backward))
            .map(|flow| self.topology.delay(flow.forward) + self.topology.delay(flow.backward))
            .max()
    }
}
