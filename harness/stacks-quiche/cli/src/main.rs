//! The `windlass` command with quiche among its stacks.

fn main() -> std::process::ExitCode {
    windlass::cli::main_with(&[&windlass_stacks_quiche::Quiche])
}
