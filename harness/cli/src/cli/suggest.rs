//! "Did you mean …?"

/// The name nearest to `typed`, if one is near enough to be meant.
pub(super) fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// " (did you mean …?)", or nothing.
pub(super) fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let names = ["reno", "cubic", "vegas", "enhanced-vegas"];
        assert_eq!(nearest("renno", names), Some("reno"));
        assert_eq!(nearest("CUBIC", names), Some("cubic"));
        assert_eq!(nearest("vegsa", names), Some("vegas"));
        assert_eq!(nearest("ev-O", ["EV-0a", "S1"]), Some("EV-0a"));
        assert_eq!(nearest("xyzzy", names), None);
        assert_eq!(did_you_mean("vega", names), " (did you mean \"vegas\"?)");
    }
}
