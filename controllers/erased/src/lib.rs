//! [`Erased`], a `Copy` value of a type that its owner does not know, and [`Given`], what a program
//! adds to a list before it reads it. The catalogue of `windlass-controllers` keeps the parameters and
//! states of other crates' controllers in the first and their entries in the second.

use std::any::TypeId;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// What an [`Erased`] can hold.
pub trait Plain: Copy + PartialEq + Debug + Send + Sync + 'static {}

impl<T: Copy + PartialEq + Debug + Send + Sync + 'static> Plain for T {}

/// A value of one type of up to `8 * WORDS` bytes, held in place. It is given back as that type only.
#[derive(Clone, Copy)]
pub struct Erased<const WORDS: usize> {
    kind: &'static dyn Kind<WORDS>,
    words: [MaybeUninit<u64>; WORDS],
}

/// What is known of the type behind an [`Erased`].
trait Kind<const WORDS: usize>: Send + Sync {
    fn id(&self) -> TypeId;
    fn equal(&self, one: &Erased<WORDS>, other: &Erased<WORDS>) -> bool;
    fn debug(&self, one: &Erased<WORDS>, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

struct Of<T>(PhantomData<fn() -> T>);

impl<T: Plain, const WORDS: usize> Kind<WORDS> for Of<T> {
    fn id(&self) -> TypeId {
        TypeId::of::<T>()
    }
    fn equal(&self, one: &Erased<WORDS>, other: &Erased<WORDS>) -> bool {
        one.get::<T>().is_some_and(|one| other.get::<T>() == Some(one))
    }
    fn debug(&self, one: &Erased<WORDS>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one.get::<T>().map_or(Ok(()), |one| one.fmt(f))
    }
}

impl<const WORDS: usize> Erased<WORDS> {
    /// Holds `value`. A type that is larger than `8 * WORDS` bytes, or wants to be aligned to more than eight, does not compile.
    #[must_use]
    pub fn new<T: Plain>(value: T) -> Erased<WORDS> {
        const {
            assert!(size_of::<T>() <= size_of::<[u64; WORDS]>(), "the type is larger than there is room for");
            assert!(align_of::<T>() <= align_of::<u64>(), "the type is aligned to more than eight bytes");
        }
        let mut words = [MaybeUninit::uninit(); WORDS];
        // SAFETY: the words are as large and as aligned as a `T` at least, and nothing else refers to them.
        unsafe { words.as_mut_ptr().cast::<T>().write(value) };
        Erased { kind: const { &Of::<T>(PhantomData) }, words }
    }

    /// The value, if it is a `T`.
    #[must_use]
    #[inline]
    pub fn get<T: Plain>(&self) -> Option<&T> {
        let is_one = self.kind.id() == TypeId::of::<T>();
        // SAFETY: `new` alone makes an `Erased`, and wrote a value of the type whose identity `kind` has; a copy of the
        // words has all their bytes.
        is_one.then(|| unsafe { &*self.words.as_ptr().cast::<T>() })
    }

    /// The value to change, if it is a `T`.
    #[inline]
    pub fn get_mut<T: Plain>(&mut self) -> Option<&mut T> {
        let is_one = self.kind.id() == TypeId::of::<T>();
        // SAFETY: as in `get`; the borrow of `self` is the only one.
        is_one.then(|| unsafe { &mut *self.words.as_mut_ptr().cast::<T>() })
    }
}

impl<const WORDS: usize> PartialEq for Erased<WORDS> {
    fn eq(&self, other: &Self) -> bool {
        self.kind.equal(self, other)
    }
}

impl<const WORDS: usize> Debug for Erased<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.debug(self, f)
    }
}

/// What a program gives once, before the first use; empty until then.
#[derive(Debug, Default)]
pub struct Given<T: 'static>(OnceLock<&'static [T]>);

impl<T> Given<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Given<T> {
        Given(OnceLock::new())
    }

    /// Gives `all`; whether this was the first time.
    pub fn give(&self, all: &'static [T]) -> bool {
        self.0.set(all).is_ok()
    }

    /// What was given.
    #[must_use]
    pub fn all(&self) -> &'static [T] {
        self.0.get().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With padding, an enum and a float.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct State {
        flag: bool,
        at: Option<u64>,
        cwnd: f64,
    }

    const STATE: State = State { flag: true, at: Some(7), cwnd: 2.5 };

    #[test]
    fn a_value_comes_back_as_its_type_only() {
        let mut erased = Erased::<4>::new(STATE);
        erased.get_mut::<State>().unwrap().cwnd = 3.0;
        let copy = erased;
        erased.get_mut::<State>().unwrap().at = None;
        assert_eq!(copy.get::<State>(), Some(&State { cwnd: 3.0, ..STATE }));
        assert_eq!(erased.get::<State>(), Some(&State { cwnd: 3.0, at: None, ..STATE }));
        assert_eq!((copy.get::<u64>(), Erased::<4>::new(()).get::<()>()), (None, Some(&())));
    }

    #[test]
    fn values_are_compared_and_printed_as_what_they_are() {
        let erased = Erased::<4>::new(STATE);
        assert_eq!(erased, Erased::new(STATE));
        assert_ne!(erased, Erased::new(State { flag: false, ..STATE }));
        assert_ne!(Erased::<4>::new(f64::NAN), Erased::new(f64::NAN));
        assert_ne!(Erased::<4>::new(1_u64), Erased::new(1_i64));
        assert_eq!(format!("{:?}", Erased::<4>::new(3_u8)), "3");
    }

    #[test]
    fn values_are_given_once() {
        static WORDS: Given<&str> = Given::new();
        assert!(WORDS.all().is_empty());
        assert!(WORDS.give(&["one"]));
        assert!(!WORDS.give(&["two"]));
        assert_eq!(WORDS.all(), ["one"]);
    }
}
