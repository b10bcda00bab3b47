//! The `windlass` command with MsQuic among its stacks: `windlass-msquic run clean-link --stack msquic --wire`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    windlass::cli::main_with(&[&windlass_stacks_msquic::MsQuic])
}
