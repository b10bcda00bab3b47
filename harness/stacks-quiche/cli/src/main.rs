//! The `windlass` command with quiche among its stacks.

fn main() -> std::process::ExitCode {
    windlass::cli::run(std::env::args_os(), &[&windlass_stacks_quiche::Quiche], Vec::new())
}
