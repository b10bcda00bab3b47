//! Keys of scenario files that take several values.

use toml::{Table, Value};

/// A key of the scenario, and the values it takes.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// The key with those of its tables before it, separated by points: `link.rate_mbps`.
    pub key: String,
    /// Its values, in the plan's order.
    pub values: Vec<Value>,
}

impl Axis {
    /// The value number `nth` as text.
    #[must_use]
    pub fn label(&self, nth: usize) -> String {
        label(&self.values[nth])
    }

    /// The value number `nth`, if all of them are numbers.
    #[must_use]
    pub fn number(&self, nth: usize) -> Option<f64> {
        self.values.iter().all(|value| number(value).is_some()).then(|| number(&self.values[nth])).flatten()
    }
}

/// A value as a table or a page shows it.
pub(super) fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The number that `value` is.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Sets `key` of a scenario to `value`. In a list of tables (`link`, `flow`) the next part of the key is the number of one of
/// them, from 0, or its name; otherwise all of them are set. Tables that are missing below the first are made.
///
/// # Errors
/// There is no such table; the text says which, and what there is.
pub fn set(scenario: &mut Table, key: &str, value: &Value) -> Result<(), String> {
    let parts: Vec<&str> = key.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err("expected keys with points between them".to_owned());
    }
    let [first, below @ ..] = &parts[..] else { return Ok(()) };
    if !below.is_empty() && !scenario.contains_key(*first) {
        let tables = scenario.iter().filter(|(_, value)| matches!(value, Value::Table(_) | Value::Array(_)));
        let known: Vec<&str> = tables.map(|(name, _)| name.as_str()).collect();
        return Err(format!("the scenario has no {first}; expected one of its tables: {}", known.join(", ")));
    }
    set_in(scenario, &parts, value)
}

fn set_in(table: &mut Table, parts: &[&str], value: &Value) -> Result<(), String> {
    match parts {
        [] => Ok(()),
        [key] => {
            table.insert((*key).to_owned(), value.clone());
            Ok(())
        }
        [key, below @ ..] => {
            let inner = table.entry(*key).or_insert_with(|| Value::Table(Table::new()));
            match inner {
                Value::Table(inner) => set_in(inner, below, value),
                Value::Array(list) => set_in_list(list, key, below, value),
                other => Err(format!("{key} is {other} in the scenario; expected a table")),
            }
        }
    }
}

fn set_in_list(list: &mut [Value], name: &str, parts: &[&str], value: &Value) -> Result<(), String> {
    let called = |one: &Value, part: &str| one.get("name").and_then(Value::as_str) == Some(part);
    let (chosen, below): (Vec<&mut Value>, &[&str]) = match parts {
        [part, below @ ..] if !below.is_empty() && list.iter().any(|one| called(one, part)) => {
            (list.iter_mut().filter(|one| called(one, part)).collect(), below)
        }
        [part, below @ ..] if !below.is_empty() && part.parse::<usize>().is_ok() => {
            let (count, number) = (list.len(), part.parse::<usize>().unwrap_or(usize::MAX));
            match list.get_mut(number) {
                Some(one) => (vec![one], below),
                None => return Err(format!("the scenario has no {name} number {number}; expected 0 to {}", count - 1)),
            }
        }
        all => (list.iter_mut().collect(), all),
    };
    for one in chosen {
        match one {
            Value::Table(table) => set_in(table, below, value)?,
            other => return Err(format!("{name} has {other} in the scenario; expected tables")),
        }
    }
    Ok(())
}

/// Rate of a link of which the scenario does not say one, Mbit/s: what it carries is recorded.
const UNKNOWN_RATE: f64 = 10.0;

/// Packets that the slowest link of a scenario can carry in all of its time: an estimate of the work.
pub(super) fn packets(scenario: &Table) -> f64 {
    let of = |table: &Table, key: &str| table.get(key).and_then(number);
    let list = |key: &str| scenario.get(key).and_then(Value::as_array).into_iter().flatten();
    let dumbbell = scenario.get("dumbbell").into_iter();
    let links = dumbbell.chain(list("link")).filter_map(Value::as_table);
    let slowest = links.filter_map(|link| of(link, "rate_mbps")).fold(f64::INFINITY, f64::min);
    let rate = if slowest.is_finite() { slowest } else { UNKNOWN_RATE };
    let bytes = of(scenario, "packet_bytes").unwrap_or(1200.0) + of(scenario, "overhead_bytes").unwrap_or(28.0);
    let packets = of(scenario, "duration_s").unwrap_or(0.0) * rate * 1e6 / 8.0 / bytes;
    if packets.is_finite() { packets.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Table {
        "duration_s = 2\n[dumbbell]\nrate_mbps = 9.824\nqueue = \"codel\"\n[[flow]]\nname = \"a\"\n[[flow]]\nname = \"b\""
            .parse()
            .unwrap()
    }

    fn with(key: &str) -> Result<Table, String> {
        let mut table = scenario();
        set(&mut table, key, &Value::Integer(7)).map(|()| table)
    }

    #[test]
    fn a_key_is_set_where_its_tables_lead() {
        assert_eq!(with("duration_s").unwrap()["duration_s"].as_integer(), Some(7));
        assert_eq!(with("dumbbell.rtt_ms").unwrap()["dumbbell"]["rtt_ms"].as_integer(), Some(7));
        assert_eq!(with("dumbbell.back.rate_mbps").unwrap()["dumbbell"]["back"]["rate_mbps"].as_integer(), Some(7));
        let starts = |key: &str| {
            let table = with(key).unwrap();
            let flows = table["flow"].as_array().unwrap();
            flows.iter().map(|flow| flow.get("start_s").and_then(Value::as_integer)).collect::<Vec<_>>()
        };
        assert_eq!(starts("flow.start_s"), [Some(7), Some(7)]);
        assert_eq!(starts("flow.b.start_s"), [None, Some(7)]);
        assert_eq!(starts("flow.0.start_s"), [Some(7), None]);
    }

    #[test]
    fn a_table_that_is_not_there_is_named() {
        assert_eq!(
            with("link.rate_mbps").unwrap_err(),
            "the scenario has no link; expected one of its tables: dumbbell, flow"
        );
        assert!(with("flow.2.start_s").unwrap_err().ends_with("no flow number 2; expected 0 to 1"));
        assert!(with("dumbbell.queue.target_ms").unwrap_err().starts_with("queue is \"codel\" in the scenario"));
        assert!(with("dumbbell..rtt_ms").is_err());
    }

    #[test]
    fn work_is_what_the_slowest_link_carries() {
        assert_eq!(packets(&scenario()), 2000.0);
        let mut recorded = scenario();
        recorded["dumbbell"].as_table_mut().unwrap().remove("rate_mbps");
        assert!((packets(&recorded) - 2000.0 * 10.0 / 9.824).abs() < 1.0);
        assert_eq!(packets(&Table::new()), 0.0);
    }
}
