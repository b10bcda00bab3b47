//! Changes of the manifest, read as TOML: a release has it as Cargo normalises it, a checkout as it was written.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::{Error, Tree};

const MANIFEST: &str = "Cargo.toml";

/// Applies `change` to the manifest of `tree`.
///
/// # Errors
/// It is no TOML.
pub(crate) fn edit(tree: &mut Tree, change: impl FnOnce(&mut DocumentMut)) -> Result<(), Error> {
    let mut manifest = parse(Path::new(MANIFEST), tree.text(MANIFEST).unwrap_or_default())?;
    change(&mut manifest);
    tree.put(MANIFEST, manifest.to_string().into_bytes());
    Ok(())
}

/// Declares a feature that changes nothing.
pub(crate) fn add_feature(manifest: &mut DocumentMut, feature: &str) {
    manifest.entry("features").or_insert(Item::Table(Table::new()))[feature] = Item::Value(Array::new().into());
}

/// Makes the package a library for Rust and none for C.
pub(crate) fn make_rust_library_only(manifest: &mut DocumentMut) {
    manifest.entry("lib").or_insert(Item::Table(Table::new()))["crate-type"] =
        Item::Value(Array::from_iter(["lib"]).into());
}

/// Puts what the manifest of `tree`, read from `directory`, inherits from its workspace in its place, so that it
/// can be built elsewhere. Packages of the workspace are referred to by their absolute paths.
///
/// # Errors
/// The workspace cannot be read, or lacks what is inherited.
pub fn inline_workspace(tree: &mut Tree, directory: &Path) -> Result<(), Error> {
    let mut manifest = parse(&directory.join(MANIFEST), tree.text(MANIFEST).unwrap_or_default())?;
    if manifest.contains_key("workspace") || !inherits(manifest.as_table()) {
        return Ok(());
    }
    let (path, workspace) = workspace_of(directory)?;
    let inlined = Workspace { path: &path, table: &workspace["workspace"] }.inline(&mut manifest);
    inlined.map_err(|reason| Error::Manifest { path: path.join(MANIFEST), reason })?;
    tree.put(MANIFEST, manifest.to_string().into_bytes());
    Ok(())
}

fn parse(path: &Path, text: &str) -> Result<DocumentMut, Error> {
    text.parse().map_err(|error: toml_edit::TomlError| Error::Manifest {
        path: path.to_owned(),
        reason: error.to_string().trim_end().to_owned(),
    })
}

/// Whether a value below `table` is `workspace = true`.
fn inherits(table: &dyn TableLike) -> bool {
    is_inherited(table) || table.iter().any(|(_, item)| item.as_table_like().is_some_and(inherits))
}

fn is_inherited(table: &dyn TableLike) -> bool {
    table.get("workspace").and_then(Item::as_bool) == Some(true)
}

/// The nearest manifest above `directory` with a workspace, and its directory.
fn workspace_of(directory: &Path) -> Result<(PathBuf, DocumentMut), Error> {
    let directory = directory.canonicalize().map_err(crate::error::at(directory))?;
    for above in directory.ancestors().skip(1) {
        let path = above.join(MANIFEST);
        if let Ok(text) = std::fs::read_to_string(&path) {
            let manifest = parse(&path, &text)?;
            if manifest.contains_key("workspace") {
                return Ok((above.to_owned(), manifest));
            }
        }
    }
    let reason = "it inherits from a workspace, which no directory above has".to_owned();
    Err(Error::Manifest { path: directory.join(MANIFEST), reason })
}

struct Workspace<'a> {
    /// Its directory.
    path: &'a Path,
    table: &'a Item,
}

