use super::*;
use crate::metrics::{LossSource, measure};
use crate::read::Options;

/// A datagram as tshark prints it, of packets from the client's or the server's port.
fn datagram(time: &str, from_client: bool, packets: &[&str]) -> String {
    let (from, to) = if from_client { ("5000", "4433") } else { ("4433", "5000") };
    let packets: Vec<String> = packets.iter().map(|packet| format!(r#""quic": {{{packet}}}"#)).collect();
    format!(
        r#"{{"_index": "x", "_source": {{"layers": {{"frame": {{"frame.time_epoch": "{time}"}},
        "ip": {{"ip.src": "10.0.0.1", "ip.dst": "10.0.0.1", "ip.host": "a\"}}b"}},
        "udp": {{"udp.srcport": "{from}", "udp.dstport": "{to}"}}, {}}}}}}}"#,
        packets.join(",")
    )
}

const CONNECTION: &str = r#""QUIC Connection information": {"quic.connection.number": "3"}"#;

fn initial(frames: &str) -> String {
    format!(
        r#"{CONNECTION}, "quic.packet_length": "1200", "quic.long.packet_type": "0", "quic.dcid": "0a:0b",
        "quic.packet_number": "0"{frames}"#
    )
}

fn short(number: u64, frames: &str) -> String {
    format!(
        r#"{CONNECTION}, "quic.packet_length": "1000", "quic.short": {{"quic.header_form": "0", "quic.dcid": "0c"}},
        "quic.packet_number": "{number}"{frames}"#
    )
}

fn trace(datagrams: &[String]) -> (Capture, String) {
    let json = format!("[\n{}\n]\n", datagrams.join(",\n"));
    let mut events = Vec::new();
    // Pieces of any size come to the same.
    let capture = super::events(io::BufReader::with_capacity(7, json.as_bytes()), &mut events).unwrap();
    let mut text = String::new();
    capture.qlog("a \"capture\"", events.as_slice()).read_to_string(&mut text).unwrap();
    (capture, text)
}

