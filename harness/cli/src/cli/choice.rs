//! From names a user typed to what they mean, with an error that helps.

use std::fmt::Display;
use std::path::Path;

use windlass_adapter::NamedController;
use windlass_controllers::ParseError;

use super::CliError;
use windlass_lab::evaluation::Source;
use windlass_simulator::scenario::BUILTIN;
use windlass_simulator::scenario::NATIVE;
use windlass_stacks::stack::Runner;

/// Reads NAME or NAME:parameter=value,….
pub(super) fn controller(text: &str) -> Result<NamedController, CliError> {
    NamedController::read(text).map_err(|error| {
        CliError::Usage(match error {
            ParseError::UnknownController { name, .. } => format!(
                "unknown controller {name:?}{}; `windlass list` names all of them",
                did_you_mean(name, NamedController::all().map(|entry| entry.name))
            ),
            other => other.to_string(),
        })
    })
}

/// The controllers of a list option, each once, all of them readable.
pub(super) fn controllers(typed: &[String]) -> Result<Vec<String>, CliError> {
    let mut names: Vec<String> = Vec::new();
    for name in typed.iter().flat_map(|text| split(text)) {
        // Whether there is such a native controller is each stack's to say.
        if is_ours(&name) {
            controller(&name)?;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Those of `known` whose names an option wants, in their order; all of them where it wants none.
pub(super) fn some_of<T, N: PartialEq + Display>(
    option: &str,
    wanted: &[N],
    known: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> N,
) -> Result<Vec<T>, CliError> {
    let mut known: Vec<(N, T)> = known.into_iter().map(|one| (name(&one), one)).collect();
    if let Some(other) = wanted.iter().find(|name| !known.iter().any(|(one, _)| one == *name)) {
        let known: Vec<String> = known.iter().map(|(name, _)| name.to_string()).collect();
        return Err(CliError::Usage(format!("{option} {other}: expected {}", known.join(", "))));
    }
    known.retain(|(name, _)| wanted.is_empty() || wanted.contains(name));
    Ok(known.into_iter().map(|(_, one)| one).collect())
}

/// Whether `name` is to be one of the catalogue's, not one of a stack's own.
pub(super) fn is_ours(name: &str) -> bool {
    !name.starts_with(NATIVE)
}

/// `a,b:x=1,y=2,c` is a, b:x=1,y=2 and c: a comma begins another controller unless a
/// `parameter=value` follows it.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in text.split(',') {
        let assignment = part.contains('=') && !part.split('=').next().unwrap_or_default().contains(':');
        match names.last_mut().filter(|_| assignment) {
            Some(name) => name.extend([",", part]),
            None => names.push(part.to_owned()),
        }
    }
    names
}

/// The stacks of a list option, each once.
pub(super) fn stacks(typed: &[String]) -> Result<Vec<Runner>, CliError> {
    let mut stacks = Vec::new();
    for name in typed.iter().flat_map(|text| text.split(',')) {
        let stack = stack(name)?;
        if !stacks.contains(&stack) {
            stacks.push(stack);
        }
    }
    Ok(stacks)
}

/// The same stacks on real sockets.
pub(super) fn on_wire(stacks: &[Runner]) -> Result<Vec<Runner>, CliError> {
    let live = |stack: &Runner| {
        stack.live().ok_or_else(|| {
            let all = Runner::all();
            let names: Vec<&str> = all.iter().filter(|one| one.live().is_some()).map(|one| one.name()).collect();
            let (name, names) = (stack.name(), names.join(" or "));
            CliError::Usage(format!("--wire: {name} has no sockets; give a real stack, --stack {names}"))
        })
    };
    stacks.iter().map(live).collect()
}

/// Stacks whose native builds keep them out of this program, and what has them.
const ELSEWHERE: &[(&str, &str)] = &[(
    "quiche",
    "cargo xtask quiche --harness && cd harness/stacks-quiche && cargo run --release -p windlass-stacks-quiche-cli -- run --stack quiche …",
)];

fn stack(name: &str) -> Result<Runner, CliError> {
    Runner::named(name).ok_or_else(|| {
        if let Some((_, how)) = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == name) {
            return CliError::Usage(format!("{name} is not in this program but in one with its native build: {how}"));
        }
        let names = Runner::all().iter().map(|stack| stack.name()).collect::<Vec<_>>();
        CliError::Usage(format!(
            "unknown stack {name:?}{}; expected {}",
            did_you_mean(name, names.iter().copied()),
            names.join(" or ")
        ))
    })
}

/// The built-in scenario called `name`.
pub(super) fn builtin(name: &str) -> Result<Source, CliError> {
    Source::builtin(name).ok_or_else(|| CliError::Usage(unknown_scenario(name)))
}

/// The scenario in the file called `text`, or else the built-in one.
///
/// # Errors
/// There is neither, or the file cannot be read.
pub fn scenario(text: &str) -> Result<Source, CliError> {
    let path = Path::new(text);
    if path.is_file() {
        return Ok(Source::file(path)?);
    }
    if path.extension().is_some() || path.components().count() > 1 {
        let found = if path.is_dir() { "is a directory" } else { "does not exist" };
        return Err(CliError::Usage(format!("the scenario file {text:?} {found}")));
    }
    Source::builtin(text)
        .ok_or_else(|| CliError::Usage(format!("{}; there is no file of that name either", unknown_scenario(text))))
}

/// The scenarios `names` are, each once.
pub(super) fn scenarios(names: &[String]) -> Result<Vec<Source>, CliError> {
    let mut sources: Vec<Source> = Vec::new();
    for name in names {
        let source = scenario(name)?;
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    Ok(sources)
}

fn unknown_scenario(name: &str) -> String {
    let near = did_you_mean(name, BUILTIN.iter().map(|scenario| scenario.name));
    format!("unknown scenario {name:?}{near}; `windlass scenarios` names all of them")
}

/// The name nearest to `typed`, if one is near enough to be meant.
pub(super) fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// " (did you mean …?)", or nothing.
pub(super) fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_separates_controllers_and_parameters() {
        assert_eq!(split("reno,cubic"), ["reno", "cubic"]);
        assert_eq!(split("reno:iw=4,lss=0,cubic,vegas:alpha=1"), ["reno:iw=4,lss=0", "cubic", "vegas:alpha=1"]);
    }

    #[test]
    fn each_controller_is_taken_once() {
        let typed = ["reno,reno".to_owned(), "reno".to_owned()];
        assert_eq!(controllers(&typed).unwrap(), ["reno"]);
        assert!(controllers(&["reno,nothing".to_owned()]).is_err());
        assert!(controllers(&[String::new()]).is_err());
    }

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let names = ["reno", "cubic", "vegas", "enhanced-vegas"];
        assert_eq!(nearest("renno", names), Some("reno"));
        assert_eq!(nearest("CUBIC", names), Some("cubic"));
        assert_eq!(nearest("vegsa", names), Some("vegas"));
        assert_eq!(nearest("ev-O", ["EV-0a", "S1"]), Some("EV-0a"));
        assert_eq!(nearest("xyzzy", names), None);
        assert_eq!(did_you_mean("vega", names), " (did you mean \"vegas\"?)");
    }
}
