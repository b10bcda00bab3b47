//! Two connections in memory: `transfer CERTIFICATE.pem KEY.pem MEGABYTES` sends so much from the server to the
//! client by `a-tcp`, and compares what was sent with what arrived. It is built with each version of quiche.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quiche::{Config, Connection, ConnectionId, RecvInfo};
use sha2::{Digest, Sha256};

const DATAGRAM: usize = 1350;
/// Without an answer for so long something is stuck.
const TIMEOUT: Duration = Duration::from_secs(300);

fn config() -> Result<Config, quiche::Error> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[b"transfer"])?;
    config.verify_peer(false);
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(1 << 30);
    config.set_initial_max_stream_data_bidi_local(1 << 30);
    config.set_initial_max_stream_data_bidi_remote(1 << 30);
    config.set_initial_max_streams_bidi(1);
    Ok(config)
}

/// Hands everything `from` has to send to `to`.
fn carry(from: &mut Connection, to: &mut Connection) -> Result<(), quiche::Error> {
    let mut datagram = [0; DATAGRAM];
    loop {
        match from.send(&mut datagram) {
            Ok((size, sent)) => drop(to.recv(&mut datagram[..size], RecvInfo { from: sent.from, to: sent.to })?),
            Err(quiche::Error::Done) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn window(connection: &Connection) -> usize {
    connection.path_stats().next().map_or(0, |path| path.cwnd)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [certificate, key, megabytes] = &arguments[..] else {
        return Err("usage: transfer CERTIFICATE.pem KEY.pem MEGABYTES".into());
    };
    let bytes = megabytes.parse::<usize>()? * 1_000_000;
    windlass_quiche::register_all();
    let mut server_config = config()?;
    server_config.load_cert_chain_from_pem_file(certificate)?;
    server_config.load_priv_key_from_pem_file(key)?;
    if server_config.set_cc_algorithm_name("no-such").is_ok() {
        return Err("an unknown name is accepted".into());
    }
    server_config.set_cc_algorithm_name("a-tcp:iw=23")?;
    let (here, there): (SocketAddr, SocketAddr) = ("192.0.2.7:4000".parse()?, "192.0.2.1:443".parse()?);
    let (client_id, server_id) = (ConnectionId::from_ref(&[7; 16]), ConnectionId::from_ref(&[1; 16]));
    let mut client = quiche::connect(Some("localhost"), &client_id, here, there, &mut config()?)?;
    let mut server = quiche::accept(&server_id, None, there, here, &mut server_config)?;
    if window(&server) != 23 * DATAGRAM {
        return Err(format!("the first window has {} bytes; expected 23 datagrams", window(&server)).into());
    }

    let (mut sent, mut received) = ((0, Sha256::new()), (0, Sha256::new()));
    let mut piece = vec![0; 1 << 16];
    let (mut asked, mut finished, start) = (false, false, Instant::now());
    while !finished {
        if start.elapsed() > TIMEOUT {
            return Err(format!("{} of {bytes} bytes after {TIMEOUT:?}", received.0).into());
        }
        if !asked && client.is_established() {
            asked = client.stream_send(0, b"all", true)? == 3;
        }
        while let Ok((_, _)) = server.stream_recv(0, &mut [0; 64]) {}
        while server.is_established() && sent.0 < bytes && server.stream_capacity(0).is_ok_and(|room| room > 0) {
            let size = piece.len().min(bytes - sent.0);
            for (at, byte) in (sent.0..).zip(&mut piece[..size]) {
                *byte = (at ^ (at >> 8) ^ (at >> 16)) as u8;
            }
            let Ok(written) = server.stream_send(0, &piece[..size], sent.0 + size == bytes) else { break };
            sent.1.update(&piece[..written]);
            sent.0 += written;
        }
        while let Ok((size, end)) = client.stream_recv(0, &mut piece) {
            received.1.update(&piece[..size]);
            received.0 += size;
            finished |= end;
        }
        carry(&mut client, &mut server)?;
        carry(&mut server, &mut client)?;
        for connection in [&mut client, &mut server] {
            if connection.timeout() == Some(Duration::ZERO) {
                connection.on_timeout();
            }
        }
    }
    let [sent, received] = [sent, received].map(|(size, hash)| (size, hash.finalize()));
    if sent != received || received.0 != bytes {
        return Err(format!("sent {} bytes, {} arrived, or their hashes differ", sent.0, received.0).into());
    }
    println!("{} bytes, SHA-256 {}", received.0, received.1.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    Ok(())
}
