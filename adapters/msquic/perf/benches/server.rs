//! CPU time of a whole server: ours beside MsQuic's own controllers, by turns over loopback.
//! `cargo bench -p windlass-msquic-perf --bench server [-- TURNS [MEGABYTES]]`, as `ci/msquic measure` calls it.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;

use windlass_adapter_testkit::files::Identity;
use windlass_adapter_testkit::server::{self, Stack};
use windlass_msquic_endpoint::{Library, Settings, pem};
use windlass_msquic_perf::{Plan, algorithm_id, run, serve};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    server::beside::<MsQuic>(&[("cubic", "native:cubic"), ("reno", "native:cubic"), ("bbr", "native:bbr")])
}

struct MsQuic;

impl MsQuic {
    /// Those of both ends, as a program sets them that sends much.
    fn settings() -> Settings {
        Settings { receive_window: 1 << 26, ..Settings::default() }
    }
}

impl Stack for MsQuic {
    // The client says how many bytes.
    fn serve(identity: &Identity, controller: &str, _: u64, listens: impl FnOnce(SocketAddr)) -> Result<()> {
        let files = tempfile::tempdir()?;
        let (certificate, key) = (files.path().join("certificate"), files.path().join("key"));
        fs::write(&certificate, pem("CERTIFICATE", &identity.certificate))?;
        fs::write(&key, pem("PRIVATE KEY", &identity.key))?;
        let settings = Settings { congestion_control: Some(algorithm_id(controller)?), ..MsQuic::settings() };
        let library = Library::open("server")?;
        let server = serve(&library, &settings, ([127, 0, 0, 1], 0).into(), &certificate, &key)?;
        listens(server.address()?);
        server.wait();
        Ok(())
    }

    fn fetch(server: SocketAddr, _: &[u8], bytes: u64, came: impl FnOnce(u64)) -> Result<()> {
        let library = Library::open("client")?;
        let plan = Plan { upload: 0, download: bytes, parallel: 1, duration: None };
        came(run(&library, &MsQuic::settings(), server, &plan)?.received);
        Ok(())
    }
}
