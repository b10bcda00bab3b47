//! Files, the standard input, and what they are compressed with.

use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;
#[cfg(feature = "zstd")]
use zstd::stream::read::Decoder;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// A stream, decompressed as its first bytes tell.
pub enum Input<R: Read> {
    /// Uncompressed input.
    Plain(Peeked<R>),
    /// gzip, also several members in a row.
    Gzip(Box<MultiGzDecoder<Peeked<R>>>),
    /// Zstandard frames.
    #[cfg(feature = "zstd")]
    Zstd(Box<Decoder<'static, io::BufReader<Peeked<R>>>>),
}

impl<R: Read> Input<R> {
    /// Looks at the first bytes of `reader` to see what it is compressed with.
    ///
    /// # Errors
    /// The reader's; [`io::ErrorKind::Unsupported`] for Zstandard without the feature `zstd`.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let mut first = vec![0; ZSTD.len()];
        let mut length = 0;
        while length < first.len() {
            match reader.read(&mut first[length..]) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        first.truncate(length);
        let (gzip, zstd) = (first.starts_with(GZIP), first == ZSTD);
        let peeked = Cursor::new(first).chain(reader);
        Ok(if gzip {
            Input::Gzip(Box::new(MultiGzDecoder::new(peeked)))
        } else if zstd {
            zstd_input(peeked)?
        } else {
            Input::Plain(peeked)
        })
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::Plain(reader) => reader.read(buffer),
            Input::Gzip(reader) => reader.read(buffer),
            #[cfg(feature = "zstd")]
            Input::Zstd(reader) => reader.read(buffer),
        }
    }
}

#[cfg(feature = "zstd")]
fn zstd_input<R: Read>(peeked: Peeked<R>) -> io::Result<Input<R>> {
    Ok(Input::Zstd(Box::new(Decoder::new(peeked)?)))
}

#[cfg(not(feature = "zstd"))]
fn zstd_input<R: Read>(_: Peeked<R>) -> io::Result<Input<R>> {
    let message = "the input is compressed with Zstandard, which this build leaves out (feature `zstd`)";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// Opens a file, or the standard input if it is called `-`.
///
/// # Errors
/// If it cannot be opened or read.
#[cfg(feature = "files")]
pub fn open(path: &std::path::Path) -> io::Result<Input<Box<dyn Read + Send>>> {
    if path == std::path::Path::new("-") {
        return Input::new(Box::new(io::stdin()));
    }
    Input::new(Box::new(std::fs::File::open(path)?))
}
