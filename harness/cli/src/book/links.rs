//! Links of the repository's Markdown files, as the book needs them.

use std::path::{Component, Path, PathBuf};

/// `markdown`, a file in the directory `dir` of the repository, as a page of the book:
/// links to files of `docs/` lead to the book's pages, links to other files to the
/// repository on the web.
pub(super) fn relinked(markdown: &str, dir: &Path) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(start) = rest.find("](") {
        let (before, link) = rest.split_at(start + 2);
        text.push_str(before);
        rest = link;
        if let Some(end) = link.find(')') {
            text.push_str(&relink(&link[..end], dir));
            rest = &link[end..];
        }
    }
    text + rest
}

fn relink(link: &str, dir: &Path) -> String {
    if link.starts_with('#') || link.contains(':') {
        return link.to_owned();
    }
    let path = resolved(&dir.join(link));
    let shown = path.to_string_lossy();
    // From the page's own directory in the book to the book's.
    let up = "../".repeat(dir.strip_prefix("docs").map_or(0, |within| within.components().count()));
    match path.strip_prefix("docs") {
        Ok(page) => format!("{up}{}", page.display()),
        Err(_) if shown == "CONTRIBUTING.md" => format!("{up}contributing.md"),
        Err(_) => format!("{}/blob/main/{shown}", env!("CARGO_PKG_REPOSITORY")),
    }
}

/// `path` without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, component| {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(part) => path.push(part),
            _ => {}
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_into_the_book_or_to_the_repository() {
        let relinked = |text| relinked(text, Path::new("docs"));
        assert_eq!(relinked("[a](qlog.md#x) [b](#y) [c](https://z)"), "[a](qlog.md#x) [b](#y) [c](https://z)");
        assert_eq!(relinked("[a](../CONTRIBUTING.md)."), "[a](contributing.md).");
        let below =
            super::relinked("[a](../qlog.md) [b](two.md) [c](../../CONTRIBUTING.md)", Path::new("docs/questions"));
        assert_eq!(below, "[a](../qlog.md) [b](../questions/two.md) [c](../contributing.md)");
        let web = format!("[a]({}/blob/main/adapters/quinn/README.md)", env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(relinked("[a](../adapters/quinn/README.md)"), web);
        assert_eq!(super::relinked("[a](docs/qlog.md) ![b](", Path::new("")), "[a](qlog.md) ![b](");
    }
}
