//! Passes the directory of the headers to the build scripts of dependents: `DEP_WINDLASS_ABI_INCLUDE`.

use std::path::Path;

fn main() {
    let include = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("include");
    // Absolute, so that a target directory filled from a checkout that is gone does not keep its path.
    println!("cargo::rerun-if-changed={}", include.display());
    println!("cargo::metadata=include={}", include.display());
}
