//! Where the other end is.

use super::dialect::Dialect;
use crate::json::{Cursor, Malformed};

/// An address as far as it was told.
#[derive(Default)]
struct Address {
    host: Option<String>,
    port: Option<u64>,
}

impl Address {
    fn text(&self) -> Option<String> {
        let host = self.host.as_deref().filter(|host| !host.is_empty())?;
        Some(match self.port {
            Some(port) if host.contains(':') => format!("[{host}]:{port}"),
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }
}

/// The other end's address in the data of an event about a connection, a path or a
/// datagram. Drafts before the IETF's call the two ends source and destination: the source
/// is who opened the connection.
pub(super) fn read(name: &[u8], value: &mut Cursor<'_>, dialect: &Dialect) -> Result<Option<String>, Malformed> {
    let ours: &[u8] = if name.ends_with(b"_sent") { b"addr_from" } else { b"addr_to" };
    let (mut other, mut source, mut destination) = (Address::default(), Address::default(), Address::default());
    let host = |value: &mut Cursor<'_>| value.string().map(|text| text.map(|text| text.into_owned()));
    value.object(|key, value| {
        match key {
            b"remote" | b"tuple_remote" | b"addr_from" | b"addr_to" if key != ours && value.peek() == Some(b'{') => {
                other = address(value)?;
            }
            b"src_ip" => source.host = host(value)?,
            b"src_port" => source.port = value.whole()?,
            b"dst_ip" => destination.host = host(value)?,
            b"dst_port" => destination.port = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    let named = if dialect.accepts { source } else { destination };
    Ok(other.text().or(named.text()))
}

fn address(value: &mut Cursor<'_>) -> Result<Address, Malformed> {
    let mut address = Address::default();
    value.object(|key, value| {
        match key {
            b"ip_v4" | b"ip_v6" | b"ip" => address.host = value.string()?.map(|text| text.into_owned()),
            b"port_v4" | b"port_v6" | b"port" => address.port = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(address)
}
