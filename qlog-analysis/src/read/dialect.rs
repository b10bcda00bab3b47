//! How a trace writes its events.

/// What an element of an array event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Time,
    Category,
    Type,
    Trigger,
    Data,
    Path,
    Group,
    Other,
}

impl Role {
    pub(crate) fn of(field: &str) -> Self {
        match field.to_ascii_lowercase().as_str() {
            "time" | "relative_time" | "delta_time" => Role::Time,
            "category" => Role::Category,
            "event" | "event_type" | "type" | "name" => Role::Type,
            "trigger" => Role::Trigger,
            "data" => Role::Data,
            "path_id" | "path" => Role::Path,
            "group_id" | "odcid" => Role::Group,
            _ => Role::Other,
        }
    }
}

/// How a trace writes its events.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Dialect {
    /// Decimal places from the unit of times to nanoseconds.
    pub(crate) time_places: i32,
    /// The same of RTTs.
    pub(crate) rtt_places: i32,
    /// Whether a time counts from the event before.
    pub(crate) delta: bool,
    /// What the elements of array events are.
    pub(crate) fields: Vec<Role>,
    /// Whether the trace was taken at the end that accepted the connection.
    pub(crate) accepts: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        // The order of the drafts that had array events.
        let fields = vec![Role::Time, Role::Category, Role::Type, Role::Trigger, Role::Data];
        Dialect { time_places: 6, rtt_places: 6, delta: false, fields, accepts: false }
    }
}
