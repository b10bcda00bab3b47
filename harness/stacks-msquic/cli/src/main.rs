//! The `windlass` command with MsQuic among its stacks: `windlass-msquic run clean-link --stack msquic --wire`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    windlass::cli::run(std::env::args_os(), &[&windlass_stacks_msquic::MsQuic], Vec::new())
}
