//! Files of one directory over HTTP/3, on tokio-quiche, with windlass' controllers: [`settings`]
//! has the two lines that makes it take, `register_all` and the name.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boring::pkey::PKey;
use boring::sha::Sha256;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use futures::{SinkExt, StreamExt};
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;
use tokio_quiche::http3::driver::{InboundFrame, IncomingH3Headers, OutboundFrame, ServerH3Event};
use tokio_quiche::http3::settings::Http3Settings;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::quic::ConnectionHook;
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, ServerH3Controller, ServerH3Driver, listen};
use windlass_adapter_testkit::files::Identity;
use windlass_quiche_testkit::web::{Answer, Request};

pub use windlass_adapter_testkit::files;

/// The largest piece of a body handed to tokio-quiche at a time, bytes.
const PIECE: usize = 65_536;

/// The key and the certificate, which are kept as DER.
struct Keys(Identity);

impl Keys {
    fn context(&self) -> Result<SslContextBuilder, boring::error::ErrorStack> {
        let mut tls = SslContextBuilder::new(SslMethod::tls())?;
        tls.set_certificate(X509::from_der(&self.0.certificate)?.as_ref())?;
        tls.set_private_key(PKey::private_key_from_der(&self.0.key)?.as_ref())?;
        Ok(tls)
    }
}

impl ConnectionHook for Keys {
    fn create_custom_ssl_context_builder(&self, _: TlsCertificatePaths<'_>) -> Option<SslContextBuilder> {
        self.context().ok()
    }
}

/// The settings of a server or client whose controller is `controller`.
///
/// # Errors
/// There is no such controller, or it needs a signal quiche does not report.
pub fn settings(controller: &str) -> Result<QuicSettings, Box<dyn Error>> {
    windlass_quiche::register_all();
    // tokio-quiche's error is quiche's, which carries no reason. quiche's own controllers and names
    // registered otherwise are not in the catalogue.
    if let Err(error) = quiche::Config::new(quiche::PROTOCOL_VERSION)?.set_cc_algorithm_name(controller) {
        return Err(windlass_quiche::check(controller).map_or_else(|reason| reason.into(), |()| error.into()));
    }
    let mut settings = QuicSettings::default();
    settings.cc_algorithm = controller.to_owned();
    settings.enable_pacing = true;
    Ok(settings)
}

/// Serves the files of `root` on `socket`, at most `max_connections` at once. `ended` is called with
/// the statistics of each connection's path when it ends.
///
/// # Errors
/// The identity is of no use, or the socket fails.
pub async fn serve(
    socket: UdpSocket,
    settings: QuicSettings,
    identity: Identity,
    root: &Path,
    max_connections: usize,
    ended: impl Fn(&quiche::PathStats) + Clone + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let root: Arc<Path> = root.into();
    let keys = Keys(identity);
    // An error in them is returned here; tokio-quiche would not report it.
    keys.context()?;
    let hooks = Hooks { connection_hook: Some(Arc::new(keys)) };
    // tokio-quiche calls the hook only if there are paths, and then does not read them.
    let unread = TlsCertificatePaths { cert: "", private_key: "", kind: CertificateKind::X509 };
    let mut listeners = listen([socket], ConnectionParams::new_server(settings, unread, hooks), DefaultMetrics)?;
    let connections = listeners.first_mut().ok_or("no socket to listen on")?;
    let permits = Arc::new(Semaphore::new(max_connections));
    while let Some(connection) = connections.next().await {
        // An error of one connection does not concern the others. Beyond the limit they are dropped.
        let (Ok(connection), Ok(permit)) = (connection, Arc::clone(&permits).try_acquire_owned()) else { continue };
        let (driver, controller) = ServerH3Driver::new(Http3Settings::default());
        let stats = Arc::clone(connection.stats());
        connection.start(driver);
        let (root, ended) = (Arc::clone(&root), ended.clone());
        tokio::spawn(async move {
            answer(controller, &root).await;
            if let Ok(stats) = stats.lock()
                && let Some(path) = &stats.path_stats
            {
                ended(path);
            }
            drop(permit);
        });
    }
    Ok(())
}

/// Answers the requests of a connection until it is gone.
async fn answer(mut controller: ServerH3Controller, root: &Arc<Path>) {
    while let Some(event) = controller.event_receiver_mut().recv().await {
        if let ServerH3Event::Headers { incoming_headers, .. } = event {
            tokio::spawn(respond(incoming_headers, root.to_path_buf()));
        }
    }
}

async fn respond(request: IncomingH3Headers, root: PathBuf) {
    let IncomingH3Headers { headers, mut send, mut recv, read_fin, .. } = request;
    let answer = match Request::read(&headers) {
        Ok(Request::File { path, head }) => Answer::file(&root, &path, head),
        Ok(Request::Upload) => {
            let (mut hash, mut bytes, mut end) = (Sha256::new(), 0, read_fin);
            while !end {
                match recv.recv().await {
                    Some(InboundFrame::Body(piece, last)) => {
                        hash.update(&piece);
                        bytes += piece.len() as u64;
                        end = last;
                    }
                    Some(InboundFrame::Datagram(_)) => {}
                    // The client closed the stream.
                    None => return,
                }
            }
            Answer::received(bytes, hash)
        }
        Err(status) => Answer::refusal(status, "this server takes GET, POST and PUT"),
    };
    let (headers, text, file) = answer.into_parts();
    if send.send(OutboundFrame::Headers(headers, None)).await.is_err() {
        return;
    }
    let Some(mut file) = file else {
        let _ = send.send(OutboundFrame::Body(text.into(), true)).await;
        return;
    };
    loop {
        // Reading blocks all connections, which is short for a file on a disk.
        let mut piece = vec![0; PIECE];
        let frame = match file.read(&mut piece) {
            Ok(read) => {
                piece.truncate(read);
                OutboundFrame::Body(piece.into(), read == 0)
            }
            // A reset, so that the client does not take a part for the whole.
            Err(_) => OutboundFrame::PeerStreamError,
        };
        let last = !matches!(&frame, OutboundFrame::Body(_, false));
        if send.send(frame).await.is_err() || last {
            return;
        }
    }
}
