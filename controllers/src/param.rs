//! Parameters that can be named, set, listed and printed.

use core::fmt;

/// A parameter set: every constant of a document as a field.
pub trait Parameters: Copy + PartialEq + fmt::Debug + Default + Send + Sync + 'static {
    /// The document's own values; [`Default`] are those for QUIC stacks.
    #[must_use]
    fn paper() -> Self;
    /// The values of Linux' module of the scheme, where they are known and neither of the two.
    #[must_use]
    fn linux() -> Option<Self> {
        None
    }
    /// Sets the parameter called `name`.
    ///
    /// # Errors
    /// The name is unknown, or the value is not of its kind or out of its range.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError>;
    /// Names every parameter with its current value.
    fn describe(&self, visit: &mut dyn FnMut(&Param));
    /// A parameter whose value another one forbids, and the range it has beside that one.
    fn limit(&self) -> Option<(&'static str, Range)> {
        None
    }
}

impl Parameters for () {
    fn paper() -> Self {}
    fn set(&mut self, _: &str, _: &str) -> Result<(), ParamError> {
        Err(ParamError::Unknown)
    }
    fn describe(&self, _: &mut dyn FnMut(&Param)) {}
}

/// Name, default, range, unit and source of one parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Param {
    /// The parameter's name, as in `CONTROLLER:NAME=VALUE`.
    pub name: &'static str,
    /// One line on what it sets.
    pub doc: &'static str,
    /// Its unit; empty for a pure number, a flag or a choice.
    pub unit: &'static str,
    /// Where the default comes from: a document's section, or `choice`.
    pub source: &'static str,
    /// The values it accepts.
    pub range: Range,
    /// Its value in this set.
    pub value: Value,
}

/// The values a parameter takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// A number between two others, both included.
    Numbers(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// One or more of these words, joined by `+`.
    Several(&'static [&'static str]),
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Numbers(low, high) => write!(f, "{low} to {high}"),
            Range::Words(words) => join(f, " or ", words.iter()),
            Range::Several(words) => {
                f.write_str("one or more, joined by +, of ")?;
                join(f, ", ", words.iter())
            }
        }
    }
}

/// Writes words with something between them.
fn join<'a>(f: &mut fmt::Formatter<'_>, between: &str, words: impl Iterator<Item = &'a &'static str>) -> fmt::Result {
    for (i, word) in words.enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        f.write_str(word)?;
    }
    Ok(())
}

/// The value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A number, in the parameter's unit.
    Number(f64),
    /// One of the parameter's words.
    Word(&'static str),
    /// Some of a list of words: those whose bits are set, the first word's the lowest.
    Several(&'static [&'static str], u32),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => write!(f, "{n}"),
            Value::Word(w) => f.write_str(w),
            Value::Several(words, bits) => {
                join(f, "+", words.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, word)| word))
            }
        }
    }
}

/// Why a parameter could not be set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParamError {
    /// There is none of that name.
    Unknown,
    /// The value is not one it takes.
    Expected(Range),
}

/// A type a parameter can have.
pub trait ParamValue: Copy {
    /// Reads a value; `None` if it is not of this kind.
    fn read(text: &str) -> Option<Self>;
    /// The value as lists show it.
    fn value(self) -> Value;
    /// Whether the value lies in `range`.
    fn within(self, range: Range) -> bool;
    /// The range when the declaration gives none.
    const RANGE: Range;
}

impl ParamValue for f64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|x: &f64| !x.is_nan())
    }
    fn value(self) -> Value {
        Value::Number(self)
    }
    fn within(self, range: Range) -> bool {
        matches!(range, Range::Numbers(low, high) if low <= self && self <= high)
    }
    const RANGE: Range = Range::Numbers(0.0, f64::INFINITY);
}

impl ParamValue for u32 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn value(self) -> Value {
        Value::Number(f64::from(self))
    }
    fn within(self, range: Range) -> bool {
        f64::from(self).within(range)
    }
    const RANGE: Range = Range::Numbers(0.0, u32::MAX as f64);
}

