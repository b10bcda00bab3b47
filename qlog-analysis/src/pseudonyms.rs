//! A trace for strangers: addresses, connection ids and host names replaced, each by the same pseudonym wherever it stands.
//!
//! Every string of the JSON is looked at, whatever the schema and the framing, and all else is kept to the byte; so what
//! can be measured of a trace stays as it is. [`Pseudonyms::of`] reads a trace for its ids and names, which may stand in
//! its header before what says that they are some; [`Pseudonyms::rewrite`] reads it again and writes the other one.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

mod strings;

use strings::{Place, each_string};

/// Digits from which on an id is found outside the fields of ids, too: shorter ones are like any number.
const TELLING_DIGITS: usize = 8;

/// The same of ids without a letter.
const TELLING_DECIMALS: usize = 16;

/// Fields that name schemas, whose hosts are those of documents.
const SCHEMAS: [&str; 4] = ["eventschemas", "fileschema", "schema", "protocoltypes"];

/// Fields of bytes as they were on the wire, which have ids, addresses and hosts in them.
const REMOVED: [&str; 5] = ["data", "raw", "payload", "bytes", "hexencodedbytes"];

/// Header fields of HTTP with credentials.
const CREDENTIALS: [&str; 4] = ["cookie", "set-cookie", "authorization", "proxy-authorization"];

/// Header fields of HTTP with a host.
const HOST_FIELDS: [&str; 3] = [":authority", "host", "authority"];

/// The pseudonyms of a trace.
#[derive(Clone, Default, Debug)]
pub struct Pseudonyms {
    /// By the id in lower case; those that are found everywhere.
    ids: BTreeMap<String, String>,
    hosts: BTreeMap<String, String>,
    addresses: BTreeMap<IpAddr, IpAddr>,
}

/// What a string is by the place where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Id,
    Host,
    Address,
    Removed,
    Schema,
    Text,
}

impl Pseudonyms {
    /// The ids and host names of a trace, which is not compressed.
    ///
    /// # Errors
    /// Those of `input`.
    pub fn of(mut input: impl Read) -> io::Result<Pseudonyms> {
        let mut found = Pseudonyms::default();
        each_string(&mut input, &mut io::sink(), &mut |place, text| {
            found.collect(&place, text);
            None
        })?;
        Ok(found)
    }

    /// Writes the trace with pseudonyms.
    ///
    /// # Errors
    /// Those of `input` and `output`.
    pub fn rewrite(&mut self, mut input: impl Read, output: &mut impl Write) -> io::Result<()> {
        each_string(&mut input, output, &mut |place, text| self.replaced(&place, text))
    }

    /// A text about the trace, such as the name of its file.
    #[must_use]
    pub fn text(&mut self, text: &str) -> String {
        self.words(text).unwrap_or_else(|| text.to_owned())
    }

    fn collect(&mut self, place: &Place<'_>, text: &str) {
        match meaning(place, text) {
            Meaning::Id => drop(self.id(text)),
            Meaning::Host => drop(self.host(text)),
            Meaning::Schema | Meaning::Removed | Meaning::Address => {}
            Meaning::Text => {
                if let Some((name, value)) = text.split_once(": ")
                    && HOST_FIELDS.contains(&name.to_ascii_lowercase().as_str())
                {
                    drop(self.host(value));
                }
                for (at, _) in text.match_indices("://") {
                    let rest = &text[at + 3..];
                    let end = rest.find(['/', '?', '#', ' ', '"', '\\']).unwrap_or(rest.len());
                    drop(self.host(&rest[..end]));
                }
            }
        }
    }

    fn replaced(&mut self, place: &Place<'_>, text: &str) -> Option<String> {
        match meaning(place, text) {
            Meaning::Id => Some(self.id(text)),
            Meaning::Host => Some(self.host(text)),
            Meaning::Address if !text.contains(['.', ':']) => Some(self.id(text)),
            Meaning::Removed => Some(String::new()),
            Meaning::Schema => None,
            Meaning::Address | Meaning::Text => {
                let name = text.split_once(": ").map(|(name, _)| name.to_ascii_lowercase());
                match name {
                    Some(name) if CREDENTIALS.contains(&name.as_str()) => Some(format!("{name}: ")),
                    Some(name) if HOST_FIELDS.contains(&name.as_str()) => {
                        Some(format!("{name}: {}", self.host(&text[name.len() + 2..])))
                    }
                    _ => self.words(text),
                }
            }
        }
    }

    /// The pseudonym of an id: as many digits, where it is of digits.
    fn id(&mut self, text: &str) -> String {
        let known = self.ids.len() + 1;
        let made = || {
            let width = text.len();
            if is_hex(text) { format!("{known:0width$x}") } else { format!("id-{known}") }
        };
        self.ids.entry(text.to_ascii_lowercase()).or_insert_with(made).clone()
    }

