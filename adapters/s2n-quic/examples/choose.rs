//! Which controller a connection gets: by peer from a configuration file, and in a group across
//! connections. Server and clients are in this program; it prints what governs each.
use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use s2n_quic::{Client, Connection, Server, client::Connect};
use windlass_s2n_quic::{Config, Decision, Endpoint, Event, Recorder, StateVariables};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const FILE: &str = r#"
    controller = "tcp-p"
    [[rule]]
    to = "127.0.0.2"
    controller = "tcp-k"
    parameters = { k = 8 }
"#;

#[tokio::main]
async fn main() -> Result<()> {
    for line in run().await? {
        println!("{line}");
    }
    Ok(())
}

pub(crate) async fn run() -> Result<Vec<String>> {
    let identity = rcgen::generate_simple_self_signed(["localhost".into()])?;
    let (certificate, key) = (identity.cert.der().to_vec(), identity.signing_key.serialize_der());
    let config = Config::parse("cc.toml", FILE)?;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let governed = Endpoint::from_config(&config)?.record_with(move |flow| {
        lock(&seen).push(format!("{}: {}", flow.peer.address.ip(), flow.text));
        Box::new(Nothing)
    });
    let mut server = Server::builder()
        .with_tls((&certificate[..], &key[..]))?
        .with_io(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?
        .with_congestion_controller(governed)?
        .start()?;
    let address = server.local_addr()?;
    let mut clients = Vec::new();
    for own in [1, 2, 1] {
        let client = Client::builder().with_tls(&certificate[..])?;
        let client = client.with_io(SocketAddr::from((Ipv4Addr::new(127, 0, 0, own), 0)))?.start()?;
        let connecting = client.connect(Connect::new(address).with_server_name("localhost"));
        let (connected, accepted) = tokio::join!(connecting, server.accept());
        let accepted: Connection = accepted.ok_or("the server is gone")?;
        clients.push((connected?, accepted));
    }
    // The connections to 127.0.0.1 share what they learn.
    let grouped = windlass_s2n_quic::NamedController::read("tcp-p").map_err(|error| error.to_string())?;
    let group = config.group_key(&grouped, Ipv4Addr::LOCALHOST.into());
    let members = config.groups().with(&group, |group| group.members().len()).unwrap_or(0);
    let mut lines = std::mem::take(&mut *lock(&lines));
    lines.push(format!("the group of 127.0.0.1 has {members} members"));
    Ok(lines)
}

fn lock(lines: &Mutex<Vec<String>>) -> std::sync::MutexGuard<'_, Vec<String>> {
    lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

struct Nothing;

impl Recorder for Nothing {
    fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {}
}
