use super::*;

const SOURCE: &str = "fn a() {\n    b();\n    c();\n}\nlet t = now(); // now()\n";

fn edited(list: &str) -> Result<String, Error> {
    let mut tree = Tree::default();
    tree.put("f", SOURCE.as_bytes().to_vec());
    Edits::read("edits.toml", list)?.apply(&mut tree, "1")?;
    Ok(tree.text("f").unwrap().to_owned())
}

#[test]
fn lines_go_beside_their_anchor_and_are_indented_as_it_is() {
    let list = "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nbefore = \"x();\\ny();\"\n\
                [[edit]]\nwhy = ''\nfile = 'f'\nline = 'c();'\nafter = 'z();'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\nline = 'fn a() {'\ninstead = 'fn d() {'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\ntext = 'now()'\ntimes = 2\ninstead = 'then()'\n";
    let expected = "fn d() {\n    x();\n    y();\n    b();\n    c();\n    z();\n}\nlet t = then(); // then()\n";
    assert_eq!(edited(list).unwrap(), expected);
}

#[test]
fn every_edit_without_its_place_is_reported() {
    let list = "[[edit]]\nwhy = 'Why.'\nfile = 'f'\nline = 'gone();'\nafter = 'z();'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\ntext = 'now()'\ntimes = 3\ninstead = 'then()'\n\
                [[edit]]\nwhy = ''\nfile = 'g'\nline = 'b();'\nafter = 'z();'\n";
    let message = edited(list).unwrap_err().to_string();
    assert!(message.contains("f has \"gone();\" 0 times, expected 1. Why."), "{message}");
    assert!(message.contains("f has \"now()\" 2 times, expected 3."), "{message}");
    assert!(message.contains("g is missing; expected \"b();\" in it."), "{message}");
    assert!(message.contains("nothing was written"), "{message}");
}

#[test]
fn a_line_that_is_there_twice_is_no_anchor() {
    let mut tree = Tree::default();
    tree.put("f", b"b();\n b();\n".to_vec());
    let edits = Edits::read("edits.toml", "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z();'\n").unwrap();
    let Err(Error::Mismatches { mismatches, .. }) = edits.apply(&mut tree, "1") else { panic!("applied") };
    assert_eq!(mismatches[0].found, Some(2));
}

#[test]
fn an_edit_with_too_few_or_too_many_fields_is_refused() {
    for list in [
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = ' b();'\nafter = 'z'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nbefore = 'y'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nafter = 'z'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\ntext = 'b'\ninstead = 'c'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nelse = 1\n",
    ] {
        assert!(matches!(edited(list), Err(Error::Edits { .. })), "{list}");
    }
}
