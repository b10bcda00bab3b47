//! The `windlass` binary with MsQuic among its stacks.

fn main() -> std::process::ExitCode {
    windlass::cli::main_with(&[&windlass_msquic_harness::MSQUIC])
}
