//! What flows observed of their paths, for later flows to resume (`RFC 9959 §3.1`).

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_controllers::parts::careful_resume::{Observation, ResumePhase, variables};
use windlass_controllers::{Decision, Event, Path, SavedPath, Span, Time};

use crate::{GroupStep, Peer, Recorder, StateVariables};

/// Packets of an initial window (`RFC 9002 §7.2`), of which a path has to carry a few to be worth saving.
const INITIAL_WINDOW: u64 = 10;

/// What is saved of paths, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ResumeSettings {
    /// Time after which what was observed is not used any more (`RFC 9959 §4.3.1`: minutes where paths change, hours
    /// where they do not).
    pub lifetime: Span,
    /// Paths that are kept at most; the one observed longest ago goes first.
    pub max_paths: usize,
    /// `max_jump`: the window that a flow resumes is no larger, bytes.
    pub max_jump: u64,
}

impl Default for ResumeSettings {
    /// Ten minutes, 10 000 paths, windows of any size.
    fn default() -> Self {
        ResumeSettings { lifetime: Span::from_millis(600_000), max_paths: 10_000, max_jump: u64::MAX }
    }
}

impl ResumeSettings {
    /// With another lifetime.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Span) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// With another number of paths.
    #[must_use]
    pub fn with_max_paths(mut self, max_paths: usize) -> Self {
        self.max_paths = max_paths;
        self
    }

    /// With a bound on the window resumed, bytes.
    #[must_use]
    pub fn with_max_jump(mut self, max_jump: u64) -> Self {
        self.max_jump = max_jump;
        self
    }
}

/// One set of CC parameters for each key, which stands for the remote endpoint (`RFC 9959 §2.2`).
///
/// Flows that share it need times of one origin. Clones share what is saved.
pub struct SavedPaths<K>(Arc<Mutex<Store<K>>>);

struct Store<K> {
    settings: ResumeSettings,
    entries: HashMap<K, Entry>,
    /// Keys by when they were observed, and a number.
    order: BTreeMap<(Time, u64), K>,
    next: u64,
}

struct Entry {
    saved: SavedPath,
    place: (Time, u64),
    /// A flow uses it: no other may.
    is_lent: bool,
}

impl<K> Clone for SavedPaths<K> {
    fn clone(&self) -> Self {
        SavedPaths(Arc::clone(&self.0))
    }
}

impl<K> SavedPaths<K> {
    fn lock(&self) -> MutexGuard<'_, Store<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> SavedPaths<K> {
    /// Nothing saved yet.
    #[must_use]
    pub fn new(settings: ResumeSettings) -> Self {
        let (entries, order) = (HashMap::new(), BTreeMap::new());
        SavedPaths(Arc::new(Mutex::new(Store { settings, entries, order, next: 0 })))
    }

    /// How many paths are saved.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Saves what a flow observed of the path under `key` by `now`, in place of what was saved before.
    pub fn save(&self, key: &K, now: Time, saved: SavedPath) {
        self.lock().save(key, now, saved, false);
    }

    /// Forgets all, as after a change of the network's configuration (`RFC 9959 §4.3.1`).
    pub fn clear(&self) {
        let mut store = self.lock();
        store.entries.clear();
        store.order.clear();
    }

    /// `path` with what is saved of it under `key`, unless another flow uses that or it is too old (`RFC 9959 §3.2`).
    #[must_use]
    pub fn resume(&self, key: &K, path: Path) -> Path {
        let mut store = self.lock();
        let Store { settings, entries, .. } = &mut *store;
        let Some(entry) = entries.get_mut(key) else { return path };
        if path.now.since(entry.place.0) > settings.lifetime {
            store.remove(key);
            return path;
        }
        if std::mem::replace(&mut entry.is_lent, true) {
            return path;
        }
        path.with_saved(Some(entry.saved))
    }

    /// A recorder that saves under `key` what a flow on `path` observes, as it changes, and hands on to `recorder`.
    #[must_use]
    pub fn observe(&self, key: K, path: &Path, recorder: Option<Box<dyn Recorder>>) -> Box<dyn Recorder> {
        Box::new(Observer {
            paths: self.clone(),
            key,
            now: path.now,
            observation: Observation::new(INITIAL_WINDOW * u64::from(path.mtu)),
            resumes: path.saved.is_some(),
            borrows: path.saved.is_some(),
            saved: None,
            recorder,
        })
    }
}

