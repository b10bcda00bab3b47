//! What is ours in the tree.

use std::fmt::Write;

use crate::{Edits, Error};

/// Names with parameters a process can use at a time.
pub const SLOTS: usize = 256;

/// Where the module goes, relative to the source.
pub const MODULE: &str = "src/recovery/gcongestion/external.rs";

const SLOTS_MODULE: &str = "src/recovery/gcongestion/external/slots.rs";

/// The number of the first variant; quiche's own come before.
const FIRST: usize = 1024;

/// Files to add: where they go, and what is in them.
pub type Added = Vec<(&'static str, String)>;

/// The edits and the files to add.
///
/// # Errors
/// The list of edits has a mistake.
pub fn hook() -> Result<(Edits, Added), Error> {
    let list = include_str!("../../hook/edits.toml").replace("@VARIANTS@", &variants());
    let files = vec![(MODULE, include_str!("../../hook/external.rs").to_owned()), (SLOTS_MODULE, slots())];
    Ok((Edits::read(&list)?, files))
}

/// Variants of the enumeration of algorithms, on one line.
fn variants() -> String {
    (0..SLOTS).fold(String::from("#[doc(hidden)]"), |mut line, slot| {
        let separator = if slot > 0 { " #[doc(hidden)]" } else { "" };
        let _ = write!(line, "{separator} External{slot} = {},", FIRST + slot);
        line
    })
}

/// The same variants in their order.
fn slots() -> String {
    let mut text = format!(
        "use crate::recovery::CongestionControlAlgorithm as Algorithm;\n\n\
         /// Variants that stand for algorithms known by name.\npub(super) const SLOTS: [Algorithm; {SLOTS}] = [\n"
    );
    for slot in 0..SLOTS {
        let _ = writeln!(text, "    Algorithm::External{slot},");
    }
    text.push_str("];\n");
    text
}
