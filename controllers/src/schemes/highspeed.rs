#![doc = include_str!("highspeed.md")]

use crate::parts::base::Base;
use crate::parts::high_speed::{Increase, Response};
use crate::parts::recovery;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, View, parameters};

pub use crate::parts::high_speed::Form;

parameters! {
    /// Parameters of [`HighSpeed`]: `highspeed:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        @with response: Response, "The two functions' anchors.";
    }
}

/// HighSpeed TCP (`RFC 3649`; `spec: sharma §3`).
#[derive(Debug)]
pub struct HighSpeed;

impl WindowScheme for HighSpeed {
    const INFO: Info = Info {
        name: "highspeed",
        summary: "grows faster and gives up less the larger the window is",
        source: "RFC 3649; spec: sharma §3, arumaithurai §6.7",
        fallback: None,
    };
    type Params = Params;
    type State = Increase;
    type Group = ();

    /// `w ← w + a(w)/w` (`RFC 3649 §5`; `spec: sharma §3 T-4`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.per_window(&flow.params.response, flow.window.cwnd) * acked / flow.cwnd
    }

    /// `w ← (1 − b(w))·w` (`RFC 3649 §5`; `spec: sharma §3 T-5`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> recovery::Response {
        recovery::Response::to((1.0 - flow.params.response.b(flow.cwnd)) * flow.cwnd)
    }

    fn inspect(
        params: &Params,
        _: &Increase,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        params.response.inspect(window, visit);
    }
}

