//! The two patches: the hook for congestion controllers, and what the harness needs beside it.

use std::fmt::Write;

use crate::tree::MODULE;
use crate::{Edits, Error, Tree, manifest};

/// Names with parameters that a process can use.
pub const SLOTS: usize = 256;

/// The feature of a quiche that has the hook. `windlass-quiche` asks for it, so that Cargo resolves no other
/// quiche for it, and says what is missing if there is none.
pub const FEATURE: &str = "made-by-cargo-xtask-quiche";

/// The module of the harness's patch, relative to the source.
pub const HARNESS_MODULE: &str = "src/harness.rs";

const SLOTS_MODULE: &str = "src/recovery/gcongestion/external/slots.rs";

/// The number of the first variant for a registered name; quiche's own are below.
const FIRST: usize = 1024;

/// Edits of quiche's files, and files of ours beside them.
#[derive(Clone, Debug)]
pub struct Patch {
    edits: Edits,
    files: Vec<(&'static str, String)>,
    /// Changes the manifest.
    manifest: fn(&mut toml_edit::DocumentMut),
}

impl Patch {
    /// The hook for congestion controllers: all that a program needs, and what could be offered
    /// to quiche.
    ///
    /// # Errors
    /// Its list of edits has a mistake.
    pub fn hook() -> Result<Patch, Error> {
        let list = include_str!("../../patches/hook/edits.toml").replace("@VARIANTS@", &variants());
        Ok(Patch {
            edits: Edits::read("patches/hook/edits.toml", &list)?,
            files: vec![(MODULE, include_str!("../../patches/hook/external.rs").to_owned()), (SLOTS_MODULE, slots())],
            manifest: |manifest| manifest::add_feature(manifest, FEATURE),
        })
    }

    /// Virtual time, seeded randomness and access for benchmarks, on top of [`hook`](Self::hook).
    ///
    /// # Errors
    /// Its list of edits has a mistake.
    pub fn harness() -> Result<Patch, Error> {
        Ok(Patch {
            edits: Edits::read("patches/harness/edits.toml", include_str!("../../patches/harness/edits.toml"))?,
            files: vec![(HARNESS_MODULE, include_str!("../../patches/harness/harness.rs").to_owned())],
            // Libraries for C have one file name whatever the features, so each set of features would link
            // them again.
            manifest: manifest::make_rust_library_only,
        })
    }

    /// Applies the patch to `tree`, the source of `version`. Returns how many edits of test code were
    /// left out.
    ///
    /// # Errors
    /// An edit does not find its place; then `tree` is of no use.
    pub fn apply(self, tree: &mut Tree, version: &str) -> Result<usize, Error> {
        let left_out = self.edits.apply(tree, version)?;
        manifest::edit(tree, self.manifest)?;
        for (path, contents) in self.files {
            let contents = for_release(&contents, tree);
            tree.put(path, contents.into_bytes());
        }
        Ok(left_out)
    }
}

/// `module` without what `tree` has no use for: lines between `// [if FILE: TEXT]` and `// [end]` stay if the file
/// has the text.
fn for_release(module: &str, tree: &Tree) -> String {
    let mut kept = String::with_capacity(module.len());
    let mut keep = true;
    for line in module.split_inclusive('\n') {
        let condition = line.trim().strip_prefix("// [if ").and_then(|rest| rest.strip_suffix(']')?.split_once(": "));
        match condition {
            Some((file, text)) => keep = tree.text(file).is_some_and(|source| source.contains(text)),
            None if line.trim() == "// [end]" => keep = true,
            None if keep => kept.push_str(line),
            None => {}
        }
    }
    kept
}

/// Variants of the enumeration of algorithms, on one line.
fn variants() -> String {
    (0..SLOTS).fold(String::from("#[doc(hidden)]"), |mut line, slot| {
        let separator = if slot > 0 { " #[doc(hidden)]" } else { "" };
        let _ = write!(line, "{separator} External{slot} = {},", FIRST + slot);
        line
    })
}

/// The source of a module with the same variants in their order.
fn slots() -> String {
    let mut text = format!(
        "use crate::recovery::CongestionControlAlgorithm as Algorithm;\n\n\
         /// Variants that stand for registered algorithms.\npub(super) const SLOTS: [Algorithm; {SLOTS}] = [\n"
    );
    for slot in 0..SLOTS {
        let _ = writeln!(text, "    Algorithm::External{slot},");
    }
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_what_the_release_calls() {
        let module = "a\n    // [if src/f.rs: fn b]\n    b\n    // [end]\nc\n";
        let mut tree = Tree::default();
        assert_eq!(for_release(module, &tree), "a\nc\n");
        tree.put("src/f.rs", b"fn b() {}".to_vec());
        assert_eq!(for_release(module, &tree), "a\n    b\nc\n");
    }

    #[test]
    fn both_lists_of_edits_can_be_read() {
        assert!(Patch::hook().unwrap().edits.edit.len() > 15);
        assert!(Patch::harness().unwrap().edits.edit.len() > 4);
    }
}
