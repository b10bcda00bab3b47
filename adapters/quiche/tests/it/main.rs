//! The adapter's integration tests. They need quiche with both patches: virtual time makes them
//! repeatable.

mod calls;
mod events;
mod names;
mod network;
mod paths;
mod transfer;

/// Runs `test` in a process of its own, for what holds for a whole process; true there, false in the one that waited.
fn in_own_process(test: &str) -> bool {
    const CHILD: &str = "WINDLASS_TEST_OWN_PROCESS";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let child = std::process::Command::new(program).args(["--exact", test]).env(CHILD, "1").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && output.contains("1 passed"),
        "{output}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    false
}
