//! Tells crates that depend on this one where the header is.

fn main() {
    println!("cargo::rerun-if-changed=include");
    let directory = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=include={directory}/include");
}
