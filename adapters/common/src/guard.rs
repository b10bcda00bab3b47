//! Catches panics of a controller: one must not unwind into a stack, which may be written in another language.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A path `P` until its controller panics, and nothing from then on.
#[derive(Debug)]
pub struct Guarded<P>(Option<P>);

/// The controller of a path panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Panicked {
    /// In this call.
    Now,
    /// In a call before.
    Before,
}

impl<P> Guarded<P> {
    /// Guards `path`.
    #[must_use]
    pub fn new(path: P) -> Self {
        Guarded(Some(path))
    }

    /// Calls the path, and drops it if it panics.
    ///
    /// # Errors
    /// It panicked.
    #[inline]
    pub fn call_mut<R>(&mut self, call: impl FnOnce(&mut P) -> R) -> Result<R, Panicked> {
        let path = self.0.as_mut().ok_or(Panicked::Before)?;
        catch_unwind(AssertUnwindSafe(|| call(path))).map_err(|_| {
            self.end();
            Panicked::Now
        })
    }

    /// Asks the path, which stays as it is whatever happens; `None` if it panics, or did before.
    #[inline]
    pub fn call<R>(&self, call: impl FnOnce(&P) -> R) -> Option<R> {
        let path = self.0.as_ref()?;
        catch_unwind(AssertUnwindSafe(|| call(path))).ok()
    }

    /// Drops the path: leaving its group is a step of the controller and may panic, too.
    #[cold]
    pub fn end(&mut self) {
        let path = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
    }
}

impl<P> Drop for Guarded<P> {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fragile;

    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("as it is dropped, on purpose");
        }
    }

    #[test]
    fn after_a_panic_nothing_is_called() {
        let mut guarded = Guarded::new(Fragile);
        assert_eq!(guarded.call(|_| 1), Some(1));
        assert_eq!(guarded.call(|_| panic!("on purpose")), None::<()>);
        assert_eq!(guarded.call_mut(|_| 2), Ok(2), "asking leaves it as it is");
        assert_eq!(guarded.call_mut(|_| panic!("on purpose")), Err::<(), _>(Panicked::Now));
        assert_eq!(guarded.call_mut(|_| 3), Err(Panicked::Before));
        assert_eq!(guarded.call(|_| 4), None);
    }

    #[test]
    fn a_path_may_panic_as_it_is_dropped() {
        drop(Guarded::new(Fragile));
    }
}
