//! Passes the directory of the header to the build scripts of dependents: `DEP_WINDLASS_MSQUIC_ABI_INCLUDE`.

fn main() {
    println!("cargo::rerun-if-changed=include");
    let directory = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=include={directory}/include");
}
