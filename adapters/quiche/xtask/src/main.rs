//! `cargo xtask quiche`: see the library, and the README beside it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::{Error, KNOWN, SLOTS, Tree, Written, check, hook, released};

const USAGE: &str = "\
cargo xtask quiche [--version VERSION] [--out DIR] [--pristine] [--src DIR] [--crate FILE] [--unknown-version]

Makes a quiche with a hook for congestion controllers out of the released one.

  --out DIR           where to write it; adapters/quiche/target/quiche unless --src is given
  --version VERSION   which release; the newest known unless given
  --crate FILE        take this archive instead of the one Cargo keeps
  --src DIR           take this source instead of a release; without --out it is changed in place
  --unknown-version   go on if the version is not known here: edits must find their places all the same
  --pristine          write the release as it is, without the hook";

#[derive(Default)]
struct Typed {
    out: Option<PathBuf>,
    version: Option<String>,
    archive: Option<PathBuf>,
    source: Option<PathBuf>,
    unknown_version: bool,
    pristine: bool,
}

fn main() -> ExitCode {
    let typed = match read(std::env::args().skip(1)) {
        Ok(typed) => typed,
        Err(mistake) => {
            eprintln!("{mistake}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&typed) {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Typed, String> {
    if arguments.next().as_deref() != Some("quiche") {
        return Err("the only task is quiche".to_owned());
    }
    let mut typed = Typed::default();
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{option} takes a value"));
        match option.as_str() {
            "--out" => typed.out = Some(value()?.into()),
            "--version" => typed.version = Some(value()?),
            "--crate" => typed.archive = Some(value()?.into()),
            "--src" => typed.source = Some(value()?.into()),
            "--unknown-version" => typed.unknown_version = true,
            "--pristine" => typed.pristine = true,
            other => return Err(format!("{other:?} is no option")),
        }
    }
    if typed.source.is_some() && (typed.version.is_some() || typed.archive.is_some() || typed.pristine) {
        return Err("--src goes without --version, --crate and --pristine".to_owned());
    }
    Ok(typed)
}

fn run(typed: &Typed) -> Result<String, Error> {
    if let Some(source) = &typed.source {
        let before = Tree::read(source)?;
        let after = hooked(&before, source, typed.unknown_version)?;
        let out = typed.out.as_deref().unwrap_or(source);
        let written = if out == source { after.write_changes(&before, source)? } else { after.write(out)? };
        return Ok(told(out, written));
    }
    let (tree, from) = release(typed)?;
    let tree = if typed.pristine { tree } else { hooked(&tree, &from, typed.unknown_version)? };
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/quiche");
    let out = typed.out.clone().unwrap_or_else(default);
    let written = tree.write(&out)?;
    Ok(told(&out.canonicalize().unwrap_or(out), written))
}

/// The released source, and where its archive is.
fn release(typed: &Typed) -> Result<(Tree, PathBuf), Error> {
    let wanted = typed.version.as_deref().unwrap_or(KNOWN[0].version);
    let known = KNOWN.iter().find(|release| release.version == wanted);
    let unknown = || Error::UnknownVersion { found: wanted.to_owned() };
    let path = match (&typed.archive, known) {
        (Some(archive), _) => archive.clone(),
        (None, Some(release)) => released(release)?,
        (None, None) => return Err(unknown()),
    };
    let archive = std::fs::read(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    match known {
        Some(release) => check(release, &path, &archive)?,
        None if typed.unknown_version => {}
        None => return Err(unknown()),
    }
    Ok((Tree::unpack(&path.display().to_string(), &archive)?, path))
}

/// `before`, which is in `path`, with the hook.
fn hooked(before: &Tree, path: &Path, unknown_version: bool) -> Result<Tree, Error> {
    let version = before.version().map_err(|reason| Error::NotQuiche { path: path.to_owned(), reason })?;
    if before.is_hooked() {
        return Err(Error::HookedAlready(path.to_owned()));
    }
    if !unknown_version && !KNOWN.iter().any(|release| release.version == version) {
        return Err(Error::UnknownVersion { found: version });
    }
    let (edits, files) = hook()?;
    let mut tree = before.clone();
    edits.apply(&mut tree, &version)?;
    for (path, contents) in files {
        tree.put(path, contents.into_bytes());
    }
    Ok(tree)
}

fn told(out: &Path, Written { changed, kept, removed }: Written) -> String {
    let out = out.display();
    format!("quiche is in {out}: {changed} files written, {kept} as before, {removed} removed; room for {SLOTS} names")
}
