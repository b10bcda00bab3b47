//! The catalogue: a closed enum over all controllers, generated from one list.

use core::fmt;
use core::str::FromStr;

use crate::param::{Param, ParamError, Parameters, Range};
use crate::parts::window_controller::WindowController;
use crate::schemes::*;
use crate::text::{self, Configurable, ParseError};
use crate::{ConfiguredController, Controller, Decision, Event, Info, Member, Path, Signals, Table, View};

/// What a list says of one controller, and the controller with default parameters, or what makes it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<D = fn() -> Algorithm> {
    /// The controller's name, as in `-c NAME`.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// The document it is built from.
    pub source: &'static str,
    /// What it does, its states and its limits, in Markdown; also the documentation of
    /// its module.
    pub page: &'static str,
    /// What its documented fallback does, if it has one.
    pub fallback: Option<&'static str>,
    /// The size of one flow's state, bytes.
    pub state_size: usize,
    /// The controller with default parameters.
    pub default: D,
}

impl<D> Entry<D> {
    /// What is said of `C`, whose page is `page`.
    #[must_use]
    pub const fn of<C: Controller>(page: &'static str, default: D) -> Entry<D> {
        let Info { name, summary, source, fallback } = C::INFO;
        Entry { name, summary, source, page, fallback, state_size: size_of::<C::State>(), default }
    }
}

/// An owned, allocation-free form of [`ParseError`] is not possible; `FromStr` has no
/// lifetime to borrow from, so it only says that there was a mistake.
#[derive(Clone, Copy, PartialEq)]
pub struct NotAnAlgorithm;

impl fmt::Debug for NotAnAlgorithm {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NotAnAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a controller of the catalogue with valid parameters")
    }
}

impl core::error::Error for NotAnAlgorithm {}

/// A controller's functions, compiled once, here: as generic functions they would be compiled anew, for
/// all controllers, in every crate that steps an [`Algorithm`]. None is inlined, or the largest
/// controller's stack frame would be every controller's. Tables come in parts, so that none is copied for
/// the many controllers that have no use for it.
trait Listed: Controller {
    fn step_one(
        params: &Self::Params,
        state: &mut Self::State,
        event: &Event,
        shared: &mut Self::Group,
        members: &mut [Member],
        me: usize,
    );
    fn decide_one(
        params: &Self::Params,
        state: &Self::State,
        shared: &Self::Group,
        group: &View<'_, AnyGroup>,
    ) -> Decision;
    /// Both.
    fn step_and_decide_one(
        params: &Self::Params,
        state: &mut Self::State,
        group: Table<'_, Self::Group>,
        event: &Event,
        decision: &mut Decision,
    );
}

