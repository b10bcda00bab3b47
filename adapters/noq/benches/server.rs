//! CPU time of a whole server: ours beside noq's own controllers, by turns over loopback.
//! `cargo bench -p windlass-noq --bench server [-- TURNS [MEGABYTES]]`.

windlass_adapter_testkit::quinn_like_server!(noq, windlass_noq);

fn main() -> Result<(), Box<dyn Error>> {
    windlass_adapter_testkit::server::beside::<Server>(&[
        ("cubic", "native:cubic"),
        ("reno", "native:newreno"),
        ("bbr", "native:bbr3"),
    ])
}

/// noq's own spellings.
mod shim {
    use std::sync::Arc;

    use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};

    pub fn native(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        match name {
            "native:bbr3" => Some(Arc::new(Bbr3Config::default())),
            "native:cubic" => Some(Arc::new(CubicConfig::default())),
            "native:newreno" => Some(Arc::new(NewRenoConfig::default())),
            _ => None,
        }
    }

    pub async fn read(stream: &mut noq::RecvStream) -> Result<Option<usize>, noq::ReadError> {
        Ok(stream.read_chunk(usize::MAX).await?.map(|chunk| chunk.len()))
    }
}