impl Workspace<'_> {
    fn inline(&self, manifest: &mut DocumentMut) -> Result<(), String> {
        let lacks = |what: &str| format!("the workspace has no {what}, which quiche inherits");
        if manifest.get("lints").and_then(Item::as_table_like).is_some_and(is_inherited) {
            manifest["lints"] = self.table.get("lints").cloned().ok_or_else(|| lacks("lints"))?;
        }
        if let Some(package) = manifest.get_mut("package").and_then(Item::as_table_like_mut) {
            for (key, item) in package.iter_mut() {
                if item.as_table_like().is_some_and(is_inherited) {
                    let inherited = self.table.get("package").and_then(|table| table.get(key.get()));
                    *item = inherited.cloned().ok_or_else(|| lacks(&format!("package.{}", key.get())))?;
                }
            }
        }
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            self.inline_dependencies(manifest.get_mut(kind))?;
            for (_, target) in
                manifest.get_mut("target").and_then(Item::as_table_like_mut).into_iter().flat_map(|t| t.iter_mut())
            {
                self.inline_dependencies(target.get_mut(kind))?;
            }
        }
        Ok(())
    }

    fn inline_dependencies(&self, dependencies: Option<&mut Item>) -> Result<(), String> {
        for (name, item) in
            dependencies.and_then(Item::as_table_like_mut).into_iter().flat_map(|table| table.iter_mut())
        {
            let Some(own) = item.as_table_like().filter(|table| is_inherited(*table)) else { continue };
            let inherited = self.table.get("dependencies").and_then(|table| table.get(name.get()));
            let inherited = inherited.ok_or_else(|| format!("the workspace has no dependency {name}"))?;
            let mut merged = InlineTable::new();
            match (inherited.as_str(), inherited.as_table_like()) {
                (Some(version), _) => drop(merged.insert("version", version.into())),
                (None, Some(table)) => {
                    for (key, value) in table.iter() {
                        let value = match (key, value.as_str(), value.as_value()) {
                            ("path", Some(path), _) => self.path.join(path).display().to_string().into(),
                            (_, _, Some(value)) => value.clone(),
                            _ => continue,
                        };
                        merged.insert(key, value);
                    }
                }
                _ => return Err(format!("the dependency {name} of the workspace is neither a version nor a table")),
            }
            for (key, value) in own.iter().filter(|(key, _)| *key != "workspace") {
                match (key, merged.get_mut(key).and_then(Value::as_array_mut), value.as_array()) {
                    ("features", Some(features), Some(more)) => features.extend(more.iter().cloned()),
                    _ => drop(value.as_value().map(|value| merged.insert(key, value.clone()))),
                }
            }
            *item = Item::Value(merged.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checkout_inherits_is_put_in_its_place() {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("quiche");
        std::fs::create_dir(&source).unwrap();
        std::fs::write(
            root.path().join(MANIFEST),
            "[workspace.package]\nedition = '2021'\n[workspace.lints.clippy]\nmem_forget = 'deny'\n\
             [workspace.dependencies]\nlog = '0.4'\nocts = { version = '1', path = './octs', features = ['a'] }\n",
        )
        .unwrap();
        let mut tree = Tree::default();
        let own = "[package]\nname = 'quiche'\nedition = { workspace = true }\n[lints]\nworkspace = true\n\
                   [dependencies]\nlog = { workspace = true, optional = true }\n\
                   octs = { workspace = true, features = ['b'] }\n[target.'cfg(unix)'.dependencies]\nlog.workspace = true\n";
        tree.put(MANIFEST, own.as_bytes().to_vec());
        inline_workspace(&mut tree, &source).unwrap();
        let manifest: toml::Table = toml::from_str(tree.text(MANIFEST).unwrap()).unwrap();
        let octs = root.path().canonicalize().unwrap().join("./octs");
        let expected: toml::Table = toml::from_str(&format!(
            "[package]\nname = 'quiche'\nedition = '2021'\n[lints.clippy]\nmem_forget = 'deny'\n\
             [dependencies]\nlog = {{ version = '0.4', optional = true }}\n\
             octs = {{ version = '1', path = '{}', features = ['a', 'b'] }}\n\
             [target.'cfg(unix)'.dependencies]\nlog = {{ version = '0.4' }}\n",
            octs.display()
        ))
        .unwrap();
        assert_eq!(manifest, expected);
    }

    #[test]
    fn a_missing_workspace_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let mut tree = Tree::default();
        tree.put(MANIFEST, b"[package]\nname = 'quiche'\nedition.workspace = true\n".to_vec());
        let error = inline_workspace(&mut tree, root.path()).unwrap_err().to_string();
        assert!(error.contains("inherits from a workspace"), "{error}");
    }

    #[test]
    fn both_forms_of_a_manifest_take_the_changes() {
        for text in [
            "[lib]\ncrate-type = [\"lib\", \"cdylib\"]\n[features]\nffi = []\n",
            "[features]\nffi = [] # for C\n\n[lib]\ncrate-type = [\n    \"lib\",\n    \"cdylib\",\n]\n",
        ] {
            let mut tree = Tree::default();
            tree.put(MANIFEST, text.as_bytes().to_vec());
            edit(&mut tree, |manifest| add_feature(manifest, "hook")).unwrap();
            edit(&mut tree, make_rust_library_only).unwrap();
            let manifest: toml::Table = toml::from_str(tree.text(MANIFEST).unwrap()).unwrap();
            let expected = toml::from_str("[features]\nffi = []\nhook = []\n[lib]\ncrate-type = ['lib']\n").unwrap();
            assert_eq!(manifest, expected);
        }
    }
}
