//! Says in `windlass --version` what it was built for, and of which commit where WINDLASS_COMMIT names one.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WINDLASS_COMMIT");
    let of = |name| std::env::var(name).unwrap_or_default();
    let commit = of("WINDLASS_COMMIT");
    let facts = if commit.is_empty() { of("TARGET") } else { format!("{commit}, {}", of("TARGET")) };
    println!("cargo::rustc-env=WINDLASS_VERSION={} ({facts})", of("CARGO_PKG_VERSION"));
}
