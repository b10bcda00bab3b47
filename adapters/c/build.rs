//! Gives the shared library the name by which programs linked with it look for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let name = match std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str() {
        "linux" => "-Wl,-soname,libwindlass.so.1",
        "macos" => "-Wl,-install_name,@rpath/libwindlass.1.dylib",
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={name}");
}
