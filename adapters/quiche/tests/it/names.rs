//! Names of controllers that quiche accepts.

use std::sync::Mutex;

use crate::network::{Network, config, prepare};
use quiche::Error;
use windlass_controllers::fixed_window::FixedWindow;
use windlass_quiche::{Definition, RegisterError, check, register, register_all, register_as, sets_ect};

const RTT: std::time::Duration = std::time::Duration::from_millis(10);

/// A process has one list of names; these tests change it one at a time.
static NAMES: Mutex<()> = Mutex::new(());

#[test]
fn a_registered_name_takes_parameters() {
    let _names = NAMES.lock();
    register("tcp-k").unwrap();
    let mut config = config();
    config.set_cc_algorithm_name("tcp-k").unwrap();
    config.set_cc_algorithm_name("tcp-k:k=4").unwrap();
    config.set_cc_algorithm_name("windlass/tcp-k:k=8").unwrap();
    for unreadable in ["tcp-k:k=yes", "tcp-k:speed=4", "tcp-k:k", "tcp-k :k=4", "no-such", "", ":", "windlass/"] {
        assert_eq!(config.set_cc_algorithm_name(unreadable), Err(Error::CongestionControl), "{unreadable:?}");
    }
    let error = check("tcp-k:k=yes").unwrap_err().to_string();
    assert!(error.contains("tcp-k: k is \"yes\""), "{error}");
}

/// Lines that quiche and the adapter log.
struct Logged(Mutex<Vec<String>>);

static LOGGED: Logged = Logged(Mutex::new(Vec::new()));

impl log::Log for Logged {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Error
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            self.0.lock().unwrap().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

#[test]
fn what_is_wrong_with_a_name_is_in_the_log() {
    let _names = NAMES.lock();
    log::set_logger(&LOGGED).unwrap();
    log::set_max_level(log::LevelFilter::Error);
    register_all();
    let mut config = config();
    for (wrong, reason) in [
        ("tcp-j", "congestion controller \"tcp-j\": unknown controller \"tcp-j\" (did you mean \"tcp-k\"?)"),
        ("windlass/vega:iw=3", "(did you mean \"vegas\"?)"),
        ("tcp-k:k=yes", "tcp-k: k is \"yes\""),
    ] {
        assert_eq!(config.set_cc_algorithm_name(wrong), Err(Error::CongestionControl), "{wrong:?}");
        let logged = LOGGED.0.lock().unwrap();
        assert!(logged.iter().any(|line| line.contains(reason)), "{wrong:?}: {logged:?}");
    }
}

#[test]
fn parameters_reach_the_controller() {
    let _names = NAMES.lock();
    register_all();
    for packets in [7, 21] {
        let mut server = config();
        server.set_cc_algorithm_name(&format!("windlass/reno:iw={packets}")).unwrap();
        let network = Network::new(&mut config(), &mut server, RTT, 1);
        assert_eq!(network.window(), packets * crate::network::MTU);
    }
}

#[test]
fn quiches_own_names_stay_its_own() {
    let _names = NAMES.lock();
    let own = |name: &str| register_as(name, Definition::new(FixedWindow::configured(3)).unwrap());
    for name in ["reno", "cubic", "bbr", "bbr2", "bbr2_gcongestion"] {
        assert_eq!(own(name), Err(RegisterError::Reserved(name.to_owned())));
    }
    register_all();
    let mut server = config();
    server.set_cc_algorithm_name("windlass/cubic:iw=30").unwrap();
    server.set_cc_algorithm_name("cubic").unwrap();
    let network = Network::new(&mut config(), &mut server, RTT, 1);
    assert_eq!(network.window(), 10 * crate::network::MTU, "quiche's CUBIC starts with ten packets");
}

#[test]
fn a_name_can_be_given_again_and_holds_for_connections_made_later() {
    let _names = NAMES.lock();
    let define = |packets| register_as("mine", Definition::new(FixedWindow::configured(packets)).unwrap()).unwrap();
    define(5);
    let mut server = config();
    server.set_cc_algorithm_name("mine").unwrap();
    let first = Network::new(&mut config(), &mut server, RTT, 1);
    define(9);
    let second = Network::new(&mut config(), &mut server, RTT, 1);
    assert_eq!((first.window(), second.window()), (5 * crate::network::MTU, 9 * crate::network::MTU));
}

#[test]
fn only_controllers_of_the_catalogue_can_be_registered_by_name() {
    let _names = NAMES.lock();
    assert_eq!(register("no-such"), Err(RegisterError::Unknown("no-such".to_owned())));
    assert_eq!(register("reno:iw=3"), Err(RegisterError::Unknown("reno:iw=3".to_owned())));
    let error = register("rapid").unwrap_err().to_string();
    assert!(error.contains("rapid needs"), "{error}");
    register("rovegas").unwrap();
    let mut server = config();
    assert_eq!(server.set_cc_algorithm_name("rovegas"), Err(Error::CongestionControl));
    server.set_cc_algorithm_name("rovegas:fallback=on").unwrap();
}

#[test]
fn a_server_can_choose_in_the_handshake() {
    use boring::ssl::{SslContextBuilder, SslMethod};
    type Server = quiche::Connection;
    let _names = NAMES.lock();
    register_all();
    let mut tls = SslContextBuilder::new(SslMethod::tls()).unwrap();
    tls.set_select_certificate_callback(|mut hello| {
        Server::set_cc_algorithm_name_in_handshake(hello.ssl_mut(), "windlass/reno:iw=17").unwrap();
        let unknown = Server::set_cc_algorithm_name_in_handshake(hello.ssl_mut(), "no-such");
        assert_eq!(unknown, Err(Error::CongestionControl));
        Ok(())
    });
    let mut server = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls).unwrap();
    prepare(&mut server);
    let mut network = Network::new(&mut config(), &mut server, RTT, 1000);
    let mut windows = Vec::new();
    assert!(network.run(|network| {
        windows.push(network.window());
        network.received >= 1000
    }));
    assert!(windows.contains(&(17 * crate::network::MTU)), "{windows:?}");
}

#[test]
fn controllers_that_need_ecn_run_where_the_program_sets_ect() {
    if !crate::in_own_process("names::controllers_that_need_ecn_run_where_the_program_sets_ect") {
        return;
    }
    register_all();
    assert_eq!(config().set_cc_algorithm_name("dctcp"), Err(Error::CongestionControl));
    let error = check("dctcp").unwrap_err();
    assert!(error.to_string().contains("call windlass_quiche::sets_ect()"), "{error}");
    // quiche's own, and ours of that name.
    check("cubic").unwrap();
    check("windlass/cubic").unwrap();
    sets_ect();
    check("dctcp").unwrap();
    config().set_cc_algorithm_name("dctcp").unwrap();
    config().set_cc_algorithm_name("nf-tcp:fallback=on").unwrap();
}
