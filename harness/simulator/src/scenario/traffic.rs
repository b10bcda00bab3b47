//! The keys of `[[traffic]]`.

use windlass_controllers::Time;

use super::fields::{Found, MAX_TIME, Section, above_zero, at_s, rate_bounds, within};
use windlass_network::{Pattern, Redraw, RouteId, TrafficSpec};

/// Reads one traffic source. `None` if something decisive is missing; the problem is noted.
pub(super) fn read(section: &Section<'_>, name: &str, route: RouteId, end: Time) -> Option<TrafficSpec> {
    let kind = section.word("kind", &["cbr", "poisson", "exponential-on-off", "pareto-on-off"]);
    if !section.has("kind") {
        section.lacks(
            format!("{} has no kind", section.name),
            Some("add kind = \"cbr\", \"poisson\", \"exponential-on-off\" or \"pareto-on-off\"".to_owned()),
        );
    }
    let rate = section.required_number("rate_mbps", rate_bounds());
    let on_off = kind.ends_with("on-off");
    let mean = on_off.then(|| section.required_number("mean_rate_mbps", rate_bounds())).flatten();
    let on = on_off.then(|| section.number_or("on_ms", above_zero(1e9, "ms"), 8.0) / 1e3);
    let shape = (kind == "pareto-on-off").then(|| section.number_or("shape", within(1.001, 100.0, ""), 1.5));
    let jitter = (kind == "cbr").then(|| section.number_or("gap_jitter", within(0.0, 1.0, "of the gap"), 0.0));
    let period = (kind == "cbr").then(|| period(section)).flatten();
    let redraw = (kind == "poisson").then(|| redraw(section, rate.as_ref())).flatten();
    let bytes = section.whole("packet_bytes", 1, 65_535, "bytes").map_or(1000, |found| found.value) as u32;
    let start = section.number_or("start_s", within(0.0, MAX_TIME, "s"), 0.0);
    let stop = section.number("stop_s", within(0.0, MAX_TIME, "s"));
    stops_after_start(section, start, stop.as_ref());

    let rate = rate?;
    let pattern = match kind {
        "cbr" => Pattern::Constant { rate: rate.value * 1e6, jitter: jitter.unwrap_or(0.0), period },
        "poisson" => Pattern::Poisson { rate: rate.value * 1e6, redraw },
        _ => {
            let (mean, on) = (mean?, on?);
            if mean.value > rate.value {
                let message =
                    format!("{}: mean_rate_mbps is {}, more than its peak, {}", section.name, mean.value, rate.value);
                section.problem(&mean.span, "more than rate_mbps", message, None);
                return None;
            }
            let (peak, mean) = (rate.value * 1e6, mean.value * 1e6);
            match shape {
                Some(shape) => Pattern::ParetoOnOff { peak, mean, on, shape },
                None => Pattern::ExponentialOnOff { peak, mean, on },
            }
        }
    };
    let stop = stop.map_or(end, |stop| at_s(stop.value));
    Some(TrafficSpec { name: name.to_owned(), route, bytes, pattern, start: at_s(start), stop })
}

/// How often a Poisson source draws its rate, if it does.
fn redraw(section: &Section<'_>, rate: Option<&Found<f64>>) -> Option<Redraw> {
    let every = section.number("redraw_s", above_zero(MAX_TIME, "s"));
    let max = section.number("max_rate_mbps", rate_bounds());
    match (&every, &max) {
        (Some(every), max) => {
            if let Some(rate) = rate.filter(|rate| rate.value > 1e5) {
                let message = format!("{}: rate_mbps is {}; rates drawn anew go to 1e5", section.name, rate.value);
                section.problem(&rate.span, "at most 1e5 with redraw_s", message, None);
            }
            let max = max.as_ref().map_or(f64::INFINITY, |max| max.value * 1e6);
            Some(Redraw { every: every.value, max })
        }
        (None, Some(max)) => {
            let message = format!("{}: max_rate_mbps clips rates that are drawn anew, but none are", section.name);
            section.problem(&max.span, "without redraw_s", message, Some("add redraw_s".to_owned()));
            None
        }
        (None, None) => None,
    }
}

fn period(section: &Section<'_>) -> Option<(f64, f64)> {
    let off = section.number("off_s", within(0.0, MAX_TIME, "s"));
    let on = section.number("on_s", above_zero(MAX_TIME, "s"));
    match (&off, &on) {
        (Some(off), Some(on)) => Some((off.value, on.value)),
        (None, None) => None,
        _ => {
            let message = format!("{}: off_s and on_s belong together", section.name);
            section.lacks(message, Some("give both, or neither for a steady rate".to_owned()));
            None
        }
    }
}

/// Notes a problem if something stops before it starts.
pub(super) fn stops_after_start(section: &Section<'_>, start: f64, stop: Option<&Found<f64>>) {
    if let Some(stop) = stop.filter(|stop| stop.value <= start) {
        let message = format!("{}: stop_s is {}, but it starts at {start} s", section.name, stop.value);
        section.problem(&stop.span, "not after start_s", message, None);
    }
}
