use super::*;
use windlass_controllers::Time;

const PATH: Path = Path::new(Time::ZERO, 1200, 1);

fn errors(text: &str) -> String {
    Config::parse("cc.toml", text).unwrap_err().to_string()
}

fn peer(text: &str) -> Peer<'static> {
    Peer::from(text.parse::<SocketAddr>().unwrap())
}

const FULL: &str = r#"
controller = "reno"
parameters = { iw = 20, hystart = false }

[group]
ipv4_prefix = 24
ipv6_prefix = 64

[recording]
directory = "logs"
steps = true

[[rule]]
to = ["192.0.2.0/24", "2001:db8::/32"]
controller = "tcp-p:n=3"

[[rule]]
to = "*:8443"
controller = "tcp-k"
[rule.parameters]
k = 8
profile = "paper"
"#;

#[test]
fn the_first_rule_that_covers_a_peer_decides() {
    let config = Config::parse("cc.toml", &FULL.replace(", hystart = false", "").replace(":n=3", "")).unwrap();
    let text = |address| config.choose(&peer(address)).text.as_str();
    assert_eq!(text("198.51.100.1:443"), "reno:iw=20");
    assert_eq!(text("192.0.2.1:8443"), "tcp-p");
    assert_eq!(text("[2001:db8::5]:1"), "tcp-p");
    let chosen = config.choose(&peer("198.51.100.1:8443"));
    assert_eq!(chosen.algorithm, NamedController::read("tcp-k:profile=paper,k=8").unwrap());
    let recording = config.recording().unwrap();
    assert_eq!((recording.directory(), recording.level()), (std::path::Path::new("logs"), crate::qlog::Level::Steps));
}

#[test]
fn parameters_are_set_after_their_profile() {
    let after = Config::parse("c", "controller = \"tcp-k\"\nparameters = { k = 8, profile = \"paper\" }").unwrap();
    let chosen = after.choose(&peer("192.0.2.1:1"));
    assert_eq!(chosen.algorithm, NamedController::read("tcp-k:profile=paper,k=8").unwrap());
}

#[test]
fn flows_that_need_a_group_share_it_with_their_prefix() {
    let config = Config::parse("cc.toml", "controller = \"tcp-p\"\n[group]\nipv4_prefix = 24").unwrap();
    let chosen = config.choose(&peer("192.0.2.1:1")).algorithm;
    let join = |address: &str| config.join(&chosen, &PATH, address.parse().unwrap(), None);
    let flows = [join("192.0.2.1:1"), join("[::ffff:192.0.2.200]:2"), join("192.0.3.1:1"), join("[2001:db8::1]:1")];
    assert_eq!(config.groups().len(), 3);
    let key = config.group_key(&chosen, "192.0.2.77".parse().unwrap());
    assert_eq!(config.groups().with(&key, |group| group.members().len()), Some(2));
    let reno = config.join(&NamedController::named("reno").unwrap(), &PATH, "192.0.2.1:1".parse().unwrap(), None);
    assert_eq!(config.groups().len(), 3, "reno needs none");
    drop((flows, reno));
    assert!(config.clone().groups().is_empty());
}

#[test]
fn mistakes_name_file_line_value_and_what_was_expected() {
    assert!(errors("controller = 5").starts_with("cc.toml:1:14: invalid type: integer `5`, expected a string"));
    assert!(
        errors("controler = \"reno\"")
            .starts_with("cc.toml:1:1: unknown field `controler`, expected one of `controller`")
    );
    assert!(errors("controller = \"reno\"\n[[rule]]\nto = \"*\"").contains("cc.toml:2:1: missing field `controller`"));
    assert!(errors("controller = \"reno").starts_with("cc.toml:1:19: "), "{}", errors("controller = \"reno"));
    let error = errors("\n  controller = \"renoo\"");
    assert!(
        error
            .starts_with("cc.toml:2:16: controller is \"renoo\": unknown controller \"renoo\" (did you mean \"reno\"?); the catalogue has reno")
    );
    let error = errors("controller = \"ledbat\"\nparameters = { gain = 2, fallback = true }");
    assert_eq!(error, "cc.toml:2:23: ledbat: gain is \"2\"; expected 0.01 to 1, as the other parameters are");
    let error = errors("controller = \"reno\"\nparameters = { iw = 0, nope = 1, icw = [1] }");
    let lines = error.lines().collect::<Vec<_>>();
    assert_eq!(lines.len(), 3, "{error}");
    assert!(lines.contains(&"cc.toml:2:21: reno: iw is \"0\"; expected 1 to 10000"), "{error}");
    assert!(error.contains("cc.toml:2:24: reno has no parameter \"nope\"; it has profile, iw"), "{error}");
    assert!(error.contains("reno: icw is [1]; expected a number, a text, true or false"), "{error}");
    let error =
        errors("controller = \"reno\"\n[[rule]]\nto = \"192.0.2.7/24\"\ncontroller = \"x\"\n[group]\nipv4_prefix = 33");
    assert!(
        error.contains("cc.toml:3:6: to is \"192.0.2.7/24\"; expected an address without bits beyond its prefix"),
        "{error}"
    );
    assert!(error.contains("cc.toml:4:14: controller is \"x\""), "{error}");
    assert!(error.contains("cc.toml:6:15: ipv4_prefix is 33; expected bits from 0 to 32"), "{error}");
    assert!(
        errors("controller = \"reno\"\n[[rule]]\nto = []\ncontroller = \"reno\"").contains("cc.toml:3:6: to is []")
    );
    assert!(errors("controller = \"reno\"\n[recording]\ndirectory = \"\"").contains("cc.toml:3:13: directory is \"\""));
}

