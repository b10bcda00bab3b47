//! The `windlass` command line with quiche among its stacks.

fn main() -> std::process::ExitCode {
    windlass::cli::main_with(&[&windlass_quiche_harness::QUICHE])
}
