//! Transfers between two connections of MsQuic over 127.0.0.1.

use std::ffi::c_void;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use windlass_msquic_sys::msquic::*;

/// Bytes handed to a stream at a time.
const CHUNK: usize = 1 << 16;
/// Chunks handed to a stream before the first is acknowledged.
const AHEAD: usize = 32;
const TIMEOUT: Duration = Duration::from_secs(60);

/// The link between the two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// One of so many full datagrams of the sender is dropped; 0: none.
    pub drop_every: u64,
    /// One-way delay to the receiver. The way back has none.
    pub delay: Duration,
}

/// Starts a link to `to` and returns the address of its other end.
fn start_link(link: Link, to: SocketAddr) -> SocketAddr {
    let front = UdpSocket::bind("127.0.0.1:0").unwrap();
    let back = UdpSocket::bind("127.0.0.1:0").unwrap();
    back.connect(to).unwrap();
    let address = front.local_addr().unwrap();
    let (enter, leave) = mpsc::channel::<(Instant, Vec<u8>)>();
    let far = back.try_clone().unwrap();
    std::thread::spawn(move || {
        for (due, datagram) in leave {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let _ = far.send(&datagram);
        }
    });
    let (answers, questions) = (front.try_clone().unwrap(), back.try_clone().unwrap());
    std::thread::spawn(move || {
        let (mut buffer, mut count, mut known) = ([0; 2048], 0, false);
        while let Ok((length, from)) = front.recv_from(&mut buffer) {
            if !known {
                known = true;
                let (answers, questions) = (answers.try_clone().unwrap(), questions.try_clone().unwrap());
                std::thread::spawn(move || {
                    let mut buffer = [0; 2048];
                    while let Ok(length) = questions.recv(&mut buffer) {
                        let _ = answers.send_to(&buffer[..length], from);
                    }
                });
            }
            // The handshake, which has long headers, is not dropped.
            let counts = buffer[0] & 0x80 == 0 && length > 1000;
            count += u64::from(counts);
            if !counts || link.drop_every == 0 || count % link.drop_every != 0 {
                let _ = enter.send((Instant::now() + link.delay, buffer[..length].to_vec()));
            }
        }
    });
    address
}

fn configuration(registration: &Registration, algorithm: Option<u16>) -> Configuration {
    let configuration = Configuration::open(registration, &[BufferRef::from("transfer")], None).unwrap();
    // SAFETY: all fields are numbers; zeros mean that no setting is set.
    let mut settings: ffi::QUIC_SETTINGS = unsafe { std::mem::zeroed() };
    settings.IdleTimeoutMs = 20_000;
    settings.PeerBidiStreamCount = 1;
    // SAFETY: the other member of the union is one number with the same bits.
    unsafe {
        settings.__bindgen_anon_1.IsSet.set_IdleTimeoutMs(1);
        settings.__bindgen_anon_1.IsSet.set_PeerBidiStreamCount(1);
        if let Some(algorithm) = algorithm {
            settings.CongestionControlAlgorithm = algorithm;
            settings.__bindgen_anon_1.IsSet.set_CongestionControlAlgorithm(1);
        }
    }
    // SAFETY: the parameter is a structure of that type and size.
    unsafe {
        let size = size_of_val(&settings) as u32;
        let settings = (&raw const settings).cast::<c_void>();
        Api::set_param(configuration.as_raw(), ffi::QUIC_PARAM_CONFIGURATION_SETTINGS, size, settings).unwrap();
    }
    configuration
}

/// Closes a stream after its last event.
fn close(stream: &StreamRef) {
    // SAFETY: there are no more events, and this is the stream's only owner.
    drop(unsafe { Stream::from_raw(stream.as_raw()) });
}

/// Waits until no other transfer runs. While the guard is held, none begins.
pub fn exclusive() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends `chunks` chunks over a link with a `CongestionControlAlgorithm` of `QUIC_SETTINGS`. Returns
/// MsQuic's statistics of the sender, read once its connection has ended: until then it may still send
/// packets and declare others lost.
pub fn transfer(chunks: usize, algorithm: Option<u16>, link: Link) -> ffi::QUIC_STATISTICS_V2 {
    transfer_exclusively(chunks, algorithm, link, &exclusive())
}