    /// The pseudonym of a host; its port stays.
    fn host(&mut self, text: &str) -> String {
        if text.is_empty() || text.parse::<IpAddr>().is_ok() || text.starts_with('[') {
            return self.text(text);
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
            _ => (text, None),
        };
        let made = match name.parse::<IpAddr>() {
            Ok(address) => self.address(address).to_string(),
            Err(_) => {
                let known = self.hosts.len() + 1;
                let made = || format!("host-{known}.example");
                self.hosts.entry(name.to_ascii_lowercase()).or_insert_with(made).clone()
            }
        };
        port.map_or(made.clone(), |port| format!("{made}:{port}"))
    }

    /// The pseudonym of an address: one of those for benchmarks (RFC 2544) or for documents (RFC 3849).
    fn address(&mut self, address: IpAddr) -> IpAddr {
        if address.is_unspecified() {
            return address;
        }
        let known = self.addresses.len() as u32 + 1;
        let made = || match address {
            IpAddr::V4(_) => Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + (known & 0x1_ffff)).into(),
            IpAddr::V6(_) => {
                Ipv6Addr::from(u128::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0)) + u128::from(known)).into()
            }
        };
        *self.addresses.entry(address).or_insert_with(made)
    }

    /// A text with its words replaced; `None` if nothing is.
    fn words(&mut self, text: &str) -> Option<String> {
        let of_word = |c: char| c.is_ascii_alphanumeric() || ".:-_".contains(c);
        let (mut written, mut rest, mut changed) = (String::new(), text, false);
        while let Some(start) = rest.find(of_word) {
            let end = rest[start..].find(|c| !of_word(c)).map_or(rest.len(), |length| start + length);
            written.push_str(&rest[..start]);
            let word = &rest[start..end];
            match self.word(word) {
                Some(other) => {
                    changed = true;
                    written.push_str(&other);
                }
                None => written.push_str(word),
            }
            rest = &rest[end..];
        }
        written.push_str(rest);
        changed.then_some(written)
    }

    /// An address, or parts between colons, of which each may be one, a host, or have ids in it.
    fn word(&mut self, word: &str) -> Option<String> {
        let trimmed = word.trim_end_matches(['.', ':']);
        if let Ok(address) = trimmed.parse::<IpAddr>() {
            let other = self.address(address);
            return (other != address).then(|| format!("{other}{}", &word[trimmed.len()..]));
        }
        let parts: Vec<Option<String>> = word.split(':').map(|part| self.part(part)).collect();
        if parts.iter().all(Option::is_none) {
            return None;
        }
        let parts = word.split(':').zip(parts).map(|(part, other)| other.unwrap_or_else(|| part.to_owned()));
        Some(parts.collect::<Vec<_>>().join(":"))
    }

    fn part(&mut self, part: &str) -> Option<String> {
        if let Ok(address) = part.parse::<IpAddr>() {
            return Some(self.address(address).to_string());
        }
        let name = part.trim_matches('.').to_ascii_lowercase();
        // A name without a dot may be any word.
        if name.contains('.') {
            let mut suffix = name.as_str();
            while suffix.contains('.') {
                if self.hosts.contains_key(suffix) {
                    let other = self.host(&name);
                    return Some(other);
                }
                suffix = suffix.split_once('.').map_or("", |(_, rest)| rest);
            }
        }
        let without = self.without_addresses(part);
        let (mut written, mut rest, mut changed) =
            (String::new(), without.as_deref().unwrap_or(part), without.is_some());
        while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
            let end = rest[start..].find(|c: char| !c.is_ascii_hexdigit()).map_or(rest.len(), |length| start + length);
            written.push_str(&rest[..start]);
            let digits = &rest[start..end];
            let known = is_telling(digits).then(|| self.ids.get(&digits.to_ascii_lowercase())).flatten();
            changed |= known.is_some();
            written.push_str(known.map_or(digits, String::as_str));
            rest = &rest[end..];
        }
        written.push_str(rest);
        changed.then_some(written)
    }

    /// A part with the IPv4 addresses in it replaced, as names of files have them; `None` if there is none.
    fn without_addresses(&mut self, part: &str) -> Option<String> {
        let of_address = |c: char| c.is_ascii_digit() || c == '.';
        let (mut written, mut rest, mut changed) = (String::new(), part, false);
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let end = rest[start..].find(|c| !of_address(c)).map_or(rest.len(), |length| start + length);
            let digits = rest[start..end].trim_end_matches('.');
            written.push_str(&rest[..start]);
            match digits.parse::<Ipv4Addr>() {
                Ok(address) => {
                    changed = true;
                    written.push_str(&self.address(address.into()).to_string());
                }
                Err(_) => written.push_str(digits),
            }
            rest = &rest[start + digits.len()..];
        }
        written.push_str(rest);
        changed.then_some(written)
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether digits are those of an id wherever they stand.
fn is_telling(digits: &str) -> bool {
    let letters = digits.bytes().any(|byte| byte.is_ascii_alphabetic());
    digits.len() >= if letters { TELLING_DIGITS } else { TELLING_DECIMALS }
}

