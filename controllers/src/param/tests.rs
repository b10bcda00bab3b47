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
