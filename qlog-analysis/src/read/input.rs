//! Decompression of streams, with limits on their growth.

#[cfg(any(feature = "zstd", feature = "ruzstd"))]
use std::io::BufReader;
use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
use super::zstd_frames::ZstdFrames;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How far a compressed stream may grow. Zstandard can write 30 000 bytes for each it reads, gzip
/// 1 000; traces grow by less than 100.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes that may come out.
    pub max_bytes: u64,
    /// Bytes that may come out for each that goes in, once [`Limits::FREE_BYTES`] came out.
    pub max_ratio: u64,
}

impl Limits {
    /// Bytes that may come out whatever the ratio is.
    pub const FREE_BYTES: u64 = 1 << 26;

    /// For streams that are trusted.
    pub const NONE: Limits = Limits { max_bytes: u64::MAX, max_ratio: u64::MAX };

    fn check(&self, bytes: u64, compressed: u64) -> Result<(), TooLarge> {
        if bytes > self.max_bytes {
            return Err(TooLarge::Bytes { limit: self.max_bytes });
        }
        if bytes > Self::FREE_BYTES && bytes / compressed.max(1) >= self.max_ratio {
            return Err(TooLarge::Ratio { bytes, compressed, limit: self.max_ratio });
        }
        Ok(())
    }
}

impl Default for Limits {
    /// 64 GiB, and 500 bytes for each.
    fn default() -> Self {
        Limits { max_bytes: 1 << 36, max_ratio: 500 }
    }
}

/// A compressed stream grew beyond its [`Limits`]. [`Input`] gives it inside an [`io::Error`] of
/// the kind [`io::ErrorKind::InvalidData`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// Beyond [`Limits::max_bytes`].
    #[error("it decompresses to more than {limit} bytes; Limits::max_bytes allows more")]
    Bytes {
        /// [`Limits::max_bytes`] of the reader.
        limit: u64,
    },
    /// Beyond [`Limits::max_ratio`].
    #[error(
        "its first {compressed} bytes decompress to {bytes}, {limit} times as many or more; \
         Limits::max_ratio allows more"
    )]
    Ratio {
        /// Bytes that came out.
        bytes: u64,
        /// Bytes that went in.
        compressed: u64,
        /// [`Limits::max_ratio`] of the reader.
        limit: u64,
    },
}

/// A compressed stream was cut or damaged; what was decompressed before that is right. [`Input`] gives it inside an
/// [`io::Error`] of the kind [`io::ErrorKind::InvalidData`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the compressed stream is cut or damaged ({0})")]
pub struct Damaged(String);

impl Damaged {
    /// The error of a decompressor, unless it is that of what it reads from.
    fn of(error: io::Error) -> io::Error {
        if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        io::Error::new(io::ErrorKind::InvalidData, Damaged(error.to_string()))
    }
}

/// A stream that counts what was read of it.
struct Counted<R> {
    reader: Chain<Cursor<Vec<u8>>, R>,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

#[cfg(feature = "zstd")]
type Zstd<R> = zstd::stream::read::Decoder<'static, BufReader<Counted<R>>>;
#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
type Zstd<R> = ZstdFrames<BufReader<Counted<R>>>;

enum Stream<R: Read> {
    Plain(Counted<R>),
    Gzip(Box<MultiGzDecoder<Counted<R>>>),
    #[cfg(any(feature = "zstd", feature = "ruzstd"))]
    Zstd(Box<Zstd<R>>),
}

/// A stream, decompressed by its first bytes: gzip, also several members in a row,
/// Zstandard, or neither. Reading fails with [`TooLarge`] where a compressed one grows too far.
pub struct Input<R: Read> {
    stream: Stream<R>,
    limits: Limits,
    /// Bytes that came out.
    bytes: u64,
}

impl<R: Read> Input<R> {
    /// Looks at the first bytes of `reader` to see what it is compressed with, and limits it by
    /// default.
    ///
    /// # Errors
    /// The reader's; [`io::ErrorKind::Unsupported`] for Zstandard without the feature `zstd` or `ruzstd`.
    pub fn new(reader: R) -> io::Result<Self> {
        Self::limited(reader, Limits::default())
    }