fn meaning(place: &Place<'_>, text: &str) -> Meaning {
    if place.is_key || text.is_empty() {
        return Meaning::Text;
    }
    let key: String = place.key.chars().filter(|c| !"_-".contains(*c)).collect::<String>().to_ascii_lowercase();
    let key = key.as_str();
    let none = text.eq_ignore_ascii_case("none") || text == "(empty)";
    if key == "value" {
        let name = place.name.to_ascii_lowercase();
        return if CREDENTIALS.contains(&name.as_str()) {
            Meaning::Removed
        } else if HOST_FIELDS.contains(&name.as_str()) {
            Meaning::Host
        } else {
            Meaning::Text
        };
    }
    match key {
        "host" | "hostname" | "servername" | "sni" | "authority" | ":authority" | "domain" => Meaning::Host,
        // The simulators' groups have names of their own.
        "groupid" if text.len() < TELLING_DIGITS || text.contains(['-', ' ']) => Meaning::Text,
        "groupid" | "srcid" | "dstid" if !none => Meaning::Id,
        _ if !none
            && ["cid", "cids", "connectionid", "connectionids", "token"].iter().any(|end| key.ends_with(end)) =>
        {
            Meaning::Id
        }
        "ip" | "ipv4" | "ipv6" | "srcip" | "dstip" => Meaning::Address,
        _ if SCHEMAS.contains(&key) => Meaning::Schema,
        // Keys and connection ids are old and new as congestion states are, and those are words.
        "old" | "new" if !(is_hex(text) && is_telling(text)) => Meaning::Text,
        "old" | "new" => Meaning::Id,
        "commandline" => Meaning::Removed,
        _ if REMOVED.contains(&key) && is_bytes(text) => Meaning::Removed,
        _ => Meaning::Text,
    }
}

/// Whether a text is bytes in hexadecimal, or in base64.
fn is_bytes(text: &str) -> bool {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    is_hex(text) && text.len().is_multiple_of(2) || text.len() >= 16 && text.bytes().all(base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(text: &str) -> String {
        let mut names = Pseudonyms::of(text.as_bytes()).unwrap();
        let mut written = Vec::new();
        names.rewrite(text.as_bytes(), &mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn an_address_in_the_name_of_a_file_is_one() {
        let mut names = Pseudonyms::default();
        assert_eq!(names.text("198.51.100.23.sqlog"), "198.18.0.1.sqlog");
        assert_eq!(
            names.text("of 198.51.100.23_1.2.qlog, server-198.51.100.24.gz"),
            "of 198.18.0.1_1.2.qlog, server-198.18.0.2.gz"
        );
        assert_eq!(names.text("v1.2.3, 1.2.3.4.5 and 10..2"), "v1.2.3, 1.2.3.4.5 and 10..2");
    }

    #[test]
    fn an_id_has_one_pseudonym_of_its_length_wherever_it_stands() {
        let text = r#"{"title":"server-9a8b7c6d5e","group_id":"9a8b7c6d5e"}
{"data":{"scid":"9A8B7C6D5E","dcid":"01","new":"slow_start","offset":"0100"},"old":"deadbeef01"}"#;
        let expected = r#"{"title":"server-0000000001","group_id":"0000000001"}
{"data":{"scid":"0000000001","dcid":"02","new":"slow_start","offset":"0100"},"old":"0000000003"}"#;
        assert_eq!(shared(text), expected);
    }

    #[test]
    fn addresses_are_replaced_in_any_text_and_ports_stay() {
        let text = r#"["to 10.1.2.3:4433 and [fe80::7]:1", {"ip_v4":"10.1.2.3","ip":"0a010203"}, "std::net 0.0.0.0"]"#;
        let expected =
            r#"["to 198.18.0.1:4433 and [2001:db8::2]:1", {"ip_v4":"198.18.0.1","ip":"00000001"}, "std::net 0.0.0.0"]"#;
        assert_eq!(shared(text), expected);
    }

    #[test]
    fn hosts_are_found_by_their_fields_and_by_addresses_of_pages() {
        let text = r#"{"title":"of Files.Example.net","x":"https:\/\/a.test:8443/p?q","headers":[{"name":":authority","value":"files.example.net:443"},
{"name":"cookie","value":"s=1"},":authority: localhost","cookie: s=1",{"sni":"localhost"},"cdn.files.example.net","localhost is a word"]}"#;
        let text = text.replace("\\/", "/");
        let expected = r#"{"title":"of host-1.example","x":"https://host-2.example:8443/p?q","headers":[{"name":":authority","value":"host-1.example:443"},
{"name":"cookie","value":""},":authority: host-3.example","cookie: ",{"sni":"host-3.example"},"host-4.example","localhost is a word"]}"#;
        // Names are numbered as they come.
        let expected =
            expected.replace("host-1.", "host-B.").replace("host-2.", "host-1.").replace("host-B.", "host-2.");
        assert_eq!(shared(&text), expected);
    }

    #[test]
    fn bytes_of_the_wire_and_credentials_are_removed_and_schemas_stay() {
        let text = r#"{"raw":{"length":3,"data":"c0ffee"},"event_schemas":["https://a.test/cc"],"data":"words","event":"data"}"#;
        assert_eq!(shared(text), text.replace("c0ffee", ""));
    }
}
