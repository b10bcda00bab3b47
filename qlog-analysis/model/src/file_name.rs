//! File names made of texts.

/// Most bytes of a name that was made of a text.
const LONGEST: usize = 120;

/// Names that are devices on Windows, whatever ending follows them.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// `text` as a file name every system takes, another one for every text: where more than the colon of a controller's
/// parameters gives way, a hash (FNV-1a) follows. Names may differ in upper and lower case alone, which some systems take
/// for one.
#[must_use]
pub fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@=,+".contains(c) { c } else { '_' };
    let mut name: String = text.chars().map(plain).collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    // Windows leaves dots at the end out.
    if name.ends_with('.') {
        name.replace_range(name.len() - 1.., "_");
    }
    if is_device(&name) {
        name.insert(0, '_');
    }
    if !name.is_empty() && name.len() <= LONGEST && name == text.replace(':', "_") {
        return name;
    }
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let whole = (0..=LONGEST.min(name.len())).rev().find(|&at| name.is_char_boundary(at));
    name.truncate(whole.unwrap_or(0));
    format!("{name}-{hash:08x}")
}

/// Whether Windows takes a file called so for a device.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let is_port = |kind: &str| {
        let number = stem.strip_prefix(kind).map(|number| number.chars().collect::<Vec<_>>());
        matches!(number.as_deref(), Some(['1'..='9' | '¹' | '²' | '³']))
    };
    DEVICES.contains(&stem.as_str()) || is_port("com") || is_port("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_texts_have_one_file_name() {
        for (one, other) in
            [("ä", "ö"), ("a/b", "a_b"), ("a/b", "a b"), ("a:b", "a/b"), (".a", "_a"), ("", "_"), ("a.", "a_")]
        {
            assert_ne!(file_name(one), file_name(other), "{one:?} {other:?}");
        }
        let long = ["ä".repeat(500) + "1", "ä".repeat(500) + "2"].map(|text| file_name(&text));
        assert!(long[0] != long[1] && long.iter().all(|name| name.len() < 200));
        assert_eq!(file_name("tcp-k:k=4@sim"), "tcp-k_k=4@sim");
    }

    #[test]
    fn devices_of_windows_are_no_file_names() {
        for device in ["con", "NUL", "aux.first", "com1", "LPT9", "com²", "prn"] {
            let name = file_name(device);
            assert!(!is_device(&name) && name.starts_with(&format!("_{}", &device[..3])), "{device}: {name}");
        }
        for other in ["cone", "com", "com0", "com10", "lpt", "first.con", "console"] {
            assert_eq!(file_name(other), other);
        }
    }
}