#[cfg(test)]
mod tests {
    //! `spec: sharma §3`; `spec: arumaithurai §10`; `RFC 3649`.

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::Time;
    use crate::parts::high_speed::{CUTS, LEAST_DECREASE, ROWS};
    use crate::parts::limits::{Growth, Limits};
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, cases, state_variable};
    use crate::{Controller, EventKind, Parameters, Span};

    type HighSpeed = WindowController<super::HighSpeed>;

    type State = <HighSpeed as Controller>::State;

    /// The thesis's functions without its platform's own start-up rules.
    fn sharma() -> Params {
        Params { base: Limits::sharma().into(), ..Params::paper() }
    }

    fn with(form: Form) -> Params {
        Params { response: Response { form, ..Response::default() }, ..Params::default() }
    }

    fn state(params: &Params, cwnd: f64) -> State {
        let mut state = HighSpeed::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = 2.0;
        state
    }

    fn lose(params: &Params, state: State) -> f64 {
        testkit::step::<HighSpeed>(params, state, Time(1000), EventKind::PacketsLost(testkit::lost(Time(500))))
            .window
            .cwnd
    }

    /// Half a unit in the last place printed.
    const ROUNDING: f64 = 0.5e-3 + 1e-9;

    /// `spec: sharma §3.1`, the whole table: w, b, a of the thesis, canonical, and of the
    /// RFC's formula.
    #[test]
    fn check_values() {
        let rows = [
            (38.0, 0.5000, 1.000, 0.963, 1.0),
            (39.0, 0.4986, 1.017, 0.979, 0.971),
            (118.0, 0.4411, 2.094, 2.028, 2.006),
            (221.0, 0.4084, 3.133, 3.042, 3.005),
            (495.0, 0.3665, 5.209, 5.079, 5.008),
            (1058.0, 0.3269, 8.314, 8.136, 8.011),
            (2076.0, 0.2919, 12.442, 12.217, 12.011),
            (4177.0, 0.2555, 18.621, 18.347, 18.012),
            (7009.0, 0.2286, 24.784, 24.483, 24.009),
            (7775.0, 0.2232, 26.206, 25.900, 25.393),
            (9346.0, 0.2136, 28.889, 28.579, 28.007),
            (17042.0, 0.1824, 39.128, 38.823, 37.998),
            (35586.0, 0.1441, 54.444, 54.216, 52.981),
            (67000.0, 0.1111, 68.347, 68.274, 66.628),
            (83000.0, 0.1000, 72.516, 72.516, 70.735),
        ];
        for (w, b, thesis, canonical, formula) in rows {
            for (params, a) in [(sharma(), thesis), (Params::default(), canonical), (with(Form::Formula), formula)] {
                assert!((params.response.b(w) - b).abs() <= 0.5e-4 + 1e-9, "b({w}) is {}", params.response.b(w));
                assert!(
                    (params.response.a(w) - f64::max(a, 1.0)).abs() <= ROUNDING,
                    "a({w}) is {}",
                    params.response.a(w)
                );
                // The functions themselves, before Reno's increase holds them up (at 38 the
                // RFC's own value is by definition 1).
                if a != 1.0 {
                    assert!(
                        (params.response.unclamped(w) - a).abs() <= ROUNDING,
                        "a({w}) is {}",
                        params.response.unclamped(w)
                    );
                }
                // What a flow adds per window is the same.
                let grown = Increase::at(&params.response, w).a(&params.response, w);
                assert_eq!(grown, params.response.a(w));
            }
        }
    }

    /// `spec: arumaithurai §10`.
    #[test]
    fn check_values_of_the_formula() {
        let params = with(Form::Formula);
        for (w, b, a) in [(1058.0, 0.32695, 8.0108), (10661.0, 0.20676, 30.005)] {
            assert_close(params.response.b(w), b, 0.5e-5);
            assert!((params.response.a(w) - a).abs() <= if w < 2000.0 { 0.5e-4 } else { ROUNDING });
        }
    }

    /// `spec: sharma §3.2`: the RFC's program starts a row wherever its increase has grown
    /// by more than one since the row before, with p(w) = 1/(12.8·w^1.2); b is the formula's,
    /// cut to 256ths.
    #[test]
    fn the_table_is_what_the_formula_gives() {
        let params = with(Form::Formula);
        let mut rows = Vec::from([38]);
        let mut last = 1.0;
        for w in 39..=89_053 {
            let a = params.response.unclamped(f64::from(w)) / (0.078 * 12.8);
            if a > last + 1.0 {
                rows.push(w);
                last = a;
            }
        }
        assert_eq!(rows, ROWS);
        for (&w, &cut) in ROWS.iter().zip(&CUTS) {
            assert_eq!(cut, (256.0 * params.response.b(f64::from(w))) as u8, "at {w}");
        }
    }

    /// `spec: sharma §3.2`, lookup: the row of the largest breakpoint not above w.
    #[test]
    fn table_mode_looks_up_the_row_below() {
        let params = with(Form::Table);
        for (k, &w) in ROWS.iter().enumerate() {
            let w = f64::from(w);
            assert_eq!(params.response.a(w), k as f64 + 1.0);
            assert_eq!(params.response.a(w - 1e-6), (k as f64).max(1.0));
            assert_eq!(params.response.b(w), f64::from(CUTS[k]) / 256.0);
            assert_eq!(Increase::at(&params.response, w).a(&params.response, w + 0.75), k as f64 + 1.0);
            // Formula and table differ by the rounding of a to a whole number, no more.
            let formula = with(Form::Formula).response.a(w);
            assert!((k as f64..=k as f64 + 1.03).contains(&formula), "a({w}) is {formula}");
        }
        assert_eq!((params.response.a(117.9), params.response.a(2.0), params.response.a(1e6)), (1.0, 1.0, 72.0));
        assert_eq!(lose(&params, state(&params, 118.0)), 118.0 * (1.0 - 112.0 / 256.0));
    }

    /// `spec: sharma §3`: slope of the response function.
    #[test]
    fn the_response_function_has_the_slope_of_the_document() {
        for (params, s) in [(Params::default(), -0.8348), (sharma(), -0.8314)] {
            let slope = libm::log(83_000.0 / 38.0)
                / libm::log(params.response.loss_rate(83_000.0) / params.response.loss_rate(38.0));
            assert!((slope - s).abs() <= 0.5e-4, "{slope}");
            assert_close(params.response.loss_rate(38.0), params.response.low_p, 1e-12);
            assert_close(params.response.loss_rate(83_000.0), 1e-7, 1e-12);
        }
    }

    #[test]
    fn the_window_given_up_depends_on_the_window() {
        let params = Params::default();
        assert_eq!(lose(&params, state(&params, 38.0)), 19.0);
        assert_close(lose(&params, state(&params, 1058.0)), 1058.0 * (1.0 - 0.326_945_2), 1e-6);
        assert_close(lose(&params, state(&params, 83_000.0)), 74_700.0, 1e-9);
        // Reno up to the low window, whatever the anchors say of it.
        let steep = Params { response: Response { low_p: 0.1, ..params.response }, ..params };
        let ack = EventKind::PacketsAcked(acked(1, Time(1)));
        assert!(steep.response.unclamped(37.0) > 1.0);
        assert_eq!(
            testkit::step::<HighSpeed>(&steep, state(&steep, 37.0), Time(9), ack).window.cwnd,
            37.0 + 1.0 / 37.0
        );
        // Far above the upper anchor b stops at its least value.
        assert_eq!(params.response.b(1e6), LEAST_DECREASE);
    }

    /// `spec: sharma §1.6`: on the document's platform the first reduction is a halving.
    #[test]
    fn the_first_reduction_of_the_document_is_a_halving() {
        let params = Params::paper();
        let mut state = state(&params, 1058.0);
        assert_eq!(lose(&params, state), 529.0);
        state.window.ever_reduced = true;
        assert_close(lose(&params, state), 1058.0 * (1.0 - 0.326_945_2), 1e-6);
    }

    /// `spec: sharma §1.7`: limited slow start is a floor until the first reduction.
    #[test]
    fn limited_slow_start_is_a_floor_in_the_document() {
        let params = Params::paper();
        let ack = |state: State| {
            testkit::step::<HighSpeed>(&params, state, Time(9), EventKind::PacketsAcked(acked(1, Time(1))))
        };
        let mut state = state(&params, 1000.0);
        assert_close(ack(state).window.cwnd - 1000.0, 1.0 / 20.0, 1e-9);
        state.window.reduced = true;
        assert_close(ack(state).window.cwnd - 1000.0, params.response.a(1000.0) / 1000.0, 1e-9);
    }

    #[test]
    fn shows_its_two_functions() {
        let params = Params::default();
        let state = state(&params, 1058.0);
        assert_eq!(state_variable::<HighSpeed>(&params, &state, "a"), params.response.a(1058.0));
        assert_eq!(state_variable::<HighSpeed>(&params, &state, "b"), params.response.b(1058.0));
    }

    /// A window anywhere between the anchors, as often small as large.
    fn window() -> impl Strategy<Value = f64> {
        (0.0..1.0f64).prop_map(|g| 38.0 * libm::exp(g * libm::log(83_000.0 / 38.0)))
    }

    fn any_form() -> impl Strategy<Value = Params> {
        prop_oneof![Just(sharma()), Just(Params::default()), Just(with(Form::Formula)), Just(with(Form::Table))]
    }

    proptest! {
        #![proptest_config(cases(20_000))]

        /// `spec: sharma §3`, invariants.
        #[test]
        fn a_never_falls_and_b_never_rises(params in any_form(), w in window(), more in 1.0..2.0f64) {
            let larger = (w * more).min(83_000.0);
            prop_assert!(params.response.a(w) <= params.response.a(larger));
            prop_assert!(params.response.b(w) >= params.response.b(larger));
            prop_assert!((0.1 - 1e-12..=0.5).contains(&params.response.b(w)));
            prop_assert!(params.response.a(w) >= 1.0, "never less than Reno");
        }

        /// `spec: sharma §3`, invariants. (In table mode b steps down at a row's beginning,
        /// which can only raise what is kept.)
        #[test]
        fn a_larger_window_keeps_more(params in any_form(), w in 2.0..1e6f64, more in 1.0..2.0f64) {
            prop_assert!((1.0 - params.response.b(w)) * w <= (1.0 - params.response.b(w * more)) * (w * more));
        }

        /// `a` between whole numbers, as the module's text promises.
        #[test]
        fn interpolation_errs_less_than_promised(w in window(), paper: bool) {
            let params = if paper { sharma() } else { with(Form::Formula) };
            let error = (Increase::at(&params.response, libm::floor(w)).a(&params.response, w) / params.response.a(w) - 1.0).abs();
            prop_assert!(error < if w < 200.0 { 2e-5 } else { 1e-6 }, "{error} at {w}");
        }

        /// The memory is a cache: whatever it held, the increment is the same.
        #[test]
        fn the_memory_never_shows(params in any_form(), w in 2.0..1e6f64, elsewhere in 38.0..1e6f64) {
            let fresh = state(&params, w);
            let mut used = fresh;
            used.scheme = Increase::at(&params.response, libm::floor(elsewhere));
            let ack = EventKind::PacketsAcked(acked(1, Time(1)));
            let after = |state| testkit::step::<HighSpeed>(&params, state, Time(9), ack).window.cwnd;
            prop_assert_eq!(after(fresh), after(used));
        }

        /// `spec: sharma §3`, invariants: the increment is never below Reno's.
        #[test]
        fn an_ack_adds_no_less_than_renos(params in any_form(), w in 2.0..67_000.0f64) {
            let kind = EventKind::PacketsAcked(acked(1, Time(1)));
            let grown = testkit::step::<HighSpeed>(&params, state(&params, w), Time(9), kind).window.cwnd;
            prop_assert!(grown >= w + 1.0 / w);
        }
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        /// `spec: sharma §3`, invariants: growth per round trip is a(w) ± 1 %. From 1000
        /// packets on; below, a itself changes by more within a round trip.
        #[test]
        fn a_round_trip_adds_a(params in any_form(), w in 1000.0..2000.0f64) {
            let params = Params { base: Limits { growth: Growth::Packets, ..params.base.limits }.into(), ..params };
            let rtt = Span::from_millis(10);
            let after = testkit::clocked::<super::HighSpeed>(&params, state(&params, w), Time::ZERO, Time(rtt.0), rtt);
            let added = after.window.cwnd - w;
            prop_assert!((added / params.response.a(w + 0.5 * added) - 1.0).abs() < 0.01 || params.response.form == Form::Table);
            prop_assert!(added >= 0.99 * params.response.a(w) && added <= 1.01 * params.response.a(w + added));
        }
    }
}
