//! Programs in C against the header and both libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The C compiler's name, as in makefiles.
fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// The library with this extension that belongs to this test.
fn library(extension: &str) -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name(format!("libwindlass_c.{extension}"));
    assert!(library.is_file(), "{}", library.display());
    library
}

/// What `check.c` prints last: how many controllers it ran.
fn controllers() -> String {
    format!("{} controllers", windlass_controllers::Algorithm::ALL.len())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

/// Compiles `check.c` with `library` and `flags`, and runs it.
fn check(library: &Path, flags: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("check");
    let mut compile = Command::new(cc());
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"]).args(flags);
    compile.arg("-I").arg(root().join("../abi/include")).arg(root().join("tests/it/check.c")).arg(library);
    run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    if library.extension().is_some_and(|extension| extension == "so") {
        std::fs::copy(library, directory.path().join("libwindlass.so.1")).unwrap();
    }
    let file = directory.path().join("cc.toml");
    let text = "controller = \"cubic\"\n[[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"tcp-p\"\n";
    std::fs::write(&file, text).unwrap();
    let broken = directory.path().join("broken.toml");
    std::fs::write(&broken, "controller = \"cubicc\"\n").unwrap();
    run(Command::new(program).arg(file).arg(broken).env("LD_LIBRARY_PATH", directory.path()))
}

#[test]
fn a_c_program_uses_the_static_library_under_sanitizers() {
    let out = check(&library("a"), &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    assert!(out.contains(&controllers()), "{out}");
}

#[test]
fn a_c_program_uses_the_shared_library() {
    let out = check(&library("so"), &[]);
    assert!(out.contains(&controllers()), "{out}");
}

#[test]
fn both_libraries_decide_the_same() {
    assert_eq!(check(&library("a"), &[]), check(&library("so"), &["-O2"]));
}

#[test]
fn the_header_is_c99_c11_and_cpp11() {
    for language in [&["-x", "c", "-std=c99"][..], &["-x", "c", "-std=c11"], &["-x", "c++", "-std=c++11"]] {
        let mut compile = Command::new(cc());
        compile.args(language).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]);
        run(compile.arg(root().join("../abi/include/windlass.h")));
    }
}
