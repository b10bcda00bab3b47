//! Builds MsQuic from the source Cargo downloaded, with `c/` in its core.

use std::env;
use std::error::Error;
use std::path::PathBuf;

mod source;

/// OpenSSL's libraries in MsQuic's build tree.
const OPENSSL: &str = "build/_deps/opensslquic-build/quictls/lib";

fn main() {
    if let Err(error) = build() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    if env::var_os("DOCS_RS").is_some() {
        // Documentation links nothing.
        return Ok(());
    }
    for variable in ["WINDLASS_MSQUIC_SOURCE", "WINDLASS_MSQUIC_UNKNOWN", "WINDLASS_MSQUIC_BUILD"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    for path in ["build", "c", "cmake", "upstream.sha256", "releases.sha256"] {
        println!("cargo::rerun-if-changed={}", here.join(path).display());
    }
    let include = PathBuf::from(variable("DEP_WINDLASS_ABI_INCLUDE")?);
    println!("cargo::rerun-if-changed={}", include.display());
    let source = match env::var_os("WINDLASS_MSQUIC_SOURCE") {
        Some(source) => source.into(),
        None => source::find(&here)?,
    };
    for file in source::files() {
        println!("cargo::rerun-if-changed={}", source.join(file).display());
    }
    if let Err(error) = source::check(&source) {
        // The compiler and the tests then say whether it fits.
        if env::var_os("WINDLASS_MSQUIC_UNKNOWN").is_none_or(|value| value != "1") {
            return Err(error.into());
        }
        println!("cargo::warning={error}");
    }
    let shared = env::var_os("CARGO_FEATURE_SHARED").is_some();
    let linkage = if shared { "shared" } else { "static" };
    let checked = env::var_os("CARGO_FEATURE_CHECKED").is_some();
    let packets = env::var_os("CARGO_FEATURE_PACKET_QLOG").is_some();
    let out = match env::var_os("WINDLASS_MSQUIC_BUILD") {
        // One tree for both linkages, which share OpenSSL, most of the build.
        Some(out) => PathBuf::from(out),
        None => PathBuf::from(variable("OUT_DIR")?),
    };
    let libraries = out.join(linkage);
    cmake::Config::new(&source)
        // One layout of MsQuic's structures in all of Cargo's profiles.
        .profile(if checked { "Debug" } else { "Release" })
        .define("QUIC_ENABLE_SANITIZERS", if checked { "on" } else { "off" })
        .out_dir(&out)
        .define("QUIC_TLS_LIB", "quictls")
        .define("QUIC_ENABLE_LOGGING", "off")
        .define("QUIC_BUILD_SHARED", if shared { "on" } else { "off" })
        .define("QUIC_OUTPUT_DIR", &libraries)
        .define("NUMA", "OFF")
        .define("NUMA-HEADER", "OFF")
        .define("CMAKE_PROJECT_msquic_INCLUDE", here.join("cmake/inject.cmake"))
        .define("WINDLASS_C", here.join("c"))
        .define("WINDLASS_ABI", &include)
        .define("WINDLASS_PACKETS", if packets { "on" } else { "off" })
        .build_target(if shared { "msquic" } else { "msquic_lib" })
        .build();
    println!("cargo::rustc-link-search=native={}", libraries.display());
    if !shared {
        println!("cargo::rustc-link-lib=static=msquic");
        // MsQuic's archive contains OpenSSL unless the path contains "dl", as in "windlass": MsQuic's
        // build then takes OpenSSL for libdl and leaves it out.
        println!("cargo::rustc-link-search=native={}", out.join(OPENSSL).display());
        println!("cargo::rustc-link-lib=static=ssl");
        println!("cargo::rustc-link-lib=static=crypto");
    }
    println!("cargo::metadata=lib={}", libraries.display());
    println!("cargo::metadata=source={}", source.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}; expected what Cargo sets for build scripts"))
}