impl ParamValue for bool {
    fn read(text: &str) -> Option<Self> {
        match text {
            "on" | "true" | "yes" | "1" => Some(true),
            "off" | "false" | "no" | "0" => Some(false),
            _ => None,
        }
    }
    fn value(self) -> Value {
        Value::Word(if self { "on" } else { "off" })
    }
    fn within(self, _: Range) -> bool {
        true
    }
    const RANGE: Range = Range::Words(&["on", "off"]);
}

/// Reads `text` as a value in `range`; what the `set` of a parameter set is made of.
///
/// # Errors
/// [`ParamError::Expected`] with the range.
pub fn read<T: ParamValue>(text: &str, range: Range) -> Result<T, ParamError> {
    T::read(text).filter(|v| v.within(range)).ok_or(ParamError::Expected(range))
}

/// Declares an enum a parameter can have, one word per variant.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $crate::param::ParamValue for $name {
            fn read(text: &str) -> Option<Self> {
                match text { $($word => Some($name::$variant),)+ _ => None }
            }
            fn value(self) -> $crate::param::Value {
                $crate::param::Value::Word(match self { $($name::$variant => $word,)+ })
            }
            fn within(self, _: $crate::param::Range) -> bool {
                true
            }
            const RANGE: $crate::param::Range = $crate::param::Range::Words(&[$($word),+]);
        }
    };
}

