//! The labels of a trace: controller, stack and scenario.

use windlass_qlog_analysis::metrics::Measured;

/// Text of an unknown label.
pub const UNKNOWN: &str = "unknown";

/// The columns a dataset is partitioned by, outermost first.
pub const PARTITIONS: [&str; 3] = ["controller", "stack", "scenario"];

/// The labels of a connection.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Labels {
    /// The congestion controller, as a user types it.
    pub controller: Option<String>,
    /// The stack, or what logged.
    pub stack: Option<String>,
    /// The scenario, deployment or experiment.
    pub scenario: Option<String>,
}

impl Labels {
    /// The labels a trace gives a connection.
    #[must_use]
    pub fn of(measured: &Measured) -> Labels {
        let recorded = measured.trace.recorded();
        Labels {
            controller: measured.measures.controller.clone(),
            stack: recorded.stack.map(str::to_owned),
            scenario: recorded.scenario.map(str::to_owned),
        }
    }

    /// `self`, and where it says nothing, `other`.
    #[must_use]
    pub fn or(&self, other: &Labels) -> Labels {
        Labels {
            controller: self.controller.clone().or_else(|| other.controller.clone()),
            stack: self.stack.clone().or_else(|| other.stack.clone()),
            scenario: self.scenario.clone().or_else(|| other.scenario.clone()),
        }
    }

    /// The labels in the order of [`PARTITIONS`], [`UNKNOWN`] where nothing is said.
    #[must_use]
    pub fn values(&self) -> [&str; 3] {
        [&self.controller, &self.stack, &self.scenario]
            .map(|label| label.as_deref().filter(|label| !label.is_empty()).unwrap_or(UNKNOWN))
    }

    /// The folder of these labels inside a table's: `controller=…/stack=…/scenario=…`.
    #[must_use]
    pub fn folder(&self) -> String {
        let parts = PARTITIONS.iter().zip(self.values());
        parts.map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("/")
    }
}

/// A value as the name of a folder: what other systems take amiss there is a percent sign and
/// two hexadecimal digits, as Hive writes it.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b'+' | b'@' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_hold_any_label() {
        let labels = Labels {
            controller: Some("reno:iw=10".to_owned()),
            stack: Some("../a b/ü".to_owned()),
            scenario: Some(String::new()),
        };
        let expected = "controller=reno%3Aiw%3D10/stack=..%2Fa%20b%2F%C3%BC/scenario=unknown";
        assert_eq!(labels.folder(), expected);
    }

    #[test]
    fn given_labels_take_precedence_over_the_traces() {
        let said = Labels { stack: Some("edge".to_owned()), ..Labels::default() };
        let of_trace = Labels { stack: Some("quiche".to_owned()), scenario: Some("lab".to_owned()), controller: None };
        assert_eq!(said.or(&of_trace).values(), ["unknown", "edge", "lab"]);
    }
}
