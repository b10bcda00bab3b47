//! What every page has: its frame and style, and scripts for elements, themes, tables and
//! figures. `ci/viewer` takes the same files.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

pub(super) const PAGE: &str = include_str!("page.html");
pub(super) const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 9] = [
    include_str!("js/dom.js"),
    include_str!("js/theme.js"),
    include_str!("js/table.js"),
    include_str!("js/lines.js"),
    include_str!("js/axes.js"),
    include_str!("js/figure.js"),
    include_str!("js/controls.js"),
    include_str!("js/save.js"),
    include_str!("js/chart.js"),
];

/// A page that builds itself from the data in it.
pub(super) struct Page<'a> {
    /// Title and main heading of the page.
    pub title: &'a str,
    /// The text of the link past the header.
    pub skip: &'a str,
    /// What the links in the header lead to.
    pub contents: &'a str,
    /// What stands in place of the content where scripts may not run.
    pub noscript: &'a str,
    /// The page's own style, after the frame's.
    pub style: &'a str,
    /// The page's own scripts, after the frame's; the last one starts it.
    pub scripts: &'a [&'a str],
    /// Data written into the page.
    pub data: &'a [Data<'a>],
    /// Whether it may ask the server it comes from; no other is ever asked.
    pub asks: bool,
}

impl Page<'_> {
    /// The page as HTML with `all` in it, JSON of texts and finite numbers, packed under `id`.
    pub(super) fn holding(self, id: &str, all: &impl Serialize) -> String {
        // Of texts and finite numbers this cannot fail.
        let json = serde_json::to_string(all).unwrap_or_default();
        Page { data: &[Data::Packed { id, text: &packed(json.as_bytes()) }], ..self }.html()
    }

    /// The page as HTML that asks for nothing but what `asks` allows; its content-security policy forbids it to.
    pub(super) fn html(&self) -> String {
        let data: usize = self.data.iter().map(Data::size).sum();
        let mut html = String::with_capacity(data + 150_000);
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            html.push_str(before);
            let Some((slot, after)) = after.split_once("}}") else { break };
            self.fill(slot, &mut html);
            rest = after;
        }
        html.push_str(rest);
        html
    }

    fn fill(&self, slot: &str, html: &mut String) {
        match slot {
            "title" => html.push_str(&escape(self.title)),
            "skip" => html.push_str(&escape(self.skip)),
            "contents" => html.push_str(&escape(self.contents)),
            "noscript" => html.push_str(&escape(self.noscript)),
            "asks" => html.push_str(if self.asks { "; connect-src 'self'" } else { "" }),
            "style" => html.extend([STYLE, self.style]),
            "data" => self.data.iter().for_each(|data| data.write(html)),
            "scripts" => {
                html.push_str("(async () => {\n\"use strict\";\n");
                html.extend(SCRIPTS.iter().chain(self.scripts).flat_map(|script| [*script, "\n"]));
                html.push_str("})();\n");
            }
            _ => {}
        }
    }
}

/// Everything a page holds that is written here, for tests of what it may say.
#[cfg(test)]
pub(super) fn written(own: &[&str]) -> String {
    [PAGE, STYLE].into_iter().chain(SCRIPTS).chain(own.iter().copied()).collect()
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A piece of data under the `id` of its element.
#[derive(Clone, Copy)]
pub(super) enum Data<'a> {
    /// JSON text, shown as such in the page.
    Json {
        /// Id of the script element.
        id: &'a str,
        /// The data as JSON.
        text: &'a str,
    },
    /// Bytes, as [`packed`] gives them.
    Packed {
        /// Id of the script element.
        id: &'a str,
        /// The bytes, packed.
        text: &'a str,
    },
}

impl Data<'_> {
    fn size(&self) -> usize {
        let (Data::Json { text, .. } | Data::Packed { text, .. }) = self;
        text.len() + 100
    }

    fn write(&self, html: &mut String) {
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
pub(super) fn packed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    // Writing to memory does not fail.
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    BASE64_STANDARD.encode(compressed)
}

/// The text that [`packed`] was given.
#[cfg(test)]
pub(super) fn unpacked(text: &str) -> String {
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    let mut found = String::new();
    std::io::Read::read_to_string(&mut flate2::read::ZlibDecoder::new(bytes.as_slice()), &mut found).unwrap();
    found
}
