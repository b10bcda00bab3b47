//! The example `choose` gives each connection the controller it says.

#[allow(dead_code, reason = "the program's main function")]
#[path = "../../examples/choose.rs"]
mod example;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_has_the_controller_chosen_for_it() {
    let lines = example::run().await.unwrap();
    let expected = [
        "client: cubic:iw=32",
        "client: ledbat++",
        "client: tcp-k:k=8",
        "client: cubic",
        "client: tcp-p",
        "client: tcp-p",
        "the group has 2 members",
        "server: copa",
    ];
    assert_eq!(lines, expected);
}