macro_rules! catalogue {
    ($($variant:ident($page:literal) => $controller:ty,)+) => {
        /// A controller of the catalogue with its parameters.
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = concat!("`", stringify!($controller), "`.")]
            $variant(<$controller as Controller>::Params),)+
        }

        /// The state of one flow of any controller of the catalogue.
        // States are plain data that may be copied; a box would allocate.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[non_exhaustive]
        pub enum AnyState {
            $(#[doc = concat!("Of `", stringify!($controller), "`.")]
            $variant(<$controller as Controller>::State),)+
        }

        /// The shared state of a group of any controller of the catalogue.
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[non_exhaustive]
        pub enum AnyGroup {
            $(#[doc = concat!("Of `", stringify!($controller), "`.")]
            $variant(<$controller as Controller>::Group),)+
        }

        $(impl Listed for $controller {
            #[inline(never)]
            fn step_one(
                params: &Self::Params,
                state: &mut Self::State,
                event: &Event,
                shared: &mut Self::Group,
                members: &mut [Member],
                me: usize,
            ) {
                Self::step(params, state, Table { shared, members, me }, event);
            }

            #[inline(never)]
            fn decide_one(
                params: &Self::Params,
                state: &Self::State,
                shared: &Self::Group,
                group: &View<'_, AnyGroup>,
            ) -> Decision {
                Self::decide(params, state, View { shared, members: group.members, me: group.me })
            }

            #[inline(never)]
            fn step_and_decide_one(
                params: &Self::Params,
                state: &mut Self::State,
                group: Table<'_, Self::Group>,
                event: &Event,
                decision: &mut Decision,
            ) {
                let Table { shared, members, me } = group;
                Self::step(params, state, Table { shared, members, me }, event);
                *decision = Self::decide(params, state, View { shared, members, me });
            }
        })+

        impl Algorithm {
            /// Every controller, in the order they are listed.
            pub const ALL: &'static [Entry] = &[$(Entry::of::<$controller>(
                include_str!(concat!("schemes/", $page, ".md")),
                || Algorithm::$variant(Default::default()),
            ),)+];

            /// Their names.
            pub const NAMES: &'static [&'static str] = &[$(<$controller as Controller>::INFO.name),+];

            /// Sets the parameter called `name`; `profile` sets all of them.
            ///
            /// # Errors
            /// There is no such parameter, or it does not take `value`.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
                match self {
                    $(Algorithm::$variant(params) => text::set(params, <$controller as Controller>::INFO.source, name, value),)+
                }
            }

            /// Names every parameter with its current value.
            pub fn describe(&self, visit: &mut dyn FnMut(&Param)) {
                match self {
                    $(Algorithm::$variant(params) => params.describe(visit),)+
                }
            }

            /// A parameter whose value another one forbids; see [`Parameters::limit`].
            #[must_use]
            pub fn limit(&self) -> Option<(&'static str, Range)> {
                match self {
                    $(Algorithm::$variant(params) => params.limit(),)+
                }
            }

            /// What it cannot work without, with these parameters.
            #[must_use]
            pub fn needs(&self) -> Signals {
                match self {
                    $(Algorithm::$variant(params) => <$controller as Controller>::needs(params),)+
                }
            }

            /// Shared state of a new group.
            #[must_use]
            pub fn group(&self) -> AnyGroup {
                match self {
                    $(Algorithm::$variant(params) => AnyGroup::$variant(<$controller as Controller>::group(params)),)+
                }
            }

            /// The state of a new flow on `path`.
            #[must_use]
            pub fn start(&self, path: &Path) -> AnyState {
                match self {
                    $(Algorithm::$variant(params) => AnyState::$variant(<$controller as Controller>::start(params, path)),)+
                }
            }

            /// Takes `event` into the flow's state; see [`Controller::step`]. A state or group of
            /// another controller stays as it is.
            #[inline]
            pub fn step(&self, state: &mut AnyState, group: Table<'_, AnyGroup>, event: &Event) {
                match (self, state, group.shared) {
                    $((Algorithm::$variant(params), AnyState::$variant(state), AnyGroup::$variant(shared)) => {
                        <$controller as Listed>::step_one(params, state, event, shared, group.members, group.me);
                    })+
                    #[allow(unreachable_patterns)]
                    _ => debug_assert!(false, "state and group belong to another controller"),
                }
            }

            /// What the flow may do now. A state or group of another controller gives the
            /// decision of a new flow.
            #[must_use]
            #[inline]
            pub fn decide(&self, state: &AnyState, group: View<'_, AnyGroup>) -> Decision {
                match (self, state, group.shared) {
                    $((Algorithm::$variant(params), AnyState::$variant(state), AnyGroup::$variant(shared)) => {
                        <$controller as Listed>::decide_one(params, state, shared, &group)
                    })+
                    #[allow(unreachable_patterns)]
                    _ => self.decide_anew(),
                }
            }

            /// The decision of a new flow, where state and group are another controller's. Apart from
            /// [`decide`](Self::decide), which needs no room for a state.
            #[cold]
            #[inline(never)]
            fn decide_anew(&self) -> Decision {
                debug_assert!(false, "state and group belong to another controller");
                let path = Path::new(crate::Time::ZERO, 1200, 0);
                self.decide(&self.start(&path), View::solo(&self.group()))
            }

            /// Names the state variables worth logging; see [`Controller::inspect`].
            pub fn inspect(&self, state: &AnyState, group: View<'_, AnyGroup>, visit: &mut dyn FnMut(&'static str, f64)) {
                match (self, state, group.shared) {
                    $((Algorithm::$variant(params), AnyState::$variant(state), AnyGroup::$variant(shared)) => {
                        let view = View { shared, members: group.members, me: group.me };
                        <$controller as Controller>::inspect(params, state, view, visit);
                    })+
                    #[allow(unreachable_patterns)]
                    _ => debug_assert!(false, "state and group belong to another controller"),
                }
            }
        }

        impl Configurable for Algorithm {
            fn name(&self) -> &'static str {
                self.info().name
            }
            fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
                Algorithm::set(self, name, value)
            }
            fn describe(&self, visit: &mut dyn FnMut(&Param)) {
                Algorithm::describe(self, visit);
            }
            fn limit(&self) -> Option<(&'static str, Range)> {
                Algorithm::limit(self)
            }
            fn parameters(&self) -> text::Names {
                match self {
                    $(Algorithm::$variant(_) => text::Names::of::<<$controller as Controller>::Params>(),)+
                }
            }
        }

        impl ConfiguredController for Algorithm {
            type State = AnyState;
            type Group = AnyGroup;

            fn info(&self) -> Info {
                match self {
                    $(Algorithm::$variant(_) => <$controller as Controller>::INFO,)+
                }
            }
            fn with(&self, name: &str, value: &str) -> Option<Self> {
                let mut other = *self;
                other.set(name, value).is_ok().then_some(other)
            }
            fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
                text::write(f, self, &mut { *self })
            }
            fn needs(&self) -> Signals {
                Algorithm::needs(self)
            }
            fn wants_packet_sent(&self) -> bool {
                match self {
                    $(Algorithm::$variant(_) => <$controller as Controller>::WANTS_PACKET_SENT,)+
                }
            }
            fn group(&self) -> AnyGroup {
                Algorithm::group(self)
            }
            fn start(&self, path: &Path) -> AnyState {
                Algorithm::start(self, path)
            }
            #[inline]
            fn step(&self, state: &mut AnyState, group: Table<'_, AnyGroup>, event: &Event) {
                Algorithm::step(self, state, group, event);
            }
            #[inline]
            fn decide(&self, state: &AnyState, group: View<'_, AnyGroup>) -> Decision {
                Algorithm::decide(self, state, group)
            }
            #[inline]
            fn step_and_decide(
                &self,
                state: &mut AnyState,
                group: Table<'_, AnyGroup>,
                event: &Event,
                decision: &mut Decision,
            ) {
                match (self, state, group.shared) {
                    $((Algorithm::$variant(params), AnyState::$variant(state), AnyGroup::$variant(shared)) => {
                        let table = Table { shared, members: group.members, me: group.me };
                        <$controller as Listed>::step_and_decide_one(params, state, table, event, decision);
                    })+
                    #[allow(unreachable_patterns)]
                    _ => debug_assert!(false, "state and group belong to another controller"),
                }
            }
            fn inspect(&self, state: &AnyState, group: View<'_, AnyGroup>, visit: &mut dyn FnMut(&'static str, f64)) {
                Algorithm::inspect(self, state, group, visit);
            }
        }
    };
}

