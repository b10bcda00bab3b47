//! The manual lists every rule as it is.

use windlass_qlog_analysis::lint::{Profile, Rule};

#[test]
fn the_manual_has_a_row_for_every_rule() {
    let manual = include_str!("../../docs/qlog.md");
    let rows: Vec<&str> = manual.lines().filter(|line| line.starts_with("| `")).collect();
    for rule in Rule::ALL {
        let severity = |profile| rule.severity(profile).map_or("–".to_owned(), |severity| severity.to_string());
        let row = format!(
            "| `{rule}` | {} | {} | {} | {} |",
            severity(Profile::Ietf),
            severity(Profile::Qvis),
            rule.about(),
            rule.fix()
        );
        assert!(rows.contains(&row.as_str()), "docs/qlog.md lacks the row\n{row}");
    }
}
