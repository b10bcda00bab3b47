//! CPU time of a whole server: ours beside quinn's own controllers, by turns over loopback.
//! `cargo bench -p windlass-quinn --bench server [-- TURNS [MEGABYTES]]`.

windlass_adapter_testkit::quinn_like_server!(quinn, windlass_quinn);

fn main() -> Result<(), Box<dyn Error>> {
    // Ours has no BBR here: quinn lacks a signal that it needs.
    windlass_adapter_testkit::server::beside::<Server>(&[("cubic", "native:cubic"), ("reno", "native:newreno")])
}

/// quinn's own spellings.
mod shim {
    use std::sync::Arc;

    use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};

    pub fn native(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        match name {
            "native:cubic" => Some(Arc::new(CubicConfig::default())),
            "native:newreno" => Some(Arc::new(NewRenoConfig::default())),
            _ => None,
        }
    }

    pub async fn read(stream: &mut quinn::RecvStream) -> Result<Option<usize>, quinn::ReadError> {
        Ok(stream.read_chunk(usize::MAX, true).await?.map(|chunk| chunk.bytes.len()))
    }
}
