//! Builds MsQuic from the package Cargo fetched, with `c/` in its core.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

mod guard;

/// Where MsQuic's build leaves OpenSSL.
const OPENSSL: &str = "build/_deps/opensslquic-build/quictls/lib";

fn main() {
    if let Err(error) = build() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for path in ["build", "c", "cmake", "upstream.sha256"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for variable in ["WINDLASS_MSQUIC_SOURCE", "WINDLASS_MSQUIC_BUILD"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let include = PathBuf::from(variable("DEP_WINDLASS_MSQUIC_ABI_INCLUDE")?);
    println!("cargo::rerun-if-changed={}", include.display());
    let source = match env::var_os("WINDLASS_MSQUIC_SOURCE") {
        Some(source) => source.into(),
        None => fetched(&here)?,
    };
    for file in guard::files() {
        println!("cargo::rerun-if-changed={}", source.join(file).display());
    }
    guard::check(&source)?;
    let shared = env::var_os("CARGO_FEATURE_SHARED").is_some();
    let linkage = if shared { "shared" } else { "static" };
    let checked = env::var_os("CARGO_FEATURE_CHECKED").is_some();
    let packets = env::var_os("CARGO_FEATURE_PACKET_QLOG").is_some();
    let out = match env::var_os("WINDLASS_MSQUIC_BUILD") {
        // Both linkages from one tree: OpenSSL, which is most of the build, is the same.
        Some(out) => PathBuf::from(out),
        None => PathBuf::from(variable("OUT_DIR")?),
    };
    let libraries = out.join(linkage);
    cmake::Config::new(&source)
        // One layout of MsQuic's structures, whatever Cargo's profile.
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
        // MsQuic's archive has OpenSSL in it, unless its path has "dl" somewhere, as windlass
        // has: then its build takes OpenSSL for libdl, and leaves it out.
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

/// Where Cargo unpacked the package `msquic`; it tells build scripts only by asking.
fn fetched(here: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new(variable("CARGO")?)
        .args(["metadata", "--format-version=1", "--offline", "--manifest-path"])
        .arg(here.join("Cargo.toml"))
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata tells no packages")?;
    let package = packages.iter().find(|package| package["name"] == "msquic").ok_or("msquic is no dependency")?;
    guard::one_native(&metadata, &package["id"])?;
    let manifest = package["manifest_path"].as_str().ok_or("the package msquic has no manifest")?;
    Ok(Path::new(manifest).parent().unwrap_or(Path::new("")).to_owned())
}
