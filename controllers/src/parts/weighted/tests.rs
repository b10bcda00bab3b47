//! `spec: arumaithurai §2.1 C1`, Eq. 3.1; contract rule 4.

use super::*;
use crate::param::ParamValue;
use crate::testkit::{PATH, acked, lost, marked};

#[test]
fn without_delays_it_is_the_early_detector() {
    let params = Params { detect: Kinds::LOSS.and(Kinds::ECN), ..Params::default() };
    let (mut ours, mut theirs) = (Weighted::start(&params, &PATH), early::State::default());
    let early = early::Params::default();
    for i in 0..200 {
        let sent_at = Time(i * 7 % 150);
        let kind = match i % 3 {
            0 => EventKind::PacketsAcked(acked(1, sent_at)),
            1 => EventKind::EcnCe(marked(sent_at)),
            _ => EventKind::PacketsLost(lost(sent_at)),
        };
        let event = Event { now: Time(i), kind };
        let signals = Weighted::update(&params, &mut ours, &event);
        assert_eq!(signals, EarlyEcn::update(&early, &mut theirs, &event));
    }
    assert_eq!(ours.counted, theirs);
    assert_eq!((Weighted::needs(&params), Weighted::ecn(&params)), (EarlyEcn::needs(&early), EarlyEcn::ecn(&early)));
}

#[test]
fn a_set_is_read_and_written_as_words() {
    assert_eq!(Kinds::read("delay+ecn"), Some(Kinds::ECN.and(Kinds::DELAY)));
    assert_eq!((Kinds::read(""), Kinds::read("ecn+"), Kinds::read("ecn,loss")), (None, None, None));
    assert_eq!(std::format!("{}", Kinds::LOSS.and(Kinds::BACKLOG).value()), "loss+backlog");
}
