use super::*;

fn pair() -> (Socket, Socket) {
    let (one, other) = (bind().unwrap(), bind().unwrap());
    let (first, second) = (one.local_addr().unwrap(), other.local_addr().unwrap());
    (Socket::new(one, second).unwrap(), Socket::new(other, first).unwrap())
}

fn received(socket: &Socket) -> Vec<(Codepoint, Vec<u8>)> {
    let mut inbox = Inbox::default();
    let mut all = Vec::new();
    while socket.receive(&mut inbox, |ecn, bytes| all.push((ecn, bytes.to_vec()))) {}
    all
}

#[test]
fn codepoints_and_datagrams_arrive_as_they_were_sent() {
    let (one, other) = pair();
    let sent: Vec<_> = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce]
        .into_iter()
        .enumerate()
        .map(|(i, ecn)| (ecn, vec![i as u8; 1200 + i]))
        .collect();
    for (ecn, bytes) in &sent {
        assert!(one.send(*ecn, bytes));
    }
    assert_eq!(received(&other), sent);
    assert!(other.interest().revents().is_empty());
}

#[test]
fn datagrams_of_strangers_are_dropped() {
    let (one, other) = pair();
    let stranger = bind().unwrap();
    stranger.send_to(b"hello", other.open.address().unwrap()).unwrap();
    assert!(one.send(Codepoint::NotEct, b"known"));
    assert_eq!(received(&other), [(Codepoint::NotEct, b"known".to_vec())]);
}

#[test]
fn sockets_are_reachable_from_this_machine_only() {
    assert!(bind().unwrap().local_addr().unwrap().ip().is_loopback());
}