impl<K: Hash + Eq + Clone> Store<K> {
    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.place);
        }
    }

    /// Replaces what is saved under `key` (`RFC 9959 §3.1`: one set for a remote endpoint); `gives_back` if the flow that
    /// used it does.
    fn save(&mut self, key: &K, now: Time, saved: SavedPath, gives_back: bool) {
        let is_lent = !gives_back && self.entries.get(key).is_some_and(|entry| entry.is_lent);
        self.remove(key);
        if self.settings.max_paths == 0 {
            return;
        }
        if self.entries.len() >= self.settings.max_paths {
            let oldest = self.order.pop_first();
            oldest.and_then(|(_, oldest)| self.entries.remove(&oldest));
        }
        let place = (now, self.next);
        self.next += 1;
        self.order.insert(place, key.clone());
        let saved = saved.with_max_jump(saved.max_jump.min(self.settings.max_jump));
        self.entries.insert(key.clone(), Entry { saved, place, is_lent });
    }
}

impl<K> Debug for SavedPaths<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.lock();
        f.debug_struct("SavedPaths").field("settings", &store.settings).field("len", &store.entries.len()).finish()
    }
}

/// Watches a flow.
struct Observer<K: Hash + Eq + Clone> {
    paths: SavedPaths<K>,
    key: K,
    now: Time,
    observation: Observation,
    /// Careful resume is not over.
    resumes: bool,
    /// It has what was saved, to be given back.
    borrows: bool,
    /// What it saved last.
    saved: Option<SavedPath>,
    recorder: Option<Box<dyn Recorder>>,
}

impl<K: Hash + Eq + Clone> Observer<K> {
    fn save(&mut self, saved: SavedPath) {
        self.saved = Some(saved);
        self.paths.lock().save(&self.key, self.now, saved, std::mem::take(&mut self.borrows));
    }

    #[cold]
    fn watch(&mut self, state_variables: &StateVariables<'_>) {
        let mut phase = None;
        state_variables(&mut |name, value| {
            if name == variables::PHASE {
                phase = ResumePhase::of(value);
            }
        });
        self.resumes = phase.is_some_and(|phase| phase != ResumePhase::Normal);
        // RFC 9959 §3.5: the set of saved CC parameters for the path is deleted.
        if phase == Some(ResumePhase::SafeRetreat) && self.borrows {
            self.borrows = false;
            self.paths.lock().remove(&self.key);
        }
    }
}

impl<K: Hash + Eq + Clone + Send + Sync> Recorder for Observer<K> {
    fn on_group_step(&mut self, step: GroupStep) {
        if let Some(recorder) = &mut self.recorder {
            recorder.on_group_step(step);
        }
    }

    fn record(&mut self, event: &Event, decision: &Decision, state_variables: &StateVariables<'_>) {
        self.now = event.now;
        if self.resumes {
            self.watch(state_variables);
        } else {
            // RFC 9959 §4.6: a sender that does not use careful resume any more may observe.
            self.observation.on_event(event, decision);
            if let Some(saved) = self.observation.saved().filter(|saved| Some(*saved) != self.saved) {
                self.save(saved);
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.record(event, decision, state_variables);
        }
    }
}

impl<K: Hash + Eq + Clone> Drop for Observer<K> {
    fn drop(&mut self) {
        if let Some(saved) = self.saved {
            self.save(saved);
        } else if self.borrows {
            if let Some(entry) = self.paths.lock().entries.get_mut(&self.key) {
                entry.is_lent = false;
            }
        }
    }
}

/// What a builder of flows needs of saved paths, whatever their keys.
pub(crate) trait PathMemory: Send + Sync {
    fn resume(&self, peer: &Peer<'_>, path: Path) -> Path;
    fn observe(&self, peer: &Peer<'_>, path: &Path, recorder: Option<Box<dyn Recorder>>) -> Box<dyn Recorder>;
}

impl<K, F> PathMemory for (SavedPaths<K>, F)
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    F: Fn(&Peer<'_>) -> K + Send + Sync,
{
    fn resume(&self, peer: &Peer<'_>, path: Path) -> Path {
        self.0.resume(&self.1(peer), path)
    }

    fn observe(&self, peer: &Peer<'_>, path: &Path, recorder: Option<Box<dyn Recorder>>) -> Box<dyn Recorder> {
        self.0.observe(self.1(peer), path, recorder)
    }
}

#[cfg(test)]
mod tests;
