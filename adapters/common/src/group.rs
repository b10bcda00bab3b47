//! Groups of flows to one peer, and the table their controllers share.
//!
//! Joining takes the same time however many groups there are, and a step of a group's member is bounded, since a
//! controller may look at all members for each acknowledgement: a group has at most [`MAX_MEMBERS`].

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use windlass_controllers::{ConfiguredController, Member, Table, View};

/// The most flows of a group. Further flows of its key form another group, as if they had another key: ten thousand
/// clients behind one address cost each other as much as this many do.
pub const MAX_MEMBERS: usize = 256;

/// Ended groups that may remain in the table of keys beside as many living ones.
const MAX_ENDED: usize = 16;

/// The table of one group.
#[derive(Debug)]
pub struct Group<C: ConfiguredController> {
    /// State common to the group.
    pub shared: C::Group,
    members: Vec<Member>,
    next_id: u64,
    number: u64,
    steps: u64,
}

/// When in the life of its group a flow took a step: the result of a grouped flow
/// depends on the order of the whole group's steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "qlog", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupStep {
    /// Number of the group within its [`Groups`](crate::Groups), in the order they were created.
    pub group: u64,
    /// Number of steps that the group's flows took before this one.
    pub step: u64,
    /// The flow's [`Member::id`](windlass_controllers::Member::id).
    pub member: u64,
}

impl<C: ConfiguredController> Group<C> {
    fn new(controller: &C, number: u64) -> Self {
        Group { shared: controller.group(), members: Vec::new(), next_id: 0, number, steps: 0 }
    }

    /// The members, ascending by id.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    fn join(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.members.push(Member::new(id));
        id
    }

    fn leave(&mut self, id: u64) {
        if let Ok(index) = self.members.binary_search_by_key(&id, |member| member.id) {
            self.members.remove(index);
        }
    }

    fn index(&self, id: u64) -> usize {
        self.members.binary_search_by_key(&id, |member| member.id).unwrap_or(0)
    }

    /// Numbers the step that member `id` takes now.
    pub(crate) fn next_step(&mut self, id: u64) -> GroupStep {
        let step = GroupStep { group: self.number, step: self.steps, member: id };
        self.steps += 1;
        step
    }

    pub(crate) fn table(&mut self, id: u64) -> Table<'_, C::Group> {
        let me = self.index(id);
        Table { shared: &mut self.shared, members: &mut self.members, me }
    }

    pub(crate) fn view(&self, id: u64) -> View<'_, C::Group> {
        View { shared: &self.shared, members: &self.members, me: self.index(id) }
    }
}

/// The groups of one endpoint, by key: usually the peer's address without its port
/// (`spec: cho §2.1`). A group exists while it has members.
#[derive(Debug)]
pub struct Groups<C: ConfiguredController, K> {
    by_key: Arc<Mutex<Keys<C, K>>>,
    /// Groups that ended so far.
    ended: Arc<AtomicUsize>,
}

/// A group behind its lock.
#[derive(Debug)]
struct Shared<C: ConfiguredController> {
    group: Mutex<Group<C>>,
    /// Counts the changes of the group, so that who knows it need not lock it to see that
    /// nothing happened.
    version: AtomicU64,
    /// The thread in [`Groups::with`], as [`this_thread`] names it; 0: none.
    holder: AtomicUsize,
    /// Members dropped by that thread meanwhile.
    left: Mutex<Vec<u64>>,
    ended: Arc<AtomicUsize>,
}

/// A number of this thread that no other living one has, never 0.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl<C: ConfiguredController> Shared<C> {
    /// Locks the group for reading; `None` if this thread has it locked.
    #[inline]
    fn lock(&self) -> Option<MutexGuard<'_, Group<C>>> {
        match self.group.try_lock() {
            Ok(group) => Some(group),
            Err(TryLockError::Poisoned(group)) => Some(group.into_inner()),
            Err(TryLockError::WouldBlock) => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> Option<MutexGuard<'_, Group<C>>> {
        (self.holder.load(Ordering::Relaxed) != this_thread()).then(|| lock(&self.group))
    }

    /// Locks the group for a step; `None` if this thread has it locked.
    #[inline]
    fn change(&self) -> Option<Change<'_, C>> {
        Some(Change { group: self.lock()?, version: &self.version })
    }
}