#[test]
fn frames_become_those_of_qlog() {
    let frames = [
        (r#""quic.frame_type": "0", "quic.padding_length": "9""#, r#""padding","raw":{"payload_length":9}"#),
        (
            r#""quic.frame_type": "3", "quic.ack.largest_acknowledged": "20", "quic.ack.ack_delay": "125",
            "quic.ack.ack_range_count": "2", "quic.ack.first_ack_range": "3", "quic.ack.gap": "1", "quic.ack.ack_range": "0",
            "quic.ack.gap": "0", "quic.ack.ack_range": "2", "quic.ack.ect0_count": "5", "quic.ack.ect1_count": "0",
            "quic.ack.ecn_ce_count": "7""#,
            // Of 17 to 20, a gap of two, 14; of 14, a gap of one, 10 to 12 (`RFC 9000 §19.3.1`).
            r#""ack","ack_delay":1.000000,"acked_ranges":[[17,20],[14],[10,12]],"ect0":5,"ect1":0,"ce":7"#,
        ),
        (
            r#""quic.frame_type": "0x0f", "quic.stream.stream_id": "4", "quic.stream.offset": "100", "quic.stream.length": "50""#,
            r#""stream","stream_id":4,"offset":100,"fin":true,"raw":{"length":50}"#,
        ),
        (
            r#""quic.frame_type": "8", "quic.stream.stream_id": "0", "quic.stream_data": "61:62:63""#,
            r#""stream","stream_id":0,"offset":0,"raw":{"length":3}"#,
        ),
        (
            r#""quic.frame_type": "17", "quic.msd.stream_id": "4", "quic.msd.maximum_stream_data": "9000""#,
            r#""max_stream_data","stream_id":4,"maximum":9000"#,
        ),
        (
            r#""quic.frame_type": "23", "quic.sib.stream_limit": "8""#,
            r#""streams_blocked","limit":8,"stream_type":"unidirectional""#,
        ),
        (r#""quic.frame_type": "175""#, r#""unknown""#),
    ];
    for (tshark, qlog) in frames {
        let (_, text) = trace(&[datagram("1.5", true, &[&initial(&format!(r#", "quic.frame": {{{tshark}}}"#))])]);
        assert!(text.contains(&format!(r#""frames":[{{"frame_type":{qlog}}}]"#)), "{tshark}: {text}");
    }
}

#[test]
fn the_end_with_more_bytes_sends_and_acknowledged_packets_are_measured() {
    let data = |number: u64| {
        let frame = format!(
            r#", "quic.frame": {{"quic.frame_type": "12", "quic.stream.stream_id": "0", "quic.stream.offset": "{}", "quic.stream_data": "61:62"}}"#,
            number * 2
        );
        short(number, &frame)
    };
    let hello = r#", "quic.frame": {"quic.frame_type": "6", "quic.crypto.length": "300",
        "tls": {"tls.handshake": {"Extension": {"Parameter": {"tls.quic.parameter.initial_max_data": "70000"}}}}}"#;
    let ack = r#", "quic.frame": {"quic.frame_type": "2", "quic.ack.largest_acknowledged": "9", "quic.ack.first_ack_range": "4"}"#;
    let mut datagrams = vec![datagram("100.000000000", true, &[&initial(hello)])];
    datagrams.extend((0..10).map(|number| datagram(&format!("100.0{number}"), false, &[&data(number)])));
    datagrams.push(datagram("100.25", true, &[&short(0, ack)]));
    let (capture, text) = trace(&datagrams);
    let expected = Capture { packets: 12, encrypted: 0, other: 0, connections: 1, bytes: [2200, 10_000] };
    assert_eq!(capture, expected);
    let (summary, found) = measure(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(summary.bad_records, 0);
    let [one] = &found[..] else { panic!("{} connections", found.len()) };
    assert_eq!(one.group, "0a0b");
    let measures = &one.measures;
    assert_eq!((measures.packets_sent, measures.packets_received), (Some(10), Some(2)));
    // Packets 0 to 4 are missing from the ACK: all but the last three places are lost by the packet threshold.
    assert_eq!((measures.packets_lost, measures.losses), (Some(5), Some(LossSource::Inferred)));
    assert!(text.contains(r#""name":"quic:parameters_set","time":100000.000000,"group_id":"0a0b","data":{"initiator":"remote","initial_max_data":70000}"#), "{text}");
}

#[test]
fn the_version_of_long_headers_is_that_of_the_connection() {
    let version_2 = format!(r#""quic.version": "0x6b3343cf", {}"#, initial(""));
    let negotiation =
        format!(r#"{CONNECTION}, "quic.packet_length": "50", "quic.version": "0x00000000", "quic.vn.unused": "1""#);
    let (_, text) = trace(&[datagram("1", false, &[&negotiation]), datagram("2", true, &[&version_2, &short(1, "")])]);
    let (summary, _) = measure(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(summary.traces[0].quic_version, "6b3343cf");
    assert_eq!(text.matches("\"version\"").count(), 1, "{text}");
}

#[test]
fn what_is_not_decrypted_has_a_size_and_no_number() {
    let protected = format!(r#"{CONNECTION}, "quic.packet_length": "77", "quic.short": {{"quic.dcid": "0c"}}"#);
    let (capture, text) = trace(&[
        datagram("1", true, &[&initial("")]),
        datagram("2", true, &[&protected]),
        r#"{"_source": {"layers": {"frame": {"frame.time_epoch": "3"}, "udp": {"udp.srcport": "53"}}}}"#.to_owned(),
    ]);
    assert_eq!((capture.packets, capture.encrypted, capture.other), (2, 1, 1));
    assert!(text.contains(r#""data":{"header":{"packet_type":"unknown"},"raw":{"length":77}}"#), "{text}");
}

/// aioquic fills a datagram behind its last packet; tshark makes a layer of it.
#[test]
fn padding_behind_the_last_packet_is_no_packet() {
    let padding = r#""_ws.expert": {"quic.coalesced_padding_data": "", "_ws.expert.message": "(Random) padding data appended to the datagram"}"#;
    let (capture, text) = trace(&[datagram("1", true, &[&initial(""), padding])]);
    assert_eq!((capture.packets, capture.encrypted, capture.other), (1, 0, 0));
    assert_eq!(text.matches("packet_sent").count(), 1, "{text}");
}

#[test]
fn what_is_not_tshark_s_is_an_error_and_what_is_cut_is_read_up_to_there() {
    let wrong = super::events(&b"[{\"a\" 1}]"[..], &mut Vec::new()).unwrap_err();
    assert_eq!(wrong.to_string(), "datagram 1 in tshark's JSON, byte 5: expected a colon");
    let long = format!("[{{\"a\":\"{}\"}}]", "x".repeat(MOST_BYTES + (1 << 17)));
    assert!(matches!(super::events(long.as_bytes(), &mut Vec::new()), Err(CaptureError::Long(1))));
    let whole = format!("[{},{}", datagram("1", true, &[&initial("")]), &datagram("2", true, &[])[..40]);
    assert_eq!(super::events(whole.as_bytes(), &mut Vec::new()).unwrap().packets, 1);
    assert_eq!(super::events(&b""[..], &mut Vec::new()).unwrap(), Capture::default());
}