/// Declares a set of words a parameter can have, each with its bit, counted from 0 without
/// gaps. It is written with `+` between the words, and never empty.
#[macro_export]
macro_rules! several {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$wmeta:meta])* $constant:ident = $bit:literal, $word:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis struct $name(u32);

        impl $name {
            $($(#[$wmeta])* pub const $constant: $name = $name(1 << $bit);)+

            /// The union of both sets.
            #[must_use]
            pub const fn and(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Whether all of `other` are in the set.
            #[must_use]
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl $crate::param::ParamValue for $name {
            fn read(text: &str) -> Option<Self> {
                let mut read = 0;
                for word in text.split('+') {
                    read |= match word { $($word => 1 << $bit,)+ _ => return None };
                }
                Some($name(read))
            }
            fn value(self) -> $crate::param::Value {
                $crate::param::Value::Several(&[$($word),+], self.0)
            }
            fn within(self, _: $crate::param::Range) -> bool {
                true
            }
            const RANGE: $crate::param::Range = $crate::param::Range::Several(&[$($word),+]);
        }
    };
}

/// Declares a parameter set. `@base` brings in what every window scheme shares, `@with`
/// the parameters of a part; a user sets them like the scheme's own. A base may be given
/// a default of its own: `@base Type = default, paper value;`, both of what it is made [`From`]. `@limit function;` names the
/// function that is [`Parameters::limit`]. `linux value` after the
/// default is the field's in `profile=linux`, where all others have their defaults.
///
/// ```
/// windlass_controllers::parameters! {
///     /// Parameters of a scheme.
///     pub struct Params {
///         @base windlass_controllers::parts::base::Base, paper windlass_controllers::parts::limits::Limits::sharma();
///         @with detector: windlass_controllers::parts::competition::Settings, "The competition detector's.";
///         /// Packets added per window.
///         a: f64 = 1.0, paper 2.0, in 0.1, 100.0, unit "packets", source "spec: sharma §2";
///         /// Whether it does something.
///         eager: bool = false, source "choice";
///     }
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident {
            $(@base $base:ty $(= $bdefault:expr)?, paper $bpaper:expr;)?
            $(@with $part:ident : $pty:ty, $pdoc:literal;)*
            $(@limit $limit:expr;)?
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $ty:ty = $default:expr $(, paper $paper:expr)? $(, linux $linux:expr)? $(, in $low:expr, $high:expr)? $(, unit $unit:literal)?, source $source:literal;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        $vis struct $name {
            $(/// What every window scheme shares.
            pub base: $base,)?
            $(#[doc = $pdoc] pub $part: $pty,)*
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl Default for $name {
            #[allow(clippy::useless_conversion)]
            fn default() -> Self {
                $name {
                    $(base: <$base>::from($crate::parameters!(@first $($bdefault,)? <$base>::default())),)?
                    $($part: <$pty>::default(),)*
                    $($field: $default,)*
                }
            }
        }

        $(impl AsRef<$base> for $name {
            fn as_ref(&self) -> &$base {
                &self.base
            }
        })?

        $(impl AsRef<$pty> for $name {
            fn as_ref(&self) -> &$pty {
                &self.$part
            }
        })*

        impl $crate::param::Parameters for $name {
            fn paper() -> Self {
                #[allow(unused_mut, clippy::needless_update, clippy::useless_conversion)]
                let mut params = $name { $(base: <$base>::from($bpaper),)? ..Default::default() };
                $(params.$part = <$pty as $crate::param::Parameters>::paper();)*
                $($(params.$field = $paper;)?)*
                params
            }

            fn linux() -> Option<Self> {
                #[allow(unused_mut)]
                let mut found: Option<Self> = None;
                $($(found.get_or_insert_with(Self::default).$field = $linux;)?)*
                found
            }

            fn set(&mut self, name: &str, value: &str) -> Result<(), $crate::param::ParamError> {
                match name {
                    $(stringify!($field) => {
                        #[allow(unused_mut, unused_assignments)]
                        let mut range = <$ty as $crate::param::ParamValue>::RANGE;
                        $(range = $crate::param::Range::Numbers($low as f64, $high as f64);)?
                        self.$field = $crate::param::read(value, range)?;
                        Ok(())
                    })*
                    _ => {
                        $(if let done @ (Ok(()) | Err($crate::param::ParamError::Expected(_))) =
                            <$base as $crate::param::Parameters>::set(&mut self.base, name, value) { return done; })?
                        $(if let done @ (Ok(()) | Err($crate::param::ParamError::Expected(_))) =
                            <$pty as $crate::param::Parameters>::set(&mut self.$part, name, value) { return done; })*
                        let _ = value;
                        Err($crate::param::ParamError::Unknown)
                    }
                }
            }

            $(fn limit(&self) -> Option<(&'static str, $crate::param::Range)> {
                $limit(self)
            })?

            fn describe(&self, visit: &mut dyn FnMut(&$crate::param::Param)) {
                $(<$base as $crate::param::Parameters>::describe(&self.base, visit);)?
                $(<$pty as $crate::param::Parameters>::describe(&self.$part, visit);)*
                $({
                    #[allow(unused_mut, unused_assignments)]
                    let mut range = <$ty as $crate::param::ParamValue>::RANGE;
                    $(range = $crate::param::Range::Numbers($low as f64, $high as f64);)?
                    visit(&$crate::param::Param {
                        name: stringify!($field),
                        doc: concat!($($doc),+).trim_ascii(),
                        unit: concat!($($unit)?),
                        source: $source,
                        range,
                        value: $crate::param::ParamValue::value(self.$field),
                    });
                })*
                let _ = visit;
            }
        }
    };
    (@first $first:expr $(, $other:expr)?) => { $first };
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};
    use std::vec::Vec;

    use super::*;

    parameters! {
        /// A part.
        pub struct Inner {
            /// In the part.
            depth: f64 = 1.0, paper 2.0, in 0.0, 10.0, unit "m", source "choice";
        }
    }

    parameters! {
        /// A set of a part and a field of its own.
        pub struct Outer {
            @with inner: Inner, "The part.";
            /// Beside it.
            wide: bool = false, source "choice";
        }
    }

    #[test]
    fn a_parts_parameters_are_the_sets_own() {
        let mut params = Outer::paper();
        assert_eq!(AsRef::<Inner>::as_ref(&params).depth, 2.0);
        assert_eq!(params.set("depth", "3"), Ok(()));
        assert_eq!(params.set("wide", "on"), Ok(()));
        assert_eq!(params, Outer { inner: Inner { depth: 3.0 }, wide: true });
        assert_eq!(params.set("depth", "11"), Err(ParamError::Expected(Range::Numbers(0.0, 10.0))));
        assert_eq!(params.set("height", "1"), Err(ParamError::Unknown));
        let mut described = Vec::new();
        params.describe(&mut |param| described.push((param.name, param.value.to_string())));
        assert_eq!(described, [("depth", String::from("3")), ("wide", String::from("on"))]);
    }
}