impl<C: ConfiguredController> Drop for Shared<C> {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A locked group whose version moves on when it is unlocked.
pub(crate) struct Change<'a, C: ConfiguredController> {
    group: MutexGuard<'a, Group<C>>,
    version: &'a AtomicU64,
}

impl<C: ConfiguredController> Change<'_, C> {
    /// The version this change makes.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed).wrapping_add(1)
    }
}

impl<C: ConfiguredController> Deref for Change<'_, C> {
    type Target = Group<C>;
    #[inline]
    fn deref(&self) -> &Group<C> {
        &self.group
    }
}

impl<C: ConfiguredController> DerefMut for Change<'_, C> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Group<C> {
        &mut self.group
    }
}

/// The group is still locked, and only who holds the lock counts.
impl<C: ConfiguredController> Drop for Change<'_, C> {
    #[inline]
    fn drop(&mut self) {
        self.version.store(self.version(), Ordering::Release);
    }
}

/// Members left while this thread was in [`Groups::with`].
struct Holder<'a, C: ConfiguredController>(&'a Shared<C>, Change<'a, C>);

impl<C: ConfiguredController> Drop for Holder<'_, C> {
    fn drop(&mut self) {
        for id in lock(&self.0.left).drain(..) {
            self.1.leave(id);
        }
        self.0.holder.store(0, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Keys<C: ConfiguredController, K> {
    /// The group that new members join, and those before it that are full, while they have members.
    groups: HashMap<Arc<K>, Vec<Weak<Shared<C>>>>,
    created: u64,
    /// Groups in `groups`, those that ended included.
    kept: usize,
    /// Groups taken out of `groups`.
    removed: usize,
    /// Groups looked at to find those that ended.
    #[cfg(test)]
    visited: usize,
}

impl<C: ConfiguredController, K: Hash + Eq> Keys<C, K> {
    /// The group that a new member of `key` joins, which is created if there is none or it is `full`.
    fn of(&mut self, key: &Arc<K>, full: Option<&Shared<C>>, make: impl FnOnce(u64) -> Shared<C>) -> Arc<Shared<C>> {
        let groups = self.groups.entry(Arc::clone(key)).or_default();
        let last = groups.last().and_then(Weak::upgrade);
        if let Some(group) = last.filter(|group| full.is_none_or(|full| !std::ptr::eq(&raw const **group, full))) {
            return group;
        }
        let before = groups.len();
        groups.retain(|group| group.strong_count() > 0);
        self.removed += before - groups.len();
        self.kept -= before - groups.len();
        #[cfg(test)]
        (self.visited += before);
        let group = Arc::new(make(self.created));
        self.created += 1;
        self.kept += 1;
        groups.push(Arc::downgrade(&group));
        group
    }

    /// Takes ended groups out once they are more than the living ones, so that a join looks at two entries on average.
    fn prune(&mut self, ended: usize) {
        let ended = ended.saturating_sub(self.removed);
        if ended <= MAX_ENDED || 2 * ended <= self.kept {
            return;
        }
        let before = self.kept;
        #[cfg(test)]
        (self.visited += before);
        self.kept = 0;
        self.groups.retain(|_, groups| {
            groups.retain(|group| group.strong_count() > 0);
            self.kept += groups.len();
            !groups.is_empty()
        });
        self.removed += before - self.kept;
    }
}

impl<C: ConfiguredController, K> Clone for Groups<C, K> {
    fn clone(&self) -> Self {
        Groups { by_key: Arc::clone(&self.by_key), ended: Arc::clone(&self.ended) }
    }
}

impl<C: ConfiguredController, K> Default for Groups<C, K> {
    fn default() -> Self {
        let keys = Keys {
            groups: HashMap::new(),
            created: 0,
            kept: 0,
            removed: 0,
            #[cfg(test)]
            visited: 0,
        };
        Groups { by_key: Arc::new(Mutex::new(keys)), ended: Arc::default() }
    }
}

impl<C: ConfiguredController, K: Hash + Eq> Groups<C, K> {
    /// A new membership in the group of `key`, which is created if this is its first member, or if it has
    /// [`MAX_MEMBERS`].
    ///
    /// # Panics
    /// In [`with`](Self::with) of the same group.
    pub(crate) fn join(&self, controller: &C, key: K) -> Arc<Membership<C>> {
        let key = Arc::new(key);
        let make = |number| Shared {
            group: Mutex::new(Group::new(controller, number)),
            version: AtomicU64::new(0),
            holder: AtomicUsize::new(0),
            left: Mutex::default(),
            ended: Arc::clone(&self.ended),
        };
        let mut full: Option<Arc<Shared<C>>> = None;
        loop {
            // Never locked together with a group: who is in `with` may ask for other groups.
            let mut keys = lock(&self.by_key);
            keys.prune(self.ended.load(Ordering::Relaxed));
            let shared = keys.of(&key, full.as_deref(), make);
            drop(keys);
            let mut group = shared.change().expect("no flow joins a group inside Groups::with");
            if group.members.len() < MAX_MEMBERS {
                let id = group.join();
                drop(group);
                return Arc::new(Membership { group: shared, id, holders: AtomicUsize::new(1) });
            }
            drop(group);
            full = Some(shared);
        }
    }

    /// Number of groups that have members.
    #[must_use]
    pub fn len(&self) -> usize {
        let keys = lock(&self.by_key);
        (keys.kept + keys.removed).saturating_sub(self.ended.load(Ordering::Relaxed))
    }

    /// Whether no group has members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads or changes the group of `key`: its weight, say. `None` if it has no members. If the key has more than
    /// [`MAX_MEMBERS`] flows, it is the group that the next one joins.
    ///
    /// Meanwhile the group is locked. What this thread asks of its members is answered all the same: a decision is
    /// that of the member's latest event, state variables are not visited, a member that is dropped leaves
    /// without an event of its controller.
    ///
    /// # Panics
    /// `change` passes an event to a member, has a flow join the group, or calls this for the same group.
    pub fn with<R>(&self, key: &K, change: impl FnOnce(&mut Group<C>) -> R) -> Option<R> {
        let shared = lock(&self.by_key).groups.get(key).and_then(|groups| groups.last()?.upgrade())?;
        let group = shared.change().expect("Groups::with is not called inside itself for the same group");
        shared.holder.store(this_thread(), Ordering::Relaxed);
        let mut holder = Holder(&shared, group);
        Some(change(&mut holder.1))
    }
}

/// A flow's place in its group; given up when dropped, however the flow ends.
#[derive(Debug)]
pub(crate) struct Membership<C: ConfiguredController> {
    group: Arc<Shared<C>>,
    id: u64,
    /// Flows with this membership: one, and its clones.
    holders: AtomicUsize,
}

impl<C: ConfiguredController> Membership<C> {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Another flow holds it.
    pub(crate) fn hold(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// A flow leaves. Returns true for the last one, which exactly one flow is.
    pub(crate) fn release(&self) -> bool {
        self.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// `None` inside [`Groups::with`].
    pub(crate) fn lock(&self) -> Option<MutexGuard<'_, Group<C>>> {
        self.group.lock()
    }

    /// `None` inside [`Groups::with`].
    #[inline]
    pub(crate) fn change(&self) -> Option<Change<'_, C>> {
        self.group.change()
    }

    /// Number of changes of the group so far.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.group.version.load(Ordering::Acquire)
    }
}

impl<C: ConfiguredController> Drop for Membership<C> {
    fn drop(&mut self) {
        match self.group.change() {
            Some(mut group) => group.leave(self.id),
            None => lock(&self.group.left).push(self.id),
        }
    }
}

/// A poisoned table is still a table: steps leave it whole or do not touch it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
