//! Zstandard without C: frames in a row (RFC 8878 §3), decompressed by `ruzstd`.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window a frame may ask for, bytes: what the C library grants too.
const MAX_WINDOW: u64 = 1 << 27;

/// Bytes of a frame that are decompressed at once.
const AT_ONCE: usize = 1 << 17;

/// A stream of Zstandard frames, decompressed; skippable frames are left out.
// Where the feature `zstd` is on too, only the tests need it.
#[cfg_attr(feature = "zstd", allow(dead_code))]
pub(super) struct ZstdFrames<R> {
    reader: R,
    decoder: FrameDecoder,
    /// A frame has begun and is not read to its end.
    within: bool,
}

#[cfg_attr(feature = "zstd", allow(dead_code))]
impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(reader: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        ZstdFrames { reader, decoder, within: false }
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Begins the next frame that holds data; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.reader.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.reader) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.reader).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(invalid(error)),
            }
        }
    }

    /// Checks the frame that ends, where it has a checksum.
    fn end(&mut self) -> io::Result<()> {
        self.within = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(invalid("the checksum of a Zstandard frame does not match its content"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within {
                if !self.begin()? {
                    return Ok(0);
                }
                self.within = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(AT_ONCE);
                self.decoder.decode_blocks(&mut self.reader, some).map_err(invalid)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.end()?;
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(all(test, feature = "zstd"))]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        ZstdFrames::new(BufReader::with_capacity(7, bytes)).read_to_end(&mut out).map(|_| out)
    }

    fn frame(content: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        io::copy(&mut &*content, &mut encoder).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn frames_in_a_row_are_read_and_skippable_ones_left_out() {
        let first: Vec<u8> = (0..300_000_u32).flat_map(|i| (i.wrapping_mul(i) / 7).to_le_bytes()).collect();
        let skippable = [&0x184D_2A53_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let stream = [frame(&first), skippable, frame(b""), frame(b"the end")].concat();
        assert_eq!(read(&stream).unwrap(), [&first[..], b"the end"].concat());
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn a_frame_that_was_changed_or_cut_is_an_error() {
        let whole = frame(&vec![b'x'; 100_000]);
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(read(&changed).unwrap_err().to_string().contains("checksum"));
        for length in [3, 6, whole.len() - 5, whole.len() - 1] {
            read(&whole[..length]).expect_err(&format!("{length} bytes of {}", whole.len()));
        }
        read(&[&whole[..], b"more"].concat()).expect_err("bytes after the frame");
    }

    #[test]
    fn our_trace_is_the_same_as_with_the_c_library() {
        let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/ietf-quinn.sqlog.zst")).unwrap();
        assert_eq!(read(&bytes).unwrap(), zstd::decode_all(&*bytes).unwrap());
    }
}