// To add a controller: its file and its page in `schemes/`, its line here: the variant, the
// page, the controller.
catalogue! {
    Reno("reno") => WindowController<reno::Reno>,
    TcpK("tcp_k") => WindowController<tcp_k::TcpK>,
    MulTcp("multcp") => WindowController<multcp::MulTcp>,
    ATcp("a_tcp") => WindowController<a_tcp::ATcp>,
    TcpP("tcp_p") => WindowController<tcp_p::TcpP>,
    ATcpP("a_tcp_p") => WindowController<a_tcp_p::ATcpP>,
    DcaC("dca_c") => WindowController<dca::DcaC>,
    DcaS("dca_s") => WindowController<dca::DcaS>,
    Dual("dual") => WindowController<dca::Dual>,
    Fractional("fractional") => WindowController<fractional::Fractional>,
    Combined("combined") => WindowController<fractional::Combined>,
    Cocoon("cocoon") => WindowController<cocoon::Cocoon>,
    Cm("cm") => cm::Cm,
    Cubic("cubic") => WindowController<cubic::Cubic>,
    Cubic2005("cubic_2005") => WindowController<cubic_2005::Cubic2005>,
    HighSpeed("highspeed") => WindowController<highspeed::HighSpeed>,
    TcpAfrica("tcp_africa") => WindowController<tcp_africa::TcpAfrica>,
    Scalable("scalable") => WindowController<scalable::Scalable>,
    Aimd("aimd") => WindowController<aimd::Aimd>,
    Bic("bic") => WindowController<bic::Bic>,
    HTcp("h_tcp") => WindowController<h_tcp::HTcp>,
    Fast("fast") => WindowController<fast::Fast>,
    Vegas("vegas") => vegas::Vegas,
    QuickVegas("quick_vegas") => quick_vegas::QuickVegas,
    EnhancedVegas("enhanced_vegas") => enhanced_vegas::EnhancedVegas,
    RoVegas("rovegas") => rovegas::RoVegas,
    RedVegas("red_vegas") => red_vegas::RedVegas,
    Card("card") => card::Card,
    TriS("tri_s") => tri_s::TriS,
    NfTcp("nf_tcp") => nf_tcp::NfTcp,
    NfTcpPrime("nf_tcp_prime") => nf_tcp::NfTcpPrime,
    Dctcp("dctcp") => WindowController<dctcp::Dctcp>,
    Ctcp("ctcp") => WindowController<ctcp::Ctcp>,
    Prague("prague") => WindowController<prague::Prague>,
    Ledbat("ledbat") => WindowController<ledbat::Ledbat>,
    LedbatPlusPlus("ledbat_plus_plus") => WindowController<ledbat_plus_plus::LedbatPlusPlus>,
    TcpLp("tcp_lp") => WindowController<tcp_lp::TcpLp>,
    Westwood("westwood") => WindowController<westwood::Westwood>,
    Compose("compose") => compose::Compose,
    Bbr("bbr") => bbr::Bbr,
    Copa("copa") => copa::Copa,
    Nice("nice") => nice::Nice,
    Rapid("rapid") => rapid::Rapid,
    C4("c4") => c4::C4,
    Bbr1("bbr1") => bbr1::Bbr1,
    Scream("scream") => scream::Scream,
    Nada("nada") => nada::Nada,
    Gcc("gcc") => gcc::Gcc,
}

