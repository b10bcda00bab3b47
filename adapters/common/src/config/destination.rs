//! The peers a rule applies to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::Peer;

/// The peers that a rule's `to` covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Destination {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Host {
    Any,
    Network {
        address: IpAddr,
        prefix: u8,
    },
    /// A name, or all names below one if it begins with a dot.
    Name(String),
}

/// The forms `to` accepts, for error messages.
pub(super) const FORMS: &str = "an address \"192.0.2.7\", a prefix \"192.0.2.0/24\" or \"2001:db8::/32\", a host name \
     \"example.org\" or \"*.example.org\", or with a port an address \"192.0.2.7:443\" or \"[2001:db8::1]:443\", a host \
     name \"example.org:443\" or any host \"*:443\"";

impl Destination {
    /// Reads a `to`.
    ///
    /// # Errors
    /// The text that was expected instead.
    pub fn read(text: &str) -> Result<Destination, String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Destination { host: Host::single(address), port: None });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Destination { host: Host::single(address.ip()), port: Some(address.port()) });
        }
        let prefixed = text.split_once('/').and_then(|(address, prefix)| Some((address.parse().ok()?, prefix)));
        if let Some((address, prefix)) = prefixed {
            return Ok(Destination { host: Host::network(address, prefix)?, port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| FORMS.to_owned())?)),
            None => (text, None),
        };
        Ok(Destination { host: Host::read(host).ok_or_else(|| FORMS.to_owned())?, port })
    }

    pub fn covers(&self, peer: &Peer<'_>) -> bool {
        let port = self.port.is_none_or(|port| port == peer.address.port());
        port && match &self.host {
            Host::Any => true,
            Host::Network { address, prefix } => {
                let peer = peer.address.ip().to_canonical();
                peer.is_ipv4() == address.is_ipv4() && network(peer, *prefix, *prefix) == *address
            }
            Host::Name(name) => peer.name.is_some_and(|peer| {
                let peer = peer.trim_end_matches('.').to_ascii_lowercase();
                if name.starts_with('.') { peer.ends_with(name) } else { peer == *name }
            }),
        }
    }

    /// The name it goes by, if it does.
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            Host::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl Host {
    fn single(address: IpAddr) -> Host {
        let address = address.to_canonical();
        Host::Network { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }

    fn network(address: IpAddr, prefix: &str) -> Result<Host, String> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        let expected = || format!("a prefix length from 0 to {most} after {address}/");
        let prefix = prefix.parse().ok().filter(|length| *length <= most).ok_or_else(expected)?;
        let first = network(address, prefix, prefix);
        if first != address {
            return Err(format!("an address without bits beyond its prefix, {first}/{prefix}"));
        }
        Ok(Host::Network { address, prefix })
    }

    fn read(text: &str) -> Option<Host> {
        if text == "*" {
            return Some(Host::Any);
        }
        let name = text.strip_prefix('*').unwrap_or(text);
        let labels = name.strip_prefix('.').filter(|_| text.starts_with('*')).unwrap_or(name);
        let label =
            |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        // What has digits only is a mistyped address.
        let named = labels.split('.').all(label) && labels.contains(|c: char| c.is_ascii_alphabetic());
        (named && (name == text || name.starts_with('.'))).then(|| Host::Name(name.to_ascii_lowercase()))
    }
}

/// `address` with everything beyond a prefix of `v4` or `v6` bits set to zero.
pub(super) fn network(address: IpAddr, v4: u8, v6: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(v4.min(32))).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(v6.min(128))).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

#[cfg(test)]
mod tests {
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
        assert!(
            covers("*:443", "[2001:db8::1]:443") && !covers("*:443", "192.0.2.7:80") && covers("*", "192.0.2.7:80")
        );
    }

    #[test]
    fn names() {
        assert!(
            covers("example.org", "192.0.2.7:1 Example.ORG.") && !covers("example.org", "192.0.2.7:1 www.example.org")
        );
        assert!(covers("*.example.org", "192.0.2.7:1 www.example.org"));
        assert!(
            !covers("*.example.org", "192.0.2.7:1 example.org")
                && !covers("*.example.org", "192.0.2.7:1 myexample.org")
        );
        assert!(
            covers("example.org:443", "192.0.2.7:443 example.org")
                && !covers("example.org:443", "192.0.2.7:1 example.org")
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
}
