//! A reader of JSON text in memory that only looks at what is asked for.
//!
//! Nothing is built: objects and arrays are visited, what is not wanted is passed over.
//! Numbers may be written as strings, as qlog allows for large ones and its early drafts
//! did for all. A comma before a closing bracket is forgiven, for some loggers write it.

use std::borrow::Cow;

use memchr::memchr2;

mod decimal;

pub use decimal::Decimal;

/// Depth to which objects and arrays may nest.
const DEPTH: u32 = 64;

/// The text is no JSON from byte `at` on.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: expected {expected}")]
pub struct Malformed {
    /// Offset of the mistake in the text, bytes.
    pub at: usize,
    /// The text that was expected.
    pub expected: &'static str,
}

type Result<T> = std::result::Result<T, Malformed>;

/// Bytes that end a number or a literal.
const ENDS_BARE: [bool; 256] = {
    let mut ends = [false; 256];
    let mut rest: &[u8] = b",}] \n\r\t:\"{[";
    while let [byte, tail @ ..] = rest {
        ends[*byte as usize] = true;
        rest = tail;
    }
    ends
};

/// A place in a JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    /// A parser at the start of `text`.
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Cursor { text, at: 0, depth: 0 }
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T> {
        Err(Malformed { at: self.at, expected })
    }

    /// The next byte that is no white space, which stays.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.text.get(self.at) {
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes `byte` if it comes next.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// That nothing but white space follows.
    ///
    /// # Errors
    /// If something does.
    pub fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { self.expected("the end") }
    }

    /// Visits the fields of an object. `visit` has to take or [`skip`](Self::skip) each value.
    /// Keys are given as they are written, between their quotes.
    ///
    /// # Errors
    /// If it is no object, or `visit` fails.
    #[inline]
    pub fn object(&mut self, mut visit: impl FnMut(&'a [u8], &mut Self) -> Result<()>) -> Result<()> {
        self.open(b'{', "an object")?;
        loop {
            match self.peek() {
                Some(b'"') => self.at += 1,
                Some(b'}') => return self.close(),
                _ => return self.expected("a string"),
            }
            let key = self.rest_of_string()?.0;
            if !self.take(b':') {
                return self.expected("a colon");
            }
            visit(key, self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return self.close(),
                _ => return self.expected("a comma or the end of an object"),
            }
        }
    }

    /// What `take` makes of the last of an object's fields called one of `keys`; the others
    /// are passed over.
    ///
    /// # Errors
    /// If it is no object, or `take` fails.
    pub fn field<T>(
        &mut self,
        keys: &[&[u8]],
        mut take: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.object(|key, value| {
            if keys.contains(&key) {
                found = take(value)?;
                return Ok(());
            }
            value.skip()
        })?;
        Ok(found)
    }

    /// Visits the elements of an array. `visit` has to take or [`skip`](Self::skip) each.
    ///
    /// # Errors
    /// If it is no array, or `visit` fails.
    #[inline]
    pub fn array(&mut self, mut visit: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.open(b'[', "an array")?;
        loop {
            if self.peek() == Some(b']') {
                return self.close();
            }
            visit(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => return self.close(),
                _ => return self.expected("a comma or the end of an array"),
            }
        }
    }

    #[inline]
    fn open(&mut self, bracket: u8, what: &'static str) -> Result<()> {
        if self.depth >= DEPTH {
            return self.expected("less nesting");
        }
        if !self.take(bracket) {
            return self.expected(what);
        }
        self.depth += 1;
        Ok(())
    }

    /// Takes the bracket that comes next and closes what was opened last.
    #[inline]
    fn close(&mut self) -> Result<()> {
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    /// What stands between quotes, and whether there are escapes in it.
    #[inline]
    fn quoted(&mut self) -> Result<(&'a [u8], bool)> {
        if !self.take(b'"') {
            return self.expected("a string");
        }
        self.rest_of_string()
    }

    /// The same behind the first quote.
    #[inline]
    fn rest_of_string(&mut self) -> Result<(&'a [u8], bool)> {
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.text[self.at..];
            let Some(found) = quote_or_escape(rest) else {
                self.at = self.text.len();
                return self.expected("the end of a string");
            };
            self.at += found + 1;
            if rest[found] == b'"' {
                return Ok((&self.text[start..self.at - 1], escaped));
            }
            escaped = true;
            self.at = (self.at + 1).min(self.text.len());
        }
    }

    /// A string; `None` if the value is of another kind, which is passed over.
    ///
    /// # Errors
    /// If it is no JSON.
    pub fn string(&mut self) -> Result<Option<Cow<'a, str>>> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            return Ok(None);
        }
        let from = self.at;
        let (raw, escaped) = self.quoted()?;
        if escaped {
            let text = serde_json::from_slice::<String>(&self.text[from..self.at]);
            return text.map(|text| Some(Cow::Owned(text))).or(Err(Malformed { at: from, expected: "a string" }));
        }
        Ok(Some(String::from_utf8_lossy(raw)))
    }

    /// The bytes of a string as they are written; `None` if the value is of another kind,
    /// which is passed over. For words that have no escapes.
    ///
    /// # Errors
    /// If it is no JSON.
    #[inline]
    pub fn word(&mut self) -> Result<Option<&'a [u8]>> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(|(raw, _)| Some(raw));
        }
        self.skip()?;
        Ok(None)
    }

    /// A number, also one written as a string; `None` if the value is something else,
    /// which is passed over.
    ///
    /// # Errors
    /// If it is no JSON.
    #[inline]
    pub fn decimal(&mut self) -> Result<Option<Decimal<'a>>> {
        match self.peek() {
            Some(b'"') => self.quoted().map(|(raw, _)| Decimal::read(raw)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.skip().map(|()| None),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<Option<Decimal<'a>>> {
        let rest = &self.text[self.at..];
        if let Some((decimal, length)) = Decimal::plain(rest)
            && rest.get(length).is_none_or(|&byte| ENDS_BARE[usize::from(byte)])
        {
            self.at += length;
            return Ok(Some(decimal));
        }
        match Decimal::read(self.bare()) {
            Some(decimal) => Ok(Some(decimal)),
            None => self.expected("a number"),
        }
    }

    /// A whole number that is not negative, if the value is one.
    ///
    /// # Errors
    /// If it is no JSON.
    #[inline]
    pub fn whole(&mut self) -> Result<Option<u64>> {
        Ok(self.decimal()?.and_then(|decimal| decimal.whole()))
    }

    /// `true` or `false`, if the value is one of them; 0 and 1 count too.
    ///
    /// # Errors
    /// If it is no JSON.
    pub fn flag(&mut self) -> Result<Option<bool>> {
        let value = self.raw()?;
        Ok(match value {
            b"true" | b"1" => Some(true),
            b"false" | b"0" => Some(false),
            _ => None,
        })
    }

    /// The text of the value, which is passed over.
    ///
    /// # Errors
    /// If it is no JSON.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let from = self.at;
        self.skip()?;
        Ok(&self.text[from..self.at])
    }

    /// A run of the characters that numbers and literals are made of.
    #[inline]
    fn bare(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| ENDS_BARE[usize::from(byte)]).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Passes over one value.
    ///
    /// # Errors
    /// If it is no JSON: brackets that do not match, a string without an end, a bare word.
    pub fn skip(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(|_, value| value.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'"') => self.quoted().map(|_| ()),
            Some(_) => {
                let at = self.at;
                match self.bare() {
                    b"null" | b"true" | b"false" => Ok(()),
                    number if Decimal::read(number).is_some() => Ok(()),
                    _ => Err(Malformed { at, expected: "a value" }),
                }
            }
            None => self.expected("a value"),
        }
    }
}

/// Where the first quote or backslash is. Keys and names are short: a vector search pays only on long ones.
#[inline]
fn quote_or_escape(text: &[u8]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 255;
    // The lowest high bit that is set is that of the first byte equal to `byte`.
    let is = |word: u128, byte: u8| {
        let other = word ^ (ONES * u128::from(byte));
        other.wrapping_sub(ONES) & !other & (ONES << 7)
    };
    let mut at = 0;
    while at < 32 {
        let Some(word) = text[at..].first_chunk::<16>() else {
            let rest = text[at..].iter().position(|&byte| byte == b'"' || byte == b'\\');
            return rest.map(|found| at + found);
        };
        let word = u128::from_le_bytes(*word);
        let found = is(word, b'"') | is(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 16;
    }
    memchr2(b'"', b'\\', &text[at..]).map(|found| at + found)
}

#[cfg(test)]
mod tests;
