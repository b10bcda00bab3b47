use windlass_abi::msquic::Define;

use super::*;

const ERROR_SIZE: usize = 400;

fn make(function: Define, text: &str) -> Result<*mut c_void, String> {
    let text = std::ffi::CString::new(text).unwrap();
    let mut error = [1; ERROR_SIZE];
    // SAFETY: the text ends with NUL, and the buffer has that size.
    let made = unsafe { function(text.as_ptr(), error.as_mut_ptr(), ERROR_SIZE) };
    if made.is_null() {
        // SAFETY: the error ends with NUL.
        return Err(unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().unwrap().to_owned());
    }
    Ok(made)
}

fn connection(reports: u8) -> Path {
    let mut peer_address = [0; 16];
    peer_address[10..].copy_from_slice(&[0xff, 0xff, 192, 0, 2, 7]);
    Path {
        path: abi::Path {
            now_ns: 1_000_000,
            peer_address,
            mtu: 1200,
            peer_port: 443,
            reserved: 0,
            server_name: c"www.example.org".as_ptr(),
            group: std::ptr::null(),
            group_size: 0,
            seed: 0,
        },
        connection: 7,
        app_name: c"demo".as_ptr(),
        in_flight: 0,
        initial_window_packets: 10,
        is_server: 0,
        reports,
        reserved: [0; 2],
    }
}

fn start_flow(definition: *mut c_void, path: &Path) -> Result<(*mut c_void, Decision), String> {
    let mut decision = Decision::default();
    let mut error = [1; ERROR_SIZE];
    // SAFETY: `definition` came from the plugin, and all pointers are valid.
    let flow = unsafe { (PLUGIN.start)(definition, path, &raw mut decision, error.as_mut_ptr(), ERROR_SIZE) };
    if flow.is_null() {
        // SAFETY: the error ends with NUL.
        return Err(unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().unwrap().to_owned());
    }
    Ok((flow, decision))
}

/// The initial congestion window of a definition on a connection, bytes.
fn first_window(definition: *mut c_void, path: &Path) -> u64 {
    let (flow, decision) = start_flow(definition, path).unwrap();
    // SAFETY: the flow was just started.
    unsafe { (PLUGIN.stop)(flow) };
    decision.cwnd
}

#[test]
fn names_and_parameters_reach_the_controller() {
    let definition = make(PLUGIN.define, "reno:iw=23").unwrap();
    assert_eq!(first_window(definition, &connection(0)), 23 * 1200);
    let error = make(PLUGIN.define, "reno:iw=0").unwrap_err();
    assert!(error.contains("iw"), "{error}");
    assert!(make(PLUGIN.define, "no-such").unwrap_err().contains("no-such"));
}

#[test]
fn a_connection_has_to_report_what_a_controller_needs() {
    let definition = make(PLUGIN.define, "dctcp").unwrap();
    let error = start_flow(definition, &connection(0)).unwrap_err();
    assert!(
        error.contains("dctcp needs")
            && error.contains("put EcnEnabled = true into the section [msquic] of the settings file"),
        "{error}"
    );
    assert!(first_window(definition, &connection(reports::ECN)) > 0);
    let never = make(PLUGIN.define, "rovegas").unwrap_err();
    assert!(never.contains("router queueing"), "{never}");
}

#[test]
fn a_file_decides_by_peer_name_and_application() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let text = "controller = \"reno:iw=11\"\n[[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno:iw=12\"\n\
        [app.other]\ncontroller = \"reno:iw=13\"\n[[app.other.rule]]\nto = \"*.example.org\"\ncontroller = \"reno:iw=14\"\n";
    std::fs::write(&path, text).unwrap();
    let definition = make(PLUGIN.configure.unwrap(), path.to_str().unwrap()).unwrap();
    let mut new = connection(0);
    assert_eq!(first_window(definition, &new), 12 * 1200, "by address; this application has no section");
    new.path.peer_address[15] = 1;
    new.path.peer_address[13] = 1;
    assert_eq!(first_window(definition, &new), 11 * 1200);
    new.app_name = c"other".as_ptr();
    assert_eq!(first_window(definition, &new), 14 * 1200, "by name");
    new.path.server_name = std::ptr::null();
    assert_eq!(first_window(definition, &new), 13 * 1200);
}

#[test]
fn a_grouped_flow_asks_to_be_refreshed() {
    let definition = make(PLUGIN.define, "tcp-p").unwrap();
    let (flow, mut decision) = start_flow(definition, &connection(0)).unwrap();
    assert_eq!(decision.flags & abi::decision::SHARED, abi::decision::SHARED);
    // SAFETY: the flow runs until it is stopped here.
    unsafe {
        (PLUGIN.refresh)(flow, &raw mut decision);
        (PLUGIN.stop)(flow);
    }
    assert!(decision.cwnd > 0);
}

#[test]
fn a_long_error_is_cut_between_characters() {
    let mut error = [b'x' as c_char; 4];
    // SAFETY: the buffer has four bytes.
    unsafe { write_error("aéé", error.as_mut_ptr(), 4) };
    // SAFETY: it ends with NUL.
    assert_eq!(unsafe { CStr::from_ptr(error.as_ptr()) }.to_str(), Ok("aé"));
    // SAFETY: nothing is written.
    unsafe { write_error("a", std::ptr::null_mut(), 4) };
}