impl Algorithm {
    /// A prefix that the name of every controller may have, where a stack has controllers of the same name.
    pub const PREFIX: &'static str = text::PREFIX;

    /// The controller called `name`, with default parameters.
    #[must_use]
    pub fn named(name: &str) -> Option<Algorithm> {
        let name = name.strip_prefix(Self::PREFIX).unwrap_or(name);
        Algorithm::ALL.iter().find(|entry| entry.name == name).map(|entry| (entry.default)())
    }

    /// The name in the catalogue that a user who typed `name` most likely meant, if one is similar.
    #[must_use]
    pub fn nearest(name: &str) -> Option<&'static str> {
        text::nearest(name, Self::NAMES.iter().copied())
    }

    /// Reads `name` or `name:parameter=value,…`, also with [`PREFIX`](Self::PREFIX). `profile=paper` takes the document's
    /// parameter values, as does `profile=draft` where it is a draft, `profile=quic` the defaults, `profile=linux` those of Linux' module where the
    /// catalogue knows them; parameters after it change it.
    ///
    /// # Errors
    /// What is wrong with the text, and what was expected.
    pub fn read(text: &str) -> Result<Algorithm, ParseError<'_>> {
        let (name, assignments) = text.split_once(':').unwrap_or((text, ""));
        let mut algorithm =
            Algorithm::named(name).ok_or(ParseError::UnknownController { name, catalogue: Self::NAMES, own: &[] })?;
        text::assign(&mut algorithm, assignments)?;
        Ok(algorithm)
    }
}

impl FromStr for Algorithm {
    type Err = NotAnAlgorithm;

    /// As [`Algorithm::read`], with an error that does not say where.
    fn from_str(text: &str) -> Result<Algorithm, NotAnAlgorithm> {
        Algorithm::read(text).map_err(|_| NotAnAlgorithm)
    }
}

/// What a user would type to get this algorithm: the name and every parameter that
/// differs from its default.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ConfiguredController::write(self, f)
    }
}
