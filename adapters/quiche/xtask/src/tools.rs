//! Programs and libraries that the build of quiche needs, looked for before it begins: it compiles BoringSSL for
//! minutes before it misses some of them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program or library, and Debian's package of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tool {
    /// Name of the program or library.
    pub name: &'static str,
    /// Debian's package.
    pub package: &'static str,
}

/// Programs, each with the variable that names another in its place.
const PROGRAMS: &[(Tool, &str)] = &[
    (Tool { name: "cc", package: "gcc" }, "CC"),
    (Tool { name: "c++", package: "g++" }, "CXX"),
    (Tool { name: "cmake", package: "cmake" }, "CMAKE"),
    (Tool { name: "make", package: "make" }, "CMAKE_MAKE_PROGRAM"),
    (Tool { name: "git", package: "git" }, ""),
];

/// bindgen loads it when it runs.
const LIBCLANG: Tool = Tool { name: "libclang", package: "libclang-dev" };

/// The tools that are missing.
#[must_use]
pub fn missing() -> Vec<Tool> {
    let programs = PROGRAMS.iter().filter(|(tool, variable)| {
        let named = env::var_os(variable).filter(|_| !variable.is_empty());
        !is_program(named.as_deref().unwrap_or(OsStr::new(tool.name)))
    });
    let mut missing: Vec<_> = programs.map(|(tool, _)| *tool).collect();
    if !has_libclang() {
        missing.push(LIBCLANG);
    }
    missing
}

/// Whether `name` is an executable file in `PATH`, or one by its path.
fn is_program(name: &OsStr) -> bool {
    // CC may have options after the program.
    let name = name.to_string_lossy();
    let name = Path::new(name.split_whitespace().next().unwrap_or_default());
    if name.components().count() > 1 {
        return name.is_file();
    }
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|directory| directory.join(name).is_file()))
}

/// Whether libclang is where bindgen looks: in `LIBCLANG_PATH`, where llvm-config says, and in the usual
/// directories.
fn has_libclang() -> bool {
    let mut directories: Vec<PathBuf> = env::var_os("LIBCLANG_PATH").map(PathBuf::from).into_iter().collect();
    let output = Command::new(env::var_os("LLVM_CONFIG_PATH").unwrap_or("llvm-config".into())).arg("--libdir").output();
    if let Ok(output) = output {
        directories.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    for usual in ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/opt/homebrew/opt/llvm/lib"] {
        directories.push(usual.into());
    }
    // As /usr/lib/llvm-14/lib and /usr/lib/x86_64-linux-gnu.
    for entry in fs::read_dir("/usr/lib").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("llvm") {
            directories.push(entry.path().join("lib"));
        } else if name.contains("-linux-gnu") {
            directories.push(entry.path());
        }
    }
    directories.iter().any(|directory| {
        is_libclang(directory)
            || fs::read_dir(directory)
                .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| is_libclang(&entry.path()))))
    })
}

/// Whether the file name is that of the shared library.
fn is_libclang(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let versioned = |name: &str| {
        name == "libclang.so"
            || name.starts_with("libclang.so.")
            || name.starts_with("libclang-") && name.contains(".so")
    };
    path.is_file() && (versioned(&name) || name == "libclang.dylib")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libclang_is_known_by_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let is = |name: &str| {
            let path = directory.path().join(name);
            fs::write(&path, "").unwrap();
            is_libclang(&path)
        };
        assert!(["libclang.so", "libclang.so.1", "libclang-14.so.1", "libclang-14.so"].into_iter().all(is));
        assert!(!["libclang-cpp.a", "libclangLex.a", "libLLVM.so"].into_iter().any(is));
    }
}
