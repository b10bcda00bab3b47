use super::*;

fn integer(value: u64) -> String {
    let mut out = Vec::new();
    push_u64(&mut out, value);
    String::from_utf8(out).unwrap()
}

fn millis(ns: u64) -> String {
    let mut out = Vec::new();
    push_millis(&mut out, ns);
    String::from_utf8(out).unwrap()
}

#[test]
fn integers_are_written_as_std_writes_them() {
    let mut value = 1u64;
    for shift in 0..64 {
        for near in [value - 1, value, value + 1] {
            assert_eq!(integer(near), near.to_string(), "2^{shift}");
        }
        value = value.wrapping_shl(1).max(1);
    }
    for power in 0..20 {
        let ten = 10u64.pow(power);
        for near in [ten - 1, ten, ten + 1] {
            assert_eq!(integer(near), near.to_string());
        }
    }
    assert_eq!(integer(u64::MAX), u64::MAX.to_string());
}

#[test]
fn milliseconds_keep_every_nanosecond_and_no_trailing_zero() {
    for (ns, text) in [
        (0, "0"),
        (1, "0.000001"),
        (10, "0.00001"),
        (999_999, "0.999999"),
        (1_000_000, "1"),
        (1_500_000, "1.5"),
        (12_345_678, "12.345678"),
        (100_020_000, "100.02"),
        (u64::MAX, "18446744073709.551615"),
    ] {
        assert_eq!(millis(ns), text);
    }
}

#[test]
fn milliseconds_read_back_as_the_nearest_float() {
    for ns in (0..20_000_000).step_by(997) {
        let read: f64 = millis(ns).parse().unwrap();
        assert_eq!((read * 1e6).round() as u64, ns);
    }
}
