//! Every key is in the documentation.

use super::*;

/// Uses every section and kind, so that every key is asked for.
pub(super) const EVERYTHING: &str = "
duration_s = 1
[[link]]
name = \"a\"
rate_mbps = 1
buffer_packets = 9
queue = { kind = \"two-class-red\" }
[[link.change]]
at_s = 0
loss_percent = 1
[[link.fault]]
kind = \"reordering\"
at_s = 0
for_ms = 1
percent = 1
by_ms = 1
[[link.fault]]
kind = \"mtu\"
at_s = 0
for_ms = 1
bytes = 1
[[link]]
name = \"b\"
rate_mbps = 1
queue = { kind = \"step\", threshold_packets = 3 }
[[link]]
name = \"c\"
rate_mbps = 1
queue = { kind = \"l4s\", classic = \"red\", min_th_packets = 5, max_th_packets = 15 }
[[link]]
name = \"d\"
rate_mbps = 1
queue = { kind = \"codel\" }
[[link]]
name = \"e\"
rate_mbps = 1
queue = { kind = \"pcn\", ac_rate_mbps = 1, ft_rate_mbps = 2 }
[[link]]
name = \"g\"
rate_mbps = 1
queue = { kind = \"pie\" }
burst_loss = { to_bad_percent = 1, to_good_percent = 1 }
shaper = { burst_bytes = 3000 }
[[link]]
name = \"i\"
rate_mbps = 1
queue = { kind = \"dualpi2\" }
[[link]]
name = \"j\"
rate_mbps = 1
queue = { kind = \"drr\" }
[[link]]
name = \"h\"
rate_mbps = 1
queue = { kind = \"policer\", rate_mbps = 1, burst_bytes = 3000 }
batches = { every_ms = 1 }
[[link]]
name = \"f\"
capacity = { file = \"builtin:lte-like\", scale = 1, offset_s = 0, repeat = true }
[[flow]]
controller = \"reno\"
ack = \"delayed\"
route = [\"a\", \"b\"]
[[flow.fault]]
kind = \"clock-jump\"
at_s = 0
by_ms = 1
end = \"sender\"
[[traffic]]
kind = \"cbr\"
rate_mbps = 1
route = [\"a\"]
[[traffic]]
kind = \"pareto-on-off\"
rate_mbps = 1
mean_rate_mbps = 1
route = [\"a\"]
[[traffic]]
kind = \"poisson\"
rate_mbps = 1
route = [\"a\"]
[[flow]]
controller = \"reno\"
route = [\"a\"]
arrivals = { every_s = 1 }
[[web]]
controller = \"reno\"
route = [\"a\"]
[[flow]]
controller = \"tcp-p\"
group = \"g\"
route = [\"a\"]
[[group]]
name = \"g\"
[[group.change]]
at_s = 1
k = 2
";

#[test]
fn every_key_is_documented() {
    let docs = include_str!("../../../../../../docs/scenarios.md");
    let mut asked = std::collections::BTreeSet::new();
    for text in [EVERYTHING, &dumbbell("[dumbbell.back]", "")] {
        let problems = RefCell::new(Problems::new("s", text));
        assert!(parse(text, None, &problems).is_some());
        let problems = problems.into_inner();
        assert!(problems.is_empty(), "{problems:?}");
        asked.extend(problems.asked);
    }
    assert!(asked.len() > 60, "{asked:?}");
    for key in asked {
        assert!(
            docs.contains(&format!("`{key}`"))
                || ["dumbbell", "link", "flow", "traffic", "web", "group"].contains(&key),
            "{key}"
        );
    }
}
