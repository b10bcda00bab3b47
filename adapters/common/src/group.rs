//! Groups of flows to one peer: who owns the table the controllers share.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use windlass_controllers::{ConfiguredController, Member, Table, View};

use crate::GroupStep;

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
}

type WeakGroup<C> = Weak<Shared<C>>;

/// A group behind its lock.
#[derive(Debug)]
struct Shared<C: ConfiguredController> {
    group: Mutex<Group<C>>,
    /// Counts the changes of the group, so that who knows it need not lock it to see that
    /// nothing happened.
    version: AtomicU64,
}

impl<C: ConfiguredController> Shared<C> {
    /// Locks the group for reading.
    fn lock(&self) -> MutexGuard<'_, Group<C>> {
        lock(&self.group)
    }

    /// Locks the group for a step.
    fn change(&self) -> Change<'_, C> {
        Change { group: self.lock(), version: &self.version }
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

#[derive(Debug)]
struct Keys<C: ConfiguredController, K> {
    groups: HashMap<K, WeakGroup<C>>,
    created: u64,
}

impl<C: ConfiguredController, K> Clone for Groups<C, K> {
    fn clone(&self) -> Self {
        Groups { by_key: Arc::clone(&self.by_key) }
    }
}

impl<C: ConfiguredController, K> Default for Groups<C, K> {
    fn default() -> Self {
        Groups { by_key: Arc::new(Mutex::new(Keys { groups: HashMap::new(), created: 0 })) }
    }
}

impl<C: ConfiguredController, K: Hash + Eq> Groups<C, K> {
    /// A new membership in the group of `key`, which is created if this is its first member.
    pub(crate) fn join(&self, controller: &C, key: K) -> Arc<Membership<C>> {
        let mut by_key = lock(&self.by_key);
        by_key.groups.retain(|_, group| group.strong_count() > 0);
        let group = by_key.groups.get(&key).and_then(Weak::upgrade).unwrap_or_else(|| {
            let group = Mutex::new(Group::new(controller, by_key.created));
            let group = Arc::new(Shared { group, version: AtomicU64::new(0) });
            by_key.created += 1;
            by_key.groups.insert(key, Arc::downgrade(&group));
            group
        });
        let id = group.change().join();
        Arc::new(Membership { group, id })
    }

    /// How many groups have members.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.by_key).groups.values().filter(|group| group.strong_count() > 0).count()
    }

    /// Whether no group has members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads or changes the group of `key`: its weight, say. `None` if it has no members.
    pub fn with<R>(&self, key: &K, change: impl FnOnce(&mut Group<C>) -> R) -> Option<R> {
        let group = lock(&self.by_key).groups.get(key).and_then(Weak::upgrade)?;
        Some(change(&mut group.change()))
    }
}

/// A flow's place in its group; given up when dropped, however the flow ends.
#[derive(Debug)]
pub(crate) struct Membership<C: ConfiguredController> {
    group: Arc<Shared<C>>,
    id: u64,
}

impl<C: ConfiguredController> Membership<C> {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Group<C>> {
        self.group.lock()
    }

    pub(crate) fn change(&self) -> Change<'_, C> {
        self.group.change()
    }

    /// Which version of the group there is.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.group.version.load(Ordering::Acquire)
    }
}

impl<C: ConfiguredController> Drop for Membership<C> {
    fn drop(&mut self) {
        let mut group = self.group.change();
        group.members.retain(|member| member.id != self.id);
    }
}

/// A poisoned table is still a table: steps leave it whole or do not touch it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
