use super::*;

fn covers(to: &str, peer: &str) -> bool {
    let (address, name) = peer.split_once(' ').map_or((peer, None), |(address, name)| (address, Some(name)));
    Destination::read(to).unwrap().covers(&Peer { address: address.parse().unwrap(), name })
}

#[test]
fn addresses_prefixes_and_ports() {
    assert!(covers("192.0.2.7", "192.0.2.7:443") && !covers("192.0.2.7", "192.0.2.8:443"));
    assert!(covers("192.0.2.7:443", "192.0.2.7:443") && !covers("192.0.2.7:443", "192.0.2.7:444"));
    assert!(covers("192.0.2.0/24", "192.0.2.255:1") && !covers("192.0.2.0/24", "192.0.3.0:1"));
    assert!(covers("0.0.0.0/0", "8.8.8.8:1") && !covers("0.0.0.0/0", "[2001:db8::1]:1"));
    assert!(covers("2001:db8::/32", "[2001:db8:ffff::1]:1") && !covers("2001:db8::/32", "[2001:db9::1]:1"));
    assert!(covers("[2001:db8::1]:443", "[2001:db8::1]:443") && !covers("[2001:db8::1]:443", "[2001:db8::1]:1"));
    assert!(covers("2001:db8::1", "[2001:db8::1]:9"));
    assert!(covers("192.0.2.0/24", "[::ffff:192.0.2.7]:443"), "an IPv4 peer on a socket for both");
    assert!(covers("*:443", "[2001:db8::1]:443") && !covers("*:443", "192.0.2.7:80") && covers("*", "192.0.2.7:80"));
}

#[test]
fn names() {
    assert!(covers("example.org", "192.0.2.7:1 Example.ORG.") && !covers("example.org", "192.0.2.7:1 www.example.org"));
    assert!(covers("*.example.org", "192.0.2.7:1 www.example.org"));
    assert!(
        !covers("*.example.org", "192.0.2.7:1 example.org") && !covers("*.example.org", "192.0.2.7:1 myexample.org")
    );
    assert!(
        covers("example.org:443", "192.0.2.7:443 example.org") && !covers("example.org:443", "192.0.2.7:1 example.org")
    );
    assert!(!covers("example.org", "192.0.2.7:443"), "no name is known");
    assert_eq!(Destination::read("example.org").unwrap().name(), Some("example.org"));
    assert_eq!(Destination::read("192.0.2.7").unwrap().name(), None);
}

#[test]
fn what_is_none_of_them_says_what_was_expected() {
    for wrong in
        ["", "192.0.2", "192.0.2.256", "a b", "example.org:http", "*.", "**", "*x", "exa..org", ":443", "1.2.3.4.5"]
    {
        assert_eq!(Destination::read(wrong), Err(FORMS.to_owned()), "{wrong}");
    }
    let error = |text| Destination::read(text).unwrap_err();
    assert_eq!(error("192.0.2.7/24"), "an address without bits beyond its prefix, 192.0.2.0/24");
    assert_eq!(error("192.0.2.0/33"), "a prefix length from 0 to 32 after 192.0.2.0/");
    assert_eq!(error("2001:db8::/x"), "a prefix length from 0 to 128 after 2001:db8::/");
}

#[test]
fn networks_cut_off_what_is_beyond() {
    let cut = |text: &str, v4, v6| network(text.parse().unwrap(), v4, v6).to_string();
    assert_eq!(cut("192.0.2.255", 32, 0), "192.0.2.255");
    assert_eq!(cut("192.0.2.255", 25, 0), "192.0.2.128");
    assert_eq!(cut("192.0.2.255", 0, 128), "0.0.0.0");
    assert_eq!(cut("2001:db8::ffff", 0, 112), "2001:db8::");
    assert_eq!(cut("2001:db8::ffff", 0, 0), "::");
    assert_eq!(cut("2001:db8::ffff", 0, 128), "2001:db8::ffff");
}
