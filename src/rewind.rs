//! Rewinding: which events of a log stand, where a rewind goes, and what a redo takes back.
//!
//! Nothing is ever taken out of a log. A rewind is one more event, the marker, that names an invocation; readers of
//! the log walk over it backwards, and jump at a marker to before the first event of the invocation that it names. A
//! redo is a rewind before the invocation of a marker, by which the walk comes to what that one had jumped over.

use std::sync::Arc;

use crate::maps::Index;

/// The events of a log, as far as rewinding is concerned. An invocation goes by the place of its first event, from 0.
///
/// # Examples
///
/// ```
/// use statepad::engine::Timeline;
///
/// let timeline = Timeline::of([(Some("i1"), None), (Some("i2"), None), (Some("undo"), Some("i2"))]);
/// assert_eq!(timeline.effective(), [0]);
/// assert_eq!(timeline.redo().map(|back| (back.to, back.concerned)), Some((2, vec![1])));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    steps: Vec<Step>,
}

/// One event.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The place of the first event of its invocation, when it names one.
    invocation: Option<usize>,
    /// Of a marker: how many events are before the place that it jumps to.
    to: Option<usize>,
}

/// The plan of a rewind, or of a redo.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewind {
    /// The number of events in the log at the moment that comes back: the state of that revision is restored. The
    /// marker names the invocation of the event at this place.
    pub to: usize,
    /// The places of the events that do not stand any more by it, or stand again, in order.
    pub concerned: Vec<usize>,
}

impl Timeline {
    /// Without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// A log whose events name their invocations and, where they are markers, the one that they rewind before.
    pub fn of<'a>(events: impl IntoIterator<Item = (Option<&'a str>, Option<&'a str>)>) -> Self {
        let (mut timeline, mut first) = (Self::new(), Index::new());
        for (place, (invocation, before)) in events.into_iter().enumerate() {
            let before = before.map(|before| first.get(before).unwrap_or(place));
            let invocation = invocation.map(|invocation| {
                first.get(invocation).unwrap_or_else(|| {
                    first.insert(Arc::from(invocation), place);
                    place
                })
            });
            timeline.push(invocation, before);
        }
        timeline
    }

    /// Adds the next event: the invocation that it belongs to and, of a marker, the one that it rewinds before. One
    /// that no earlier event belongs to goes by the place of this event: then the marker jumps over nothing.
    pub fn push(&mut self, invocation: Option<usize>, before: Option<usize>) {
        self.steps.push(Step { invocation, to: before });
    }

    /// The places of the events that stand, in order. Markers are not among them. The time is linear in the log.
    pub fn effective(&self) -> Vec<usize> {
        places(&self.standing(self.steps.len()))
    }

    /// Of each event whether it stood when the log had so many.
    #[inline(never)]
    fn standing(&self, count: usize) -> Vec<bool> {
        let mut standing = vec![false; self.steps.len()];
        let mut end = count;
        while let Some((step, place)) = self.step_before(end) {
            standing[place] = step.to.is_none();
            end = step.to.map_or(place, |to| to.min(place));
        }
        standing
    }

    /// The last one of so many events, and its place.
    fn step_before(&self, end: usize) -> Option<(Step, usize)> {
        let place = end.checked_sub(1)?;
        self.steps.get(place).map(|step| (*step, place))
    }

    /// Plans a rewind before an invocation; `None` when no event that stands belongs to it. When the invocation had
    /// begun earlier, in events that do not stand, the rewind goes to before these: so do the readers of the log.
    pub fn rewind(&self, before: usize) -> Option<Rewind> {
        let standing = self.standing(self.steps.len());
        let mut steps = self.steps.iter().zip(&standing);
        steps.any(|(step, stands)| *stands && step.invocation == Some(before)).then(|| self.going(before))
    }

    /// Plans to take back the last rewind; `None` when an event has been appended since, or when all of them have been
    /// taken back.
    pub fn redo(&self) -> Option<Rewind> {
        let mut end = self.steps.len();
        while let Some((step, place)) = self.step_before(end) {
            let to = step.to?;
            // A marker that names a marker has taken it back.
            if to >= place || self.steps.get(to)?.to.is_none() {
                // It can be named if it is the first of its invocation.
                return (step.invocation == Some(place)).then(|| self.going(place));
            }
            end = to;
        }
        None
    }

    /// Going back to so many events.
    #[inline(never)]
    fn going(&self, to: usize) -> Rewind {
        let mut changes = self.standing(self.steps.len());
        for (changes, stood) in changes.iter_mut().zip(self.standing(to)) {
            *changes ^= stood;
        }
        Rewind { to, concerned: places(&changes) }
    }
}

/// The places at which it is so.
#[inline(never)]
fn places(all: &[bool]) -> Vec<usize> {
    (0..all.len()).filter(|&place| all[place]).collect()
}
