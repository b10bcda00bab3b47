use proptest::prelude::*;

use super::*;

fn fields(text: &str) -> Result<Vec<(String, String)>> {
    let mut fields = Vec::new();
    let mut cursor = Cursor::new(text.as_bytes());
    cursor.object(|key, value| {
        let raw = value.raw()?;
        fields.push((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(raw).into_owned()));
        Ok(())
    })?;
    cursor.end()?;
    Ok(fields)
}

#[test]
fn an_object_is_visited_field_by_field() {
    let read = fields(r#" {"a" : [1, {"b":"}"}], "c\"":null , "d":"\\\"" } "#).unwrap();
    let expected = [("a", r#"[1, {"b":"}"}]"#), (r#"c\""#, "null"), ("d", r#""\\\"""#)];
    assert_eq!(read, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn a_comma_before_the_end_is_forgiven() {
    assert_eq!(fields(r#"{"a":[[0,0],],}"#).unwrap().len(), 1);
}

#[test]
fn what_is_no_json_is_an_error_with_its_place() {
    for (text, at) in [
        ("", 0),
        ("[", 0),
        (r#"{"a"}"#, 4),
        (r#"{"a":}"#, 5),
        (r#"{"a":tru}"#, 5),
        (r#"{"a":1 "b":2}"#, 7),
        (r#"{"a":"open"#, 10),
        (r#"{"a":1}x"#, 7),
        (r#"{"a":[1}"#, 7),
        (r#"{"a":1.2.3}"#, 5),
        (r#"{"a":"\"#, 7),
    ] {
        assert_eq!(fields(text).unwrap_err().at, at, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(Cursor::new(deep.as_bytes()).skip().unwrap_err().expected, "less nesting");
}

#[test]
fn numbers_are_exact_in_the_unit_asked_for() {
    fn read(text: &str) -> Option<Decimal<'_>> {
        Cursor::new(text.as_bytes()).decimal().unwrap()
    }
    assert_eq!(read("1745672395021.2815").unwrap().scaled(6), Some(1_745_672_395_021_281_500));
    assert_eq!(read("0.215").unwrap().scaled(6), Some(215_000));
    assert_eq!(read("-3.5e-1").unwrap().scaled(6), Some(-350_000));
    assert_eq!(read("21662").unwrap().scaled(3), Some(21_662_000));
    assert_eq!(read("0.1234567891").unwrap().scaled(6), Some(123_456), "what is below a nanosecond is cut off");
    assert_eq!(read("1e30").unwrap().scaled(6), None);
    assert_eq!(read("1e-30").unwrap().scaled(6), Some(0));
    assert_eq!(read("0e99").unwrap().scaled(6), Some(0));
    assert_eq!(read("18446744073709551615").unwrap().whole(), Some(u64::MAX));
    assert_eq!(read("18446744073709551616").unwrap().whole(), None);
    assert_eq!(read("\"1280\"").unwrap().whole(), Some(1280), "a number in quotes");
    assert_eq!(read("1200.0").unwrap().whole(), Some(1200));
    assert_eq!(read("1200.5").unwrap().whole(), None);
    assert_eq!(read("-1").unwrap().whole(), None);
    assert_eq!(read("0.1").unwrap().to_f64(), 0.1);
    assert_eq!(read("\"0xff\""), None);
    assert_eq!(read("null"), None);
    assert_eq!(read("[1]"), None);
}

#[test]
fn the_end_of_a_text_is_found_at_any_length() {
    for length in 0..40 {
        for (last, at) in [("\"", length), ("\\", length), ("", usize::MAX), ("\u{a2}\u{22}\u{dc}", length + 2)] {
            // Bytes that differ from a quote or backslash by one, or by the high bit.
            let text: String =
                "!#[]\u{80}x".chars().cycle().filter(char::is_ascii).take(length).collect::<String>() + last;
            assert_eq!(quote_or_escape(text.as_bytes()), (at < usize::MAX).then_some(at), "{text:?}");
        }
    }
}

#[test]
fn strings_lose_their_escapes() {
    let mut cursor = Cursor::new(br#"["a\u00e9\n", 5, "plain"]"#);
    let mut read = Vec::new();
    cursor.array(|value| value.string().map(|text| read.push(text.map(Cow::into_owned)))).unwrap();
    assert_eq!(read, [Some("a\u{e9}\n".to_owned()), None, Some("plain".to_owned())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_takes_what_serde_takes(text in r#"[\[\]{}",:0-9a-z\\ .eE+-]{0,40}"#) {
        let valid = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let mut cursor = Cursor::new(text.as_bytes());
        let taken = cursor.skip().and_then(|()| cursor.end()).is_ok();
        prop_assert!(taken || !valid, "{text}");
    }

    #[test]
    fn numbers_agree_with_serde(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
        let text = serde_json::to_string(&number).unwrap();
        prop_assert_eq!(Cursor::new(text.as_bytes()).decimal().unwrap().unwrap().to_f64(), number);
    }
}

proptest! {
    /// The short way to a number comes to what the long one does.
    #[test]
    fn a_plain_number_reads_as_any_other(text in "[0-9]{1,22}(\\.[0-9]{0,6})?") {
        let long = Decimal::read(text.as_bytes()).unwrap();
        if let Some((plain, length)) = Decimal::plain(text.as_bytes()) {
            prop_assert_eq!((plain, length), (long, text.len()));
        }
        prop_assert_eq!(Cursor::new(text.as_bytes()).decimal().unwrap(), Some(long));
    }
}
