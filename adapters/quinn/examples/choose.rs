//! Which controller a connection gets: by connection, by peer from a configuration file, and in a group
//! across connections. Server and clients are in this program; it prints what governs each.
use std::{error::Error, net::Ipv4Addr, sync::Arc};

use quinn::{ClientConfig, Connection, Endpoint, Incoming, ServerConfig, TransportConfig};
use windlass_quinn::{Config, Controller, Factory, Groups, NamedController, Peer};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const FILE: &str = r#"
    controller = "cubic"
    [[rule]]
    to = "*.example.org"
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
    let identity = rcgen::generate_simple_self_signed(["www.example.org".into(), "localhost".into()])?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![identity.cert.der().clone()], key.into())?;
    let server_endpoint = Endpoint::server(server.clone(), (Ipv4Addr::LOCALHOST, 0).into())?;
    let address = server_endpoint.local_addr()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(identity.cert.der().clone())?;
    let client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    let accepted = tokio::spawn(async move {
        let mut governing = Vec::new();
        while governing.len() < 6 {
            let Some(incoming) = server_endpoint.accept().await else { break };
            let connection = accept(incoming, &server).await?;
            governing.push((governs(&connection), connection));
        }
        Result::Ok(governing)
    });
    let connect = async |factory: Factory, name: &str| -> Result<Connection> {
        let mut config = client.clone();
        config.transport_config(transport(factory));
        Ok(endpoint.connect_with(config, address, name)?.await?)
    };

    // By connection: each is made with a configuration of its own.
    let eager = connect(Factory::named("cubic:iw=32")?, "localhost").await?;
    let polite = connect(Factory::named("ledbat++")?, "localhost").await?;
    // By peer: a file says which.
    let config = Config::parse("cc.toml", FILE)?;
    let named = Factory::from_config(&config, Peer { address, name: Some("www.example.org") })?;
    let ruled = connect(named, "www.example.org").await?;
    let other = connect(Factory::from_config(&config, address)?, "localhost").await?;
    // In a group: factories with the same groups and the same key.
    let groups = Groups::default();
    let first = connect(Factory::named("tcp-p")?.group(&groups, address.ip()), "localhost").await?;
    let second = connect(Factory::named("tcp-p")?.group(&groups, address.ip()), "localhost").await?;
    let members = groups.with(&address.ip(), |group| group.members().len()).unwrap_or(0);

    let connections = [&eager, &polite, &ruled, &other, &first, &second];
    let mut lines: Vec<String> =
        connections.iter().map(|connection| format!("client: {}", governs(connection))).collect();
    lines.push(format!("the group has {members} members"));
    lines.push(format!("server: {}", accepted.await??.first().map_or("none", |(name, _)| name)));
    Ok(lines)
}

/// A server that chooses by the client's address: 127.0.0.1 gets Copa, all others CUBIC.
async fn accept(incoming: Incoming, server: &ServerConfig) -> Result<Connection> {
    let controller = if incoming.remote_address().ip() == Ipv4Addr::LOCALHOST { "copa" } else { "cubic" };
    let mut config = server.clone();
    config.transport_config(transport(Factory::named(controller)?));
    Ok(incoming.accept_with(Arc::new(config))?.await?)
}

fn transport(factory: Factory) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    Arc::new(transport)
}

/// The controller of a running connection, as a user types it.
fn governs(connection: &Connection) -> String {
    match connection.congestion_state().into_any().downcast::<Controller<NamedController>>() {
        Ok(controller) => controller.flow().controller().to_string(),
        Err(_) => "quinn's own".to_owned(),
    }
}
