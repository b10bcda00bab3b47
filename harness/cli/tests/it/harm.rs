//! `windlass harm`: a sentence for each controller, a matrix, a page.

use std::fs;
use std::path::Path;

use crate::command::{Place, stderr, stdout, windlass};

#[test]
fn a_controller_is_held_against_what_is_deployed() {
    let place = Place::new();
    let out = place.path("out");
    let run = ["harm", "ledbat++", "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    // Three alone and six pairs at eight places.
    assert!(text.starts_with("72 runs, 72 of them made now"), "{text}");
    for name in ["reno", "cubic", "ledbat++"] {
        assert!(text.contains(&format!("\n{name}: Safe to deploy against Reno and CUBIC:")), "{text}");
    }
    let again = windlass(&[&run[..], &["--markdown"]].concat());
    assert!(stdout(&again).starts_with("* `reno`: Safe"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("harm.csv")).unwrap();
    assert!(csv.starts_with(
        "stack,measure,rate_mbps,buffer_bdp,queue,to,reno,cubic,ledbat++\nsim,goodput,8,1,tail-drop,reno,"
    ));
    assert_eq!(csv.lines().count(), 49);
    assert!(fs::read_to_string(Path::new(&out).join("harm.html")).unwrap().contains("id=\"harm\""));
}
