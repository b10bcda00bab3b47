//! Data that a page contains.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A piece of data under the `id` of its element.
pub(in crate::report) enum Data<'a> {
    /// JSON, as it is.
    Json {
        /// The element's.
        id: &'a str,
        /// The text.
        text: &'a str,
    },
    /// Bytes, as [`packed`] gives them.
    Packed {
        /// The element's.
        id: &'a str,
        /// The packed bytes.
        text: &'a str,
    },
}

impl Data<'_> {
    pub(super) fn size(&self) -> usize {
        let (Data::Json { text, .. } | Data::Packed { text, .. }) = self;
        text.len() + 100
    }

    pub(super) fn write(&self, html: &mut String) {
        match self {
            // `<` can only occur within strings, where its escape means the same.
            Data::Json { id, text } => html.extend([
                "<script type=\"application/json\" id=\"",
                id,
                "\">\n",
                &text.replace('<', "\\u003c"),
                "</script>\n",
            ]),
            Data::Packed { id, text } => {
                html.extend(["<script type=\"text/plain\" id=\"", id, "\">", text, "</script>\n"]);
            }
        }
    }
}

/// Bytes compressed (zlib), as text (base64).
pub(in crate::report) fn packed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    // Writing to memory does not fail.
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    BASE64_STANDARD.encode(compressed)
}
