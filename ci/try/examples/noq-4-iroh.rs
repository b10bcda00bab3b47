//! The README's endpoint, and another that it sends to, on addresses of this machine; the controller is asked whether it was told.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_noq::{Decision, Event, Recorder, StateVariables};

const ALPN: &[u8] = b"windlass/try";
const BYTES: usize = 1_000_000;

async fn readme() -> Result<iroh::Endpoint, Box<dyn Error>> {
// BLOCK
    Ok(endpoint)
}

/// Counts the steps of the controllers.
struct Steps(Arc<AtomicU64>);

impl Recorder for Steps {
    fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    drop(readme);
    let steps = Arc::new(AtomicU64::new(0));
    let counted = steps.clone();
    let factory = windlass_noq::Factory::named("copa")?.record_with(move |_| Box::new(Steps(counted.clone())));
    let transport = iroh::endpoint::QuicTransportConfig::builder().congestion_controller_factory(Arc::new(factory)).build();
    let local = |transport: Option<iroh::endpoint::QuicTransportConfig>| {
        let builder = iroh::Endpoint::builder(iroh::endpoint::presets::Minimal).alpns(vec![ALPN.to_vec()]);
        match transport {
            Some(transport) => builder.transport_config(transport),
            None => builder,
        }
    };
    let receiver = local(None).bind().await?;
    let sender = local(Some(transport)).bind().await?;
    let address = receiver.addr();
    let received = tokio::spawn(async move {
        let connection = receiver.accept().await.ok_or("no connection")?.await.map_err(|error| error.to_string())?;
        let mut stream = connection.accept_uni().await.map_err(|error| error.to_string())?;
        stream.read_to_end(BYTES).await.map(|bytes| bytes.len()).map_err(|error| error.to_string())
    });
    let connection = sender.connect(address, ALPN).await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![7; BYTES]).await?;
    stream.finish()?;
    let (bytes, steps) = (received.await??, steps.load(Ordering::Relaxed));
    println!("{bytes} bytes by iroh, {steps} steps of copa");
    assert!(bytes == BYTES && steps > 100);
    Ok(())
}
