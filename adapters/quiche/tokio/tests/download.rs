//! A download from the server, by tokio-quiche's own client, over 127.0.0.1.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use quiche::h3::{Header, NameValue};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio_quiche::ClientH3Controller;
use tokio_quiche::http3::driver::{ClientH3Event, H3Event, InboundFrame, IncomingH3Headers, NewClientRequest};
use windlass_controllers::{Decision, Event};
use windlass_quiche::{Definition, Recorder, StateVariables, register_as};
use windlass_quiche_tokio::{files, serve, settings};

const BYTES: usize = 8_000_000;
/// Twenty of tokio-quiche's datagrams.
const INITIAL: u64 = 20 * 1350;

/// Records the windows decided, in their order.
#[derive(Clone, Default)]
struct Windows(Arc<Mutex<Vec<u64>>>);

impl Recorder for Windows {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(decision.cwnd);
    }
}

/// Requests `path`; returns the status and the body.
async fn get(controller: &mut ClientH3Controller, path: &str) -> (String, Vec<u8>) {
    let headers = [(":method", "GET"), (":scheme", "https"), (":authority", files::NAME), (":path", path)];
    let headers = headers.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).to_vec();
    let request = NewClientRequest { request_id: 0, headers, body_writer: None };
    assert!(controller.request_sender().send(request).is_ok());
    loop {
        let event = controller.event_receiver_mut().recv().await.expect("the connection holds");
        let ClientH3Event::Core(H3Event::IncomingHeaders(answer)) = event else { continue };
        let IncomingH3Headers { headers, mut recv, read_fin, .. } = answer;
        let status = headers.iter().find(|header| header.name() == b":status").unwrap().value().to_vec();
        let (mut body, mut end) = (Vec::new(), read_fin);
        while !end {
            let Some(InboundFrame::Body(piece, last)) = recv.recv().await else { panic!("the body ends early") };
            body.extend_from_slice(&piece);
            end = last;
        }
        return (String::from_utf8(status).unwrap(), body);
    }
}

/// The congestion windows in quiche's logs in `directory`.
fn logged(directory: &Path) -> Vec<u64> {
    let logs =
        std::fs::read_dir(directory).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let windows = |log: String| -> Vec<u64> {
        let values = log.split("\"congestion_window\":").skip(1);
        values.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()).collect()
    };
    logs.flat_map(windows).collect()
}

#[tokio::test]
async fn a_controller_of_ours_governs_a_download() {
    let directory = tempfile::tempdir().unwrap();
    let [root, keys, logs] = ["served", "keys", "logs"].map(|name| directory.path().join(name));
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(&logs).unwrap();
    std::fs::write(directory.path().join("secret"), "outside").unwrap();
    let bytes: Vec<u8> = (0..BYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(root.join("file"), &bytes).unwrap();

    let windows = Windows::default();
    let made = windows.clone();
    let watched = Definition::named("a-tcp:iw=20").unwrap().record_with(move |_| Box::new(made.clone()));
    register_as("watched", watched).unwrap();
    let mut settings = settings("watched").unwrap();
    settings.qlog_dir = Some(logs.to_str().unwrap().to_owned());
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let identity = files::identity(&keys).unwrap();
    let (sender, mut ended) = mpsc::unbounded_channel();
    let serving = serve(socket, settings, identity, &root, 4, move |path| sender.send((path.cwnd, path.lost)).unwrap());

    let fetching = async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(address).await.unwrap();
        let (connection, mut controller) = tokio_quiche::quic::connect(socket, Some(files::NAME)).await.unwrap();
        let (status, body) = get(&mut controller, "/file").await;
        assert_eq!(status, "200");
        assert!(body == bytes, "{} of {BYTES} bytes came, or others", body.len());
        for path in ["/../secret", "/%2e%2e/secret", "/none"] {
            assert_eq!(get(&mut controller, path).await.0, "404", "{path}");
        }
        drop((connection, controller));
        ended.recv().await.unwrap()
    };
    let (window, lost) = tokio::select! {
        served = serving => panic!("the server ended: {served:?}"),
        fetched = fetching => fetched,
    };
    let decided = windows.0.lock().unwrap();
    assert_eq!(Some(window as u64), decided.last().copied(), "what quiche has at last is what was decided");
    assert!(decided.len() > 100, "{} decisions, {lost} packets lost", decided.len());
    // And the one it starts with, which is before any event.
    let known: BTreeSet<u64> = decided.iter().copied().chain([INITIAL]).collect();
    let logged = logged(&logs);
    assert!(logged.len() > 20 && logged.iter().all(|window| known.contains(window)), "{logged:?}");
}

#[test]
fn what_quiche_cannot_run_is_refused_with_the_reason() {
    for (name, expected) in [("no-such", "no-such"), ("a-tcp:iw=none", "iw"), ("rapid", "quiche does not report")] {
        let error = settings(name).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    assert_eq!(settings("cubic").unwrap().cc_algorithm, "cubic");
}
