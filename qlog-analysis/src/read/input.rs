//! Files, the standard input, and what they are compressed with.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use zstd::stream::read::Decoder;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// A stream, decompressed as its first bytes tell.
pub enum Input<R: Read> {
    /// As it is.
    Plain(Peeked<R>),
    /// gzip, also several members in a row.
    Gzip(Box<MultiGzDecoder<Peeked<R>>>),
    /// Zstandard.
    Zstd(Box<Decoder<'static, io::BufReader<Peeked<R>>>>),
}

impl<R: Read> Input<R> {
    /// Looks at the first bytes of `reader` to see what it is compressed with.
    ///
    /// # Errors
    /// The reader's.
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
            Input::Zstd(Box::new(Decoder::new(peeked)?))
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
            Input::Zstd(reader) => reader.read(buffer),
        }
    }
}

/// Opens a file, or the standard input if it is called `-`.
///
/// # Errors
/// If it cannot be opened or read.
pub fn open(path: &Path) -> io::Result<Input<Box<dyn Read + Send>>> {
    if path == Path::new("-") {
        return Input::new(Box::new(io::stdin()));
    }
    Input::new(Box::new(File::open(path)?))
}
