use s2n_quic::provider::congestion_controller::CongestionController as _;
use windlass_controllers::{Algorithm, WindowController, schemes::reno};

use super::*;
use crate::Static;

fn peer(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

#[test]
fn names_what_s2n_quic_cannot_run_or_read() {
    let error = Endpoint::named("renno").unwrap_err().to_string();
    assert!(error.contains("unknown controller \"renno\" (did you mean \"reno\"?)"), "{error}");
    for entry in Algorithm::ALL {
        let missing = (entry.default)().needs().without(PROVIDES);
        match Endpoint::named(entry.name) {
            Ok(_) => assert!(missing.is_empty()),
            Err(error) => {
                assert!(!missing.is_empty());
                assert!(error.to_string().contains("s2n-quic does not report"), "{error}");
            }
        }
    }
}

#[test]
fn every_controller_starts_with_its_own_window() {
    for entry in Algorithm::ALL.iter().filter(|entry| PROVIDES.contains((entry.default)().needs())) {
        let controller = Endpoint::named(entry.name).unwrap().make(peer("192.0.2.7:1"), 1200);
        assert!(controller.congestion_window() > 1200, "{}", entry.name);
        assert!(controller.with_flow(|_| ()).is_none());
    }
    let controller = Endpoint::new(Static::<WindowController<reno::Reno>>(reno::Params::default()))
        .unwrap()
        .make(peer("[::1]:1"), 1400);
    assert_eq!(controller.congestion_window(), 14_000);
}

#[test]
fn rules_of_a_file_choose_by_address() {
    let text = "controller = \"reno:iw=20\"\n[[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno:iw=4\"";
    let mut endpoint = Endpoint::from_config(&Config::parse("cc.toml", text).unwrap()).unwrap();
    let mut window = |address| endpoint.make(peer(address), 1200).congestion_window() / 1200;
    assert_eq!((window("192.0.2.7:443"), window("[::ffff:192.0.2.7]:443"), window("[2001:db8::1]:443")), (4, 4, 20));
}

#[test]
fn hystart_compares_eights_unless_its_text_says_otherwise() {
    let chosen = |endpoint: Endpoint| endpoint.builder.choose(&peer("192.0.2.7:1").into());
    for (asked, text) in [
        ("cubic", "cubic:hystart_samples=eights"),
        ("cubic:iw=20", "cubic:iw=20,hystart_samples=eights"),
        ("reno:slow_start=hystart++", "reno:slow_start=hystart++,hystart_samples=eights"),
        ("cubic:hystart_samples=round", "cubic:hystart_samples=round"),
        ("cubic:slow_start=search", "cubic:slow_start=search"),
        ("reno", "reno"),
        ("bbr", "bbr"),
    ] {
        let config = Config::parse("cc.toml", &format!("controller = \"{asked}\"")).unwrap();
        for endpoint in [Endpoint::named(asked).unwrap(), Endpoint::from_config(&config).unwrap()] {
            let choice = chosen(endpoint);
            assert_eq!(&*choice.text, text);
            assert_eq!(choice.controller, NamedController::read(text).unwrap());
        }
    }
}

#[test]
fn a_file_with_what_s2n_quic_cannot_do_says_where() {
    let refused = |text| Endpoint::from_config(&Config::parse("cc.toml", text).unwrap()).unwrap_err().to_string();
    let error = refused("controller = \"nf-tcp\"");
    assert!(error.starts_with("cc.toml:1:14: nf-tcp needs") && error.contains("s2n-quic does not report"), "{error}");
    let error = refused("controller = \"reno\"\n[[rule]]\nto = \"example.org\"\ncontroller = \"reno\"");
    assert!(error.starts_with("cc.toml:3:6: to is \"example.org\"; s2n-quic tells"), "{error}");
}
