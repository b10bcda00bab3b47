//! The `[recording]` section: logs of the flows it selects.

use std::net::SocketAddr;
use std::path::{self, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_controllers::{ConfiguredController, Path};
use windlass_qlog::{Detail, Header, Profile, Trace};

use super::ConfigError;
use crate::qlog::{Level, QlogRecorder};
use crate::{LogWriter, Recorder};

/// Where and how flows are recorded: a qlog file each, in one directory, written by a
/// thread of its own.
#[derive(Debug)]
pub struct Recording {
    directory: PathBuf,
    level: Level,
    writer: Mutex<Option<LogWriter>>,
}

/// Files named by this process.
static FILES: AtomicU64 = AtomicU64::new(0);

/// A name for a flow of `stack` that no other process or run uses.
fn flow_name(stack: &str) -> String {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let nth = FILES.fetch_add(1, Ordering::Relaxed);
    format!("{stack}-{started}-{}-{nth}", std::process::id())
}

impl Recording {
    pub(super) fn new(directory: PathBuf, level: Level) -> Recording {
        Recording { directory, level, writer: Mutex::default() }
    }

    /// Directory of recordings (`[recording] directory`).
    #[must_use]
    pub fn directory(&self) -> &path::Path {
        &self.directory
    }

    /// Detail of recordings (`[recording] level`).
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Makes the directory and starts the writer, unless that was done.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn open(&self) -> Result<LogWriter, ConfigError> {
        let mut writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(writer) = &*writer {
            return Ok(writer.clone());
        }
        let failed = |source| ConfigError::Recording { directory: self.directory.clone(), source };
        Ok(writer.insert(LogWriter::open(&self.directory).map_err(failed)?).clone())
    }

    /// The recorder of a flow of `controller` to `peer`, which writes to `writer`.
    #[must_use]
    pub fn recorder<C: ConfiguredController>(
        &self,
        writer: &LogWriter,
        stack: &str,
        controller: &C,
        text: &str,
        peer: SocketAddr,
        path: &Path,
    ) -> Box<dyn Recorder> {
        let title = format!("{stack} to {peer} by {text}");
        // No stack tells a controller the connection ID that its peer's log would have: address and time tie both.
        let flow = flow_name(stack);
        let header = Header { title: &title, name: stack, group_id: &flow, origin_ns: path.now.0, ..Header::default() };
        let file = writer.file(&format!("{flow}.sqlog"));
        let mut trace = Trace::new(file, Profile::Ietf, Detail::Packets, &header);
        // The beginning of a file is always taken; what follows may not be.
        let _ = trace.flush();
        Box::new(QlogRecorder::new(trace, self.level, controller, text, path))
    }
}
