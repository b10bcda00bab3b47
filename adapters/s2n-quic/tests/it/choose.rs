//! The example `choose` gives each connection the controller it says.

#[allow(dead_code, reason = "the program's main function")]
#[path = "../../examples/choose.rs"]
mod example;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_has_the_controller_chosen_for_it() {
    let lines = example::run().await.unwrap();
    let expected =
        ["127.0.0.1: tcp-p", "127.0.0.2: tcp-k:k=8", "127.0.0.1: tcp-p", "the group of 127.0.0.1 has 2 members"];
    assert_eq!(lines, expected);
}
