use super::*;

const SOURCE: &str = "fn a() {\n    b();\n    c();\n}\nlet t = now(); // now()\n";

fn edited(list: &str) -> Result<String, Error> {
    let mut tree = Tree::default();
    tree.put("f", SOURCE.as_bytes().to_vec());
    Edits::read(list)?.apply(&mut tree, "1")?;
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
fn every_edit_without_its_place_is_told() {
    let list = "[[edit]]\nwhy = 'Why.'\nfile = 'f'\nline = 'gone();'\nafter = 'z();'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\ntext = 'now()'\ntimes = 3\ninstead = 'then()'\n\
                [[edit]]\nwhy = ''\nfile = 'g'\nline = 'b();'\nafter = 'z();'\n";
    let told = edited(list).unwrap_err().to_string();
    assert!(told.contains("f has \"gone();\" 0 times, expected 1. Why."), "{told}");
    assert!(told.contains("f has \"now()\" 2 times, expected 3."), "{told}");
    assert!(told.contains("g is missing; expected \"b();\" in it."), "{told}");
    assert!(told.contains("nothing was written"), "{told}");
}

#[test]
fn a_line_that_is_there_twice_is_no_anchor() {
    let mut tree = Tree::default();
    tree.put("f", b"b();\n b();\n".to_vec());
    let edits = Edits::read("[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z();'\n").unwrap();
    let Err(Error::Misfits { misfits, .. }) = edits.apply(&mut tree, "1") else { panic!("applied") };
    assert_eq!(misfits[0].found, Some(2));
}

#[test]
fn an_edit_says_neither_too_little_nor_too_much() {
    for list in [
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = ' b();'\nafter = 'z'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nbefore = 'y'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nafter = 'z'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\ntext = 'b'\ninstead = 'c'\n",
        "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nelse = 1\n",
    ] {
        assert!(matches!(edited(list), Err(Error::Edits(_))), "{list}");
    }
}

#[test]
fn our_own_list_can_be_read() {
    assert!(crate::hook().unwrap().0.edit.len() > 15);
}