    /// The same with limits of one's own.
    ///
    /// # Errors
    /// As [`Input::new`].
    pub fn limited(mut reader: R, limits: Limits) -> io::Result<Self> {
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
        let counted = Counted { reader: Cursor::new(first).chain(reader), bytes: 0 };
        let stream = if gzip {
            Stream::Gzip(Box::new(MultiGzDecoder::new(counted)))
        } else if zstd {
            zstd_stream(counted)?
        } else {
            Stream::Plain(counted)
        };
        Ok(Input { stream, limits, bytes: 0 })
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, compressed) = match &mut self.stream {
            Stream::Plain(reader) => return reader.read(buffer),
            Stream::Gzip(reader) => (reader.read(buffer).map_err(Damaged::of)?, reader.get_ref().bytes),
            #[cfg(any(feature = "zstd", feature = "ruzstd"))]
            Stream::Zstd(reader) => (reader.read(buffer).map_err(Damaged::of)?, reader.get_ref().get_ref().bytes),
        };
        self.bytes += read as u64;
        let checked = self.limits.check(self.bytes, compressed);
        checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(read)
    }
}

#[cfg(feature = "zstd")]
fn zstd_stream<R: Read>(counted: Counted<R>) -> io::Result<Stream<R>> {
    Ok(Stream::Zstd(Box::new(Zstd::new(counted)?)))
}

#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
fn zstd_stream<R: Read>(counted: Counted<R>) -> io::Result<Stream<R>> {
    Ok(Stream::Zstd(Box::new(ZstdFrames::new(BufReader::new(counted)))))
}

#[cfg(not(any(feature = "zstd", feature = "ruzstd")))]
fn zstd_stream<R: Read>(_: Counted<R>) -> io::Result<Stream<R>> {
    let message = "the input is compressed with Zstandard, which this build leaves out (feature `zstd` or `ruzstd`)";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// `blocks` MiB of one letter, compressed in each way.
    fn bombs(blocks: usize) -> Vec<(&'static str, Vec<u8>)> {
        let block = vec![b'a'; 1 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..blocks {
            gzip.write_all(&block).unwrap();
        }
        let mut bombs = vec![("gzip", gzip.finish().unwrap())];
        #[cfg(feature = "zstd")]
        {
            let mut zstd = zstd::Encoder::new(Vec::new(), 3).unwrap();
            for _ in 0..blocks {
                zstd.write_all(&block).unwrap();
            }
            bombs.push(("zstd", zstd.finish().unwrap()));
        }
        bombs
    }

    fn read(bytes: &[u8], limits: Limits) -> Result<u64, TooLarge> {
        let mut input = Input::limited(bytes, limits).unwrap();
        let read = io::copy(&mut input, &mut io::sink());
        read.map_err(|error| *error.get_ref().unwrap().downcast_ref::<TooLarge>().expect("the limit's own error"))
    }

    #[test]
    fn what_grows_too_far_is_refused() {
        let small = Limits { max_bytes: 1 << 20, ..Limits::default() };
        for (what, bomb) in bombs(80) {
            match read(&bomb, Limits::default()) {
                Err(TooLarge::Ratio { bytes, compressed, limit }) => {
                    assert!(bytes <= Limits::FREE_BYTES + (1 << 20), "{what}: stopped only at {bytes}");
                    assert!(compressed <= bomb.len() as u64 && limit == 500, "{what}");
                }
                other => panic!("{what}: {other:?}"),
            }
            let error = read(&bomb, small).unwrap_err();
            assert_eq!(error, TooLarge::Bytes { limit: 1 << 20 }, "{what}");
            assert!(error.to_string().contains("1048576 bytes; Limits::max_bytes"), "{error}");
            assert_eq!(read(&bomb, Limits::NONE), Ok(80 << 20), "{what}: the limit can be raised");
        }
        for (what, little) in bombs(1) {
            assert_eq!(read(&little, Limits::default()), Ok(1 << 20), "{what}: a small file may grow as it likes");
        }
    }

    #[test]
    fn the_limit_reaches_who_reads_traces() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"\x1e{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{}}\n").unwrap();
        for _ in 0..50_000 {
            gzip.write_all(b"\x1e{\"time\":1,\"name\":\"a:b\",\"data\":{}}\n").unwrap();
        }
        let trace = gzip.finish().unwrap();
        let events = |max_bytes| {
            let input = Input::limited(trace.as_slice(), Limits { max_bytes, ..Limits::default() }).unwrap();
            crate::read::read(input, &crate::read::Options::default(), &mut |_, _| Ok(())).map(|summary| summary.events)
        };
        assert_eq!(events(1 << 30).unwrap(), 50_000);
        let error = events(1 << 20).unwrap_err().to_string();
        assert!(error.contains("1048576 bytes; Limits::max_bytes"), "{error}");
    }

    #[test]
    fn what_is_not_compressed_has_no_limit() {
        let bytes = vec![b'a'; 4096];
        assert_eq!(read(&bytes, Limits { max_bytes: 1, max_ratio: 1 }), Ok(4096));
    }
}
