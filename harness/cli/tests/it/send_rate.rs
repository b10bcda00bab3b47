//! `windlass send-rate`: a table of estimates.

use crate::command::{Place, stderr, stdout, windlass};

#[test]
fn estimates_follow_the_bottleneck() {
    let place = Place::new();
    let out = place.path("out");
    let done = windlass(&["send-rate", "reno,cubic", "--stack", "sim", "--out", &out]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = stdout(&done);
    for name in ["reno", "cubic"] {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.matches(" ms").count() + line.matches("never").count(), 4, "{line}");
    }
    let lacks = windlass(&["send-rate", "bbr", "--stack", "quinn", "--out", &out]);
    assert!(stdout(&lacks).contains("–: bbr needs controller-driven pacing"), "{}", stdout(&lacks));
    let wrong = windlass(&["send-rate", "cobic", "--out", &out]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("unknown controller \"cobic\""), "{}", stderr(&wrong));
}
