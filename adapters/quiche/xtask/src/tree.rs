//! The files of a source, in memory until every edit found its place.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;

use crate::Error;
use crate::error::at;

/// The module of the hook, relative to the source. A source that has it was patched.
pub const MODULE: &str = "src/recovery/gcongestion/external.rs";

/// The files of a source by their paths, which have forward slashes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree(BTreeMap<String, Vec<u8>>);

/// Numbers of files that writing a tree changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Number of files made or changed.
    pub changed: usize,
    /// Files that were as they should be.
    pub kept: usize,
    /// Files that do not belong to it and were removed.
    pub removed: usize,
}

impl Tree {
    /// Unpacks the archive of a release, `name`.
    ///
    /// # Errors
    /// It is incomplete, or has a path that leads out of it.
    pub fn unpack(name: &str, archive: &[u8]) -> Result<Tree, Error> {
        let broken = |source| Error::Archive { archive: name.to_owned(), source };
        let mut tree = Tree::default();
        let mut archive = tar::Archive::new(GzDecoder::new(archive));
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let path = entry.path().map_err(broken)?.into_owned();
            if !entry.header().entry_type().is_file() {
                continue;
            }
            // The first folder is the release's name.
            let path = inside(path.components().skip(1))
                .ok_or_else(|| broken(io::Error::other(format!("{} leads out of the archive", path.display()))))?;
            let mut contents = Vec::new();
            entry.read_to_end(&mut contents).map_err(broken)?;
            tree.0.insert(path, contents);
        }
        Ok(tree)
    }

    /// The source in `directory`, which is the source itself or a checkout of quiche's repository.
    #[must_use]
    pub fn source_in(directory: &Path) -> PathBuf {
        let folder = directory.join("quiche");
        if folder.join("Cargo.toml").is_file() && folder.join("src/lib.rs").is_file() {
            return folder;
        }
        directory.to_owned()
    }

    /// Reads the source in `directory`: what a release would hold of it.
    ///
    /// # Errors
    /// It cannot be read, or there is no quiche in it.
    pub fn read(directory: &Path) -> Result<Tree, Error> {
        let mut tree = Tree::default();
        let manifest = directory.join("Cargo.toml");
        if !manifest.is_file() {
            let reason = "there is no Cargo.toml; expected quiche's source or a checkout of its repository".to_owned();
            return Err(Error::NotQuiche { path: directory.to_owned(), reason });
        }
        tree.add(directory, directory)?;
        tree.version().map_err(|reason| Error::NotQuiche { path: directory.to_owned(), reason })?;
        Ok(tree)
    }

    fn add(&mut self, root: &Path, directory: &Path) -> Result<(), Error> {
        for entry in fs::read_dir(directory).map_err(at(directory))? {
            let path = entry.map_err(at(directory))?.path();
            let kind = path.symlink_metadata().map_err(at(&path))?;
            let name = path.file_name().unwrap_or_default();
            if kind.is_dir() && name != "target" && name != ".git" {
                self.add(root, &path)?;
            } else if path.is_file() {
                let relative = path.strip_prefix(root).unwrap_or(&path);
                let contents = fs::read(&path).map_err(at(&path))?;
                self.0.extend(inside(relative.components()).map(|relative| (relative, contents)));
            }
        }
        Ok(())
    }

    /// The version in its manifest.
    ///
    /// # Errors
    /// What is wrong with the manifest if it is not quiche's.
    pub fn version(&self) -> Result<String, String> {
        let manifest = self.text("Cargo.toml").ok_or("there is no Cargo.toml")?;
        let manifest: toml::Table = toml::from_str(manifest).map_err(|error| format!("Cargo.toml: {error}"))?;
        let package = manifest.get("package").and_then(toml::Value::as_table).ok_or("Cargo.toml is of no package")?;
        let of = |key: &str| package.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        if of("name") == "quiche" { Ok(of("version")) } else { Err(format!("Cargo.toml is of {:?}", of("name"))) }
    }

    /// The contents of a file; `None` if it is missing or no UTF-8.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.0.get(path)?).ok()
    }

    /// All files that are UTF-8, in the order of their paths.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(path, contents)| Some((path.as_str(), std::str::from_utf8(contents).ok()?)))
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, path: &str, contents: Vec<u8>) {
        self.0.insert(path.to_owned(), contents);
    }

    /// Whether it was patched before.
    #[must_use]
    pub fn is_hooked(&self) -> bool {
        self.0.contains_key(MODULE)
    }

    /// Makes `directory` hold exactly this. Files that are as they should be are left
    /// alone, so that Cargo need not build them again.
    ///
    /// # Errors
    /// A file cannot be written, or the directory holds something else than a source of
    /// quiche.
    pub fn write(&self, directory: &Path) -> Result<Written, Error> {
        if !directory.exists() || fs::read_dir(directory).map_err(at(directory))?.next().is_none() {
            return self.write_anew(directory);
        }
        let mut written = Written::default();
        for stray in Tree::read(directory)?.0.keys().filter(|path| !self.0.contains_key(*path)) {
            let stray = directory.join(stray);
            fs::remove_file(&stray).map_err(at(&stray))?;
            written.removed += 1;
        }
        for (path, contents) in &self.0 {
            let path = directory.join(path);
            if fs::read(&path).is_ok_and(|there| there == *contents) {
                written.kept += 1;
            } else {
                replace(&path, contents)?;
                written.changed += 1;
            }
        }
        Ok(written)
    }

    /// Makes `directory`, which is missing or empty: all at once, however this ends.
    fn write_anew(&self, directory: &Path) -> Result<Written, Error> {
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(at(parent))?;
        let made = tempfile::Builder::new().prefix(".quiche-").tempdir_in(parent).map_err(at(parent))?;
        for (path, contents) in &self.0 {
            replace(&made.path().join(path), contents)?;
        }
        fs::set_permissions(made.path(), fs::Permissions::from_mode(0o755)).map_err(at(made.path()))?;
        fs::rename(made.path(), directory).map_err(at(directory))?;
        Ok(Written { changed: self.0.len(), ..Written::default() })
    }

    /// Writes the files that differ from `before` into `directory`, which holds `before`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_changes(&self, before: &Tree, directory: &Path) -> Result<Written, Error> {
        let mut written = Written::default();
        for (path, contents) in &self.0 {
            if before.0.get(path) == Some(contents) {
                written.kept += 1;
            } else {
                replace(&directory.join(path), contents)?;
                written.changed += 1;
            }
        }
        Ok(written)
    }
}

/// A path below a directory, if it is one.
fn inside<'a>(components: impl Iterator<Item = Component<'a>>) -> Option<String> {
    let parts: Option<Vec<&str>> = components
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
}

/// Puts a whole file in place of another.
fn replace(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let parent: PathBuf = path.parent().unwrap_or(Path::new("")).to_owned();
    fs::create_dir_all(&parent).map_err(at(&parent))?;
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(&parent)
        .map_err(at(&parent))?;
    file.write_all(contents).map_err(at(path))?;
    file.persist(path).map_err(|error| at(path)(error.error))?;
    Ok(())
}
