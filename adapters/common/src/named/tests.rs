use windlass_controllers::event::PacketsLost;
use windlass_controllers::parts::base::Base;
use windlass_controllers::{Controller, EventKind, Response, Time, WindowController, WindowScheme, parameters};

use super::*;
use crate::{Flow, Groups};

const PATH: Path = Path::new(Time::ZERO, 1200, 1);

parameters! {
    /// Parameters of [`Mine`].
    pub struct Params {
        @base Base, paper Base::default();
        /// Part of the window given up.
        b: f64 = 0.5, paper 0.25, in 0.01, 0.99, source "RFC 9002 §7.3.2";
    }
}

/// NewReno (RFC 9002 §7.3) that gives up a part of the window, and counts losses in its group.
#[derive(Debug)]
struct Mine;

impl WindowScheme for Mine {
    const INFO: Info = Info { name: "mine", summary: "gives up b", source: "RFC 9002 §7", fallback: None };
    type Params = Params;
    type State = ();
    type Group = ();

    fn on_ack(flow: &mut windlass_controllers::Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    fn on_congestion(flow: &mut windlass_controllers::Flow<'_, Self>) -> Response {
        Response::to((1.0 - flow.params.b) * flow.cwnd)
    }
}

/// The name is added once in this process, by whichever test comes first.
fn mine(text: &str) -> NamedController {
    let _ = NamedController::add(vec![NamedController::own::<WindowController<Mine>>("Its page.\n")]);
    NamedController::read(text).unwrap()
}

fn loss(now: u64) -> Event {
    let lost = PacketsLost::new(1200, 1, Time(now - 1), 10_800).with_in_flight_before(12_000);
    Event::new(Time(now), EventKind::PacketsLost(lost))
}

#[test]
fn one_of_the_programs_own_is_read_and_written_as_the_catalogues() {
    assert_eq!(mine("mine:profile=paper,iw=4").to_string(), "mine:iw=4,b=0.25");
    assert_eq!(mine("windlass/mine:b=0.25,iw=4"), mine("mine:profile=paper,iw=4"));
    assert_ne!(mine("mine"), mine("mine:b=0.25"));
    let error = |text| NamedController::read(text).unwrap_err().to_string();
    assert_eq!(error("mine:b=1"), "mine: b is \"1\"; expected 0.01 to 0.99");
    assert!(error("mine:c=1").starts_with("mine has no parameter \"c\"; it has profile, iw,"), "{}", error("mine:c=1"));
    assert_eq!(error("mine:b=0.5,b=0.5"), "mine: b is given twice; expected one value");
    let unknown = error("minne");
    assert!(unknown.starts_with("unknown controller \"minne\" (did you mean \"mine\"?)"), "{unknown}");
    let last = Algorithm::ALL.last().map(|entry| entry.name).unwrap();
    assert!(unknown.ends_with(&format!(", {last}, mine")), "{unknown}");
}

#[test]
fn every_controller_is_listed_with_what_is_said_of_it() {
    let own = mine("mine:b=0.25").entry();
    assert_eq!((own.name, own.summary, own.page), ("mine", "gives up b", "Its page.\n"));
    assert_eq!(own.state_size, size_of::<<WindowController<Mine> as Controller>::State>());
    let all: Vec<&str> = NamedController::all().map(|entry| entry.name).collect();
    assert_eq!(all.len(), Algorithm::ALL.len() + 1);
    assert_eq!((all[0], all[all.len() - 1]), (Algorithm::ALL[0].name, "mine"));
}

/// Its states are boxed and those of the catalogue are not; decisions are the same.
#[test]
fn it_decides_as_the_controller_known_when_compiling() {
    let direct = Static::<WindowController<Mine>>(Params::default());
    let (mut boxed, mut direct) = (Flow::ungrouped(mine("mine"), &PATH), Flow::ungrouped(direct, &PATH));
    for now in [5, 9, 2_000_000] {
        assert_eq!(boxed.on_event(&loss(now)), direct.on_event(&loss(now)));
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    boxed.inspect(&mut |name, value| ours.push((name, value)));
    direct.inspect(&mut |name, value| theirs.push((name, value)));
    assert_eq!(ours, theirs);
    assert_eq!(ConfiguredController::needs(boxed.controller()), ConfiguredController::needs(direct.controller()));
    assert_eq!(boxed.wants_packet_sent(), direct.wants_packet_sent());
}

#[test]
fn a_clone_of_a_flow_goes_its_own_way() {
    let mut flow = Flow::ungrouped(mine("mine:b=0.9"), &PATH);
    let mut clone = flow.clone();
    flow.on_event(&loss(5));
    assert_ne!(flow.state(), clone.state());
    assert_eq!(clone.cwnd(), 12_000);
    clone.on_event(&loss(5));
    assert_eq!(flow.state(), clone.state());
}

#[test]
fn flows_of_a_group_share_its_table() {
    let groups = Groups::<NamedController, u8>::default();
    let [mut one, other] = [0; 2].map(|key| Flow::grouped(mine("mine"), &PATH, &groups, key));
    one.on_event(&loss(5));
    assert_eq!((one.cwnd(), other.cwnd()), (6000, 12_000));
    assert_eq!(groups.with(&0, |group| group.members().len()), Some(2));
}

#[test]
fn a_state_of_another_controller_stays_as_it_is() {
    let (own, reno) = (mine("mine"), NamedController::named("reno").unwrap());
    let (state, group) = (own.start(&PATH), own.group());
    assert!(own != reno && state != reno.start(&PATH) && group != reno.group());
    assert_eq!(own.decide(&state, View::solo(&group)), own.decide(&state.clone(), View::solo(&group)));
}

#[test]
fn a_name_is_given_once_and_can_be_typed() {
    mine("mine");
    let refused = |entries| NamedController::add(entries).unwrap_err().to_string();
    let own = NamedController::own::<WindowController<Mine>>("");
    let taken = NamedController::own::<WindowController<windlass_controllers::schemes::reno::Reno>>("");
    assert_eq!(refused(vec![taken]), "there is a controller \"reno\" already; expected another name");
    assert_eq!(refused(vec![own, own]), "there is a controller \"mine\" already; expected another name");
    for name in ["Mine", "mi ne", "", "-mine", "mine-", "native:mine", "1"] {
        assert!(refused(vec![Entry { name, ..own }]).contains("is no name of a controller"), "{name}");
    }
    assert_eq!(refused(vec![own]), "controllers were added before; expected all of a program at once");
}

#[cfg(feature = "config")]
#[test]
fn a_configuration_file_names_it() {
    mine("mine");
    let text = "controller = \"mine\"\nparameters = { profile = \"paper\", iw = 4 }";
    let config = crate::config::Config::parse("cc.toml", text).unwrap();
    let chosen = config.choose(&crate::Peer::from(([192, 0, 2, 1], 443)));
    assert_eq!((chosen.text.as_str(), chosen.algorithm), ("mine:iw=4,b=0.25", mine("mine:b=0.25,iw=4")));
    let wrong = text.replace("iw", "ww");
    let error = crate::config::Config::parse("cc.toml", &wrong).unwrap_err().to_string();
    assert!(error.contains("mine has no parameter \"ww\"; it has profile, iw,"), "{error}");
}
