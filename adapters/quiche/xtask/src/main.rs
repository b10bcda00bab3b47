//! `cargo xtask quiche`: see the library, and the README beside it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::{Error, KNOWN, Patch, SLOTS, Tree, Written, check, inline_workspace, missing_tools, released, versions};

const USAGE: &str = "\
cargo xtask quiche [--harness] [--version VERSION] [--out DIR] [--pristine] [--src DIR] [--crate FILE]
                   [--unknown-version] [--skip-tools]
cargo xtask tools

quiche makes a quiche with a hook for congestion controllers out of the released one, in a second or two. tools
looks for the compilers and libraries that a build of it needs, which quiche does first.

  --harness           also apply what windlass' harness, tests and benchmarks need: virtual time,
                      seeded randomness, access to loss recovery
  --out DIR           where to write it; unless --src is given, the default is
                      adapters/quiche/generated/quiche, with --harness adapters/quiche/generated/quiche-harness
  --version VERSION   which release; the newest known unless given
  --crate FILE        take this archive instead of the one Cargo keeps or fetches
  --src DIR           take this source instead of a release: quiche's folder or a checkout of its
                      repository; without --out it is changed in place
  --unknown-version   take a version that is not known here; its edits must still find their places
  --pristine          write the release as it is, without a patch
  --skip-tools        do not look for the compilers and libraries first";

#[derive(Default)]
struct Arguments {
    harness: bool,
    out: Option<PathBuf>,
    version: Option<String>,
    archive: Option<PathBuf>,
    source: Option<PathBuf>,
    unknown_version: bool,
    pristine: bool,
    skip_tools: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    if words == ["tools"] {
        return ended(needed_tools().map(|()| "the build of quiche has the tools it needs".to_owned()));
    }
    let arguments = match read(words.into_iter()) {
        Ok(arguments) => arguments,
        Err(mistake) => {
            eprintln!("{mistake}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    ended(run(&arguments))
}

fn ended(result: Result<String, Error>) -> ExitCode {
    match result {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    if words.next().as_deref() != Some("quiche") {
        return Err("expected the task quiche or tools".to_owned());
    }
    let mut arguments = Arguments::default();
    while let Some(option) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{option} takes a value"));
        match option.as_str() {
            "--harness" => arguments.harness = true,
            "--out" => arguments.out = Some(value()?.into()),
            "--version" => arguments.version = Some(value()?),
            "--crate" => arguments.archive = Some(value()?.into()),
            "--src" => arguments.source = Some(value()?.into()),
            "--unknown-version" => arguments.unknown_version = true,
            "--pristine" => arguments.pristine = true,
            "--skip-tools" => arguments.skip_tools = true,
            other => return Err(format!("{other:?} is no option")),
        }
    }
    if arguments.source.is_some() && (arguments.version.is_some() || arguments.archive.is_some() || arguments.pristine)
    {
        return Err("--src goes without --version, --crate and --pristine".to_owned());
    }
    if arguments.pristine && arguments.harness {
        return Err("--pristine goes without --harness".to_owned());
    }
    Ok(arguments)
}

fn needed_tools() -> Result<(), Error> {
    let missing = missing_tools();
    if missing.is_empty() { Ok(()) } else { Err(Error::Tools(missing)) }
}

fn run(arguments: &Arguments) -> Result<String, Error> {
    if !arguments.skip_tools && !arguments.pristine {
        needed_tools()?;
    }
    if let Some(source) = &arguments.source {
        let source = Tree::source_in(source);
        let before = Tree::read(&source)?;
        let (mut after, left_out) = patched(&before, &source, arguments)?;
        let out = arguments.out.as_ref().unwrap_or(&source);
        let written = if *out == source {
            after.write_changes(&before, &source)?
        } else {
            inline_workspace(&mut after, &source)?;
            after.write(out)?
        };
        return Ok(summary(out, written, left_out));
    }
    let (tree, from) = release(arguments)?;
    let (tree, left_out) = if arguments.pristine { (tree, 0) } else { patched(&tree, &from, arguments)? };
    let name = if arguments.harness { "quiche-harness" } else { "quiche" };
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated").join(name);
    let out = arguments.out.clone().unwrap_or_else(default);
    let written = tree.write(&out)?;
    Ok(summary(&out.canonicalize().unwrap_or(out), written, left_out))
}

/// The released source, and where its archive is.
fn release(arguments: &Arguments) -> Result<(Tree, PathBuf), Error> {
    let wanted = arguments.version.as_deref().unwrap_or(KNOWN[0].version);
    let known = KNOWN.iter().find(|release| release.version == wanted);
    let unknown = || Error::UnknownVersion { found: wanted.to_owned(), known: versions() };
    let path = match (&arguments.archive, known) {
        (Some(archive), _) => archive.clone(),
        (None, Some(_)) => released(wanted)?,
        (None, None) if arguments.unknown_version => released(wanted)?,
        (None, None) => return Err(unknown()),
    };
    let archive = std::fs::read(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    match known {
        Some(release) => check(release, &path, &archive)?,
        None if arguments.unknown_version => {}
        None => return Err(unknown()),
    }
    Ok((Tree::unpack(&path.display().to_string(), &archive)?, path))
}

/// `before`, which is in `path`, with the patches asked for, and how many edits of test code were left out.
fn patched(before: &Tree, path: &Path, arguments: &Arguments) -> Result<(Tree, usize), Error> {
    let version = before.version().map_err(|reason| Error::NotQuiche { path: path.to_owned(), reason })?;
    if before.is_hooked() {
        return Err(Error::HookedAlready(path.to_owned()));
    }
    if !arguments.unknown_version && !KNOWN.iter().any(|release| release.version == version) {
        return Err(Error::UnknownVersion { found: version, known: versions() });
    }
    let mut tree = before.clone();
    let mut left_out = Patch::hook()?.apply(&mut tree, &version)?;
    if arguments.harness {
        left_out += Patch::harness()?.apply(&mut tree, &version)?;
    }
    Ok((tree, left_out))
}

fn summary(out: &Path, Written { changed, kept, removed }: Written, left_out: usize) -> String {
    let out = out.display();
    let tests = match left_out {
        0 => String::new(),
        n => format!("; edits of test code that it does not have: {n}"),
    };
    format!(
        "quiche is in {out}: {changed} files written, {kept} as before, {removed} removed; room for {SLOTS} names{tests}"
    )
}