#[test]
fn the_place_of_a_mistake_is_that_of_its_first_character() {
    let text = "controller = \"reno\"\n# ä\n[[rule]]\nto = [\"ö\", \"192.0.2.7/24\"]\ncontroller = \"x\"";
    let places: Vec<(usize, usize)> = match Config::parse("cc.toml", text).unwrap_err() {
        ConfigError::Wrong(problems) => problems.iter().map(|problem| (problem.line, problem.column)).collect(),
        other => panic!("{other}"),
    };
    assert_eq!(places, [(4, 6), (4, 6), (5, 14)]);
}

#[test]
fn every_stack_takes_the_first_example_of_the_book() {
    let page = include_str!("../../../../docs/config.md");
    let mut examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    // quiche reports the fewest signals of all stacks.
    let provides =
        [Signals::LOSS, Signals::PERSISTENT_CONGESTION, Signals::RTT, Signals::PACKET_NUMBERS, Signals::PACING];
    let provides = provides.into_iter().fold(Signals::ACKS.and(Signals::GROUPS), Signals::and);
    let first = Config::parse("cc.toml", examples.next().unwrap()).unwrap();
    first.check_with_addresses("a stack", provides, |error| error).unwrap();
    let second = Config::parse("cc.toml", examples.next().unwrap()).unwrap();
    second.check("a stack", Signals::ALL.without(Signals::PROBE_TRAINS)).unwrap();
}

#[test]
fn an_unreadable_file_is_named() {
    let error = Config::read("/nowhere/cc.toml").unwrap_err().to_string();
    assert!(error.starts_with("cannot read the configuration /nowhere/cc.toml: "), "{error}");
}

#[test]
fn a_stack_checks_every_controller_and_whether_it_knows_names() {
    let text = "controller = \"reno\"\n[[rule]]\nto = \"example.org\"\ncontroller = \"nf-tcp\"";
    let config = Config::parse("cc.toml", text).unwrap();
    assert!(config.check("a stack", Signals::ALL).is_ok());
    let error = config.check("a stack", Signals::ALL.without(Signals::PROBE_TRAINS)).unwrap_err().to_string();
    assert!(error.starts_with("cc.toml:4:14: nf-tcp needs probe trains; a stack does not report it; ask"), "{error}");
    let error = config.check_with_addresses("a stack", Signals::ALL.without(Signals::PROBE_TRAINS), |e| e).unwrap_err();
    let lines = error.to_string();
    let lines: Vec<&str> = lines.lines().collect();
    assert!(lines[0].starts_with("cc.toml:3:6: to is \"example.org\"; a stack tells a congestion controller only"));
    assert!(lines[1].starts_with("cc.toml:4:14: nf-tcp needs probe trains"), "all at once: {lines:?}");
    assert_eq!((lines.len(), format!("{error:?}")), (2, error.to_string()));
    let named = Peer { address: ([192, 0, 2, 1], 443).into(), name: Some("example.org") };
    assert_eq!(config.choose(&named).text, "nf-tcp");
}

#[test]
fn a_recording_is_a_log_per_flow_beside_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cc.toml");
    std::fs::write(&file, "controller = \"reno\"\n[recording]\ndirectory = \"logs\"").unwrap();
    let config = Config::read(&file).unwrap();
    let recording = config.recording().unwrap();
    let chosen = config.choose(&peer("192.0.2.1:1"));
    let (writer, address) = (recording.open().unwrap(), "192.0.2.1:1".parse().unwrap());
    let recorder = recording.recorder(&writer, "stack", &chosen.algorithm, &chosen.text, address, &PATH);
    drop(config.join(&chosen.algorithm, &PATH, address, Some(recorder)));
    writer.wait();
    let mut logs = std::fs::read_dir(directory.path().join("logs")).unwrap();
    let log = std::fs::read_to_string(logs.next().unwrap().unwrap().path()).unwrap();
    assert!(log.contains("stack to 192.0.2.1:1 by reno") && log.contains("quic:recovery_metrics_updated"), "{log}");
    assert!(logs.next().is_none());
}

#[test]
fn resuming_is_off_unless_the_file_has_a_section() {
    let config = Config::parse("cc.toml", "controller = \"cubic\"").unwrap();
    assert!(config.saved_paths().is_none());
    let text =
        "controller = \"cubic\"\n[resume]\nlifetime_s = 60\nmax_paths = 5\nmax_jump_bytes = 1000\nipv4_prefix = 24";
    let config = Config::parse("cc.toml", text).unwrap();
    let shown = format!("{:?}", config.saved_paths().unwrap());
    for expected in ["lifetime: Span(60000000000)", "max_paths: 5", "max_jump: 1000", "len: 0"] {
        assert!(shown.contains(expected), "{shown}");
    }
    let [one, other, far] = ["192.0.2.1", "192.0.2.200", "192.0.3.1"].map(|peer| peer.parse().unwrap());
    assert_eq!(config.path_key("a", one), config.path_key("a", other));
    assert_ne!(config.path_key("a", one), config.path_key("a", far));
    assert_ne!(config.path_key("a", one), config.path_key("b", one), "stacks count time from origins of their own");
}

#[test]
fn what_resuming_does_not_take_is_named() {
    let text = "controller = \"cubic\"\n[resume]\nlifetime_s = 0\nmax_paths = -1\nipv6_prefix = 129";
    let error = Config::parse("cc.toml", text).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(
        lines,
        [
            "cc.toml:3:14: lifetime_s is 0; expected seconds from 1 to 86400",
            "cc.toml:4:13: max_paths is -1; expected paths from 1 to 1000000",
            "cc.toml:5:15: ipv6_prefix is 129; expected bits from 0 to 128",
        ]
    );
}
