fn show(connection: &quinn::Connection) {
// BLOCK
}

fn main() {
    let _ = show;
}