/// [`transfer`], for the holder of the guard.
pub fn transfer_exclusively(
    chunks: usize,
    algorithm: Option<u16>,
    link: Link,
    _guard: &MutexGuard<'_, ()>,
) -> ffi::QUIC_STATISTICS_V2 {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-keyout", &file("key"), "-out", &file("certificate")])
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let registration = Registration::new(&RegistrationConfig::default()).unwrap();
    let alpn = [BufferRef::from("transfer")];
    let server = configuration(&registration, None);
    let certificate = Credential::CertificateFile(CertificateFile::new(file("key"), file("certificate")));
    let flags = CredentialFlags::NO_CERTIFICATE_VALIDATION;
    server.load_credential(&CredentialConfig::new().set_credential_flags(flags).set_credential(certificate)).unwrap();
    let client = configuration(&registration, algorithm);
    client.load_credential(&CredentialConfig::new_client().set_credential_flags(flags)).unwrap();

    let received = Arc::new(AtomicU64::new(0));
    let (ended, end) = mpsc::channel();
    let server = Arc::new(server);
    let (serving, counted) = (Arc::clone(&server), Arc::clone(&received));
    let listener = Listener::open(&registration, move |_, event| {
        let ListenerEvent::NewConnection { connection, .. } = event else { return Ok(()) };
        let counted = Arc::clone(&counted);
        connection.set_callback_handler(move |connection: ConnectionRef, event: ConnectionEvent<'_>| {
            match event {
                ConnectionEvent::PeerStreamStarted { stream, .. } => {
                    let counted = Arc::clone(&counted);
                    stream.set_callback_handler(move |stream: StreamRef, event: StreamEvent<'_>| {
                        match event {
                            StreamEvent::Receive { buffers, .. } => {
                                let bytes = buffers.iter().map(|buffer| buffer.as_bytes().len() as u64).sum();
                                counted.fetch_add(bytes, Ordering::Relaxed);
                            }
                            StreamEvent::PeerSendShutdown => {
                                let _ = stream.shutdown(StreamShutdownFlags::GRACEFUL, 0);
                            }
                            StreamEvent::ShutdownComplete { .. } => close(&stream),
                            _ => {}
                        }
                        Ok(())
                    });
                }
                ConnectionEvent::ShutdownComplete { .. } => {
                    // SAFETY: there are no more events, and this is the connection's only owner.
                    drop(unsafe { Connection::from_raw(connection.as_raw()) });
                }
                _ => {}
            }
            Ok(())
        });
        connection.set_configuration(&serving)
    })
    .unwrap();
    listener.start(&alpn, Some(&Addr::from(SocketAddr::from(([127, 0, 0, 1], 0))))).unwrap();
    let address = listener.get_local_addr().unwrap().as_socket().unwrap();
    let address = start_link(link, address);

    let (closed, shutdown) = mpsc::channel();
    let data: &'static [u8] = Box::leak(vec![7; CHUNK].into_boxed_slice());
    let connection = Connection::open(&registration, move |connection: ConnectionRef, event: ConnectionEvent<'_>| {
        match event {
            ConnectionEvent::Connected { .. } => {}
            ConnectionEvent::ShutdownComplete { .. } => {
                let _ = closed.send(());
                return Ok(());
            }
            _ => return Ok(()),
        }
        let (mut left, ended) = (chunks, ended.clone());
        let mut send = move |stream: &StreamRef| {
            if left > 0 {
                left -= 1;
                let flags = if left == 0 { SendFlags::FIN } else { SendFlags::NONE };
                let buffer: &'static [BufferRef] = Box::leak(Box::new([BufferRef::from(data)]));
                // SAFETY: the buffer and the data are leaked and so stay valid.
                unsafe { stream.send(buffer, flags, std::ptr::null()) }.unwrap();
            }
        };
        let stream = Stream::open(&connection, StreamOpenFlags::NONE, move |stream: StreamRef, event| {
            match event {
                StreamEvent::StartComplete { .. } => (0..AHEAD).for_each(|_| send(&stream)),
                StreamEvent::SendComplete { .. } => send(&stream),
                // Everything was acknowledged.
                StreamEvent::ShutdownComplete { .. } => {
                    let _ = ended.send(());
                    // Last: it drops this closure.
                    close(&stream);
                }
                _ => {}
            }
            Ok(())
        })?;
        stream.start(StreamStartFlags::NONE)?;
        // SAFETY: the function `close` takes ownership again.
        let _ = unsafe { stream.into_raw() };
        Ok(())
    })
    .unwrap();
    connection.start(&client, "127.0.0.1", address.port()).unwrap();
    end.recv_timeout(TIMEOUT).expect("the transfer ends");
    connection.shutdown(ConnectionShutdownFlags::NONE, 0);
    // If its handle were closed earlier, the server would wait for its idle timeout.
    shutdown.recv_timeout(TIMEOUT).expect("the connection ends");
    let statistics = connection.get_stats_v2().unwrap();
    drop(connection);
    listener.stop();
    drop(listener);
    drop(client);
    drop(server);
    assert_eq!(received.load(Ordering::Relaxed), (chunks * CHUNK) as u64);
    statistics
}
