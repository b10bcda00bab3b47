//! Reads qlog, says what is wrong with it, measures it, gives it another form.

pub mod capture;
pub mod connections;
pub mod convert;
pub mod escape;
pub mod flight;
pub mod identify;
pub mod json;
pub mod lint;
pub mod metrics;
pub mod model;
pub mod pseudonyms;
pub mod read;
pub mod series;

/// `Debug` of errors is their text, since that is what `?` in `main` prints.
macro_rules! debug_is_text {
    ($($error:path),* $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_is_text! {
    capture::CaptureError,
    convert::ConvertError,
    identify::ModelError,
    identify::TooLittle,
    json::Malformed,
    read::Damaged,
    read::ReadError,
    read::TooLarge,
}
