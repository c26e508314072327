//! A sorted list in chunks: finding, inserting and removing move few items, and a place is found by counting chunks.

use crate::ids::SessionId;

/// The most items of a chunk. One that is full is split in two.
const FULL: usize = 512;

/// Sessions in an order that the callers know.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// None is empty.
    chunks: Vec<Vec<SessionId>>,
    len: usize,
}

/// A place in the list, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    chunk: usize,
    item: usize,
}

impl Sorted {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The place of the first item that does not come before. Those that come before must stand before all others.
    #[inline(never)]
    pub fn find(&self, comes_before: &dyn Fn(SessionId) -> bool) -> Place {
        let comes_before = |item: &SessionId| comes_before(*item);
        let after = self.chunks.partition_point(|chunk| chunk.first().is_some_and(comes_before));
        let Some(chunk) = after.checked_sub(1) else {
            return Place { chunk: 0, item: 0 };
        };
        let items =
            or_impossible!(self.chunks.get(chunk).map(Vec::as_slice), "it is a chunk before another, or the last");
        let item = items.partition_point(comes_before);
        if item < items.len() { Place { chunk, item } } else { Place { chunk: after, item: 0 } }
    }

    /// The number of items before a place.
    #[inline(never)]
    pub fn rank(&self, place: Place) -> usize {
        self.chunks.iter().take(place.chunk).map(Vec::len).sum::<usize>() + place.item
    }

    /// The place before which so many items stand.
    #[inline(never)]
    pub fn place(&self, rank: usize) -> Place {
        let mut item = rank;
        for (chunk, items) in self.chunks.iter().enumerate() {
            if item < items.len() {
                return Place { chunk, item };
            }
            item -= items.len();
        }
        Place { chunk: self.chunks.len(), item: 0 }
    }

    /// The item at a place; none, at the end.
    #[inline(never)]
    pub fn get(&self, place: Place) -> Option<SessionId> {
        self.chunks.get(place.chunk)?.get(place.item).copied()
    }

    /// The place after one that is not the end.
    #[inline(never)]
    pub fn next(&self, Place { chunk, item }: Place) -> Place {
        let is_last = self.chunks.get(chunk).is_none_or(|items| item + 1 >= items.len());
        if is_last { Place { chunk: chunk + 1, item: 0 } } else { Place { chunk, item: item + 1 } }
    }

    /// The place before one; none, at the beginning.
    pub fn previous(&self, Place { chunk, item }: Place) -> Option<Place> {
        if item > 0 {
            return Some(Place { chunk, item: item - 1 });
        }
        let chunk = chunk.checked_sub(1)?;
        let before = or_impossible!(self.chunks.get(chunk), "it is a chunk before another, or the last", return None);
        Some(Place { chunk, item: before.len() - 1 })
    }

    /// Inserts an item before the first that does not come before it.
    pub fn insert(&mut self, session: SessionId, comes_before: &dyn Fn(SessionId) -> bool) {
        let Place { chunk, item } = self.find(comes_before);
        self.len += 1;
        // An item that would begin a chunk goes to the end of the one before: most items come to the end of the list.
        let (chunk, item) = match chunk.checked_sub(1).and_then(|before| self.chunks.get(before)) {
            Some(before) if item == 0 && (before.len() < FULL || chunk < self.chunks.len()) => {
                (chunk - 1, before.len())
            }
            _ => (chunk, item),
        };
        match self.chunks.get_mut(chunk) {
            None => self.chunks.push(vec![session]),
            Some(items) if items.len() < FULL => items.insert(item, session),
            Some(items) => {
                let mut second = items.split_off(FULL / 2);
                if item <= FULL / 2 {
                    items.insert(item, session);
                } else {
                    second.insert(item - FULL / 2, session);
                }
                self.chunks.insert(chunk + 1, second);
            }
        }
    }

    /// Removes an item, which must be the first that does not come before.
    pub fn remove(&mut self, session: SessionId, comes_before: &dyn Fn(SessionId) -> bool) {
        let place @ Place { chunk, item } = self.find(comes_before);
        if self.get(place) != Some(session) {
            return;
        }
        self.len -= 1;
        self.chunks[chunk].remove(item);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        }
        // Small neighbours become one, so that there are never more than a few chunks for each that would be full.
        let size = |chunk: usize| self.chunks.get(chunk).map_or(FULL, Vec::len);
        let is_small = |first: &usize| size(*first) + size(first + 1) <= FULL / 2;
        if let Some(first) = [Some(chunk), chunk.checked_sub(1)].into_iter().flatten().find(is_small) {
            let second = self.chunks.remove(first + 1);
            self.chunks[first].extend(second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(list: &Sorted) -> Vec<u32> {
        let mut place = list.place(0);
        let mut items = Vec::new();
        while let Some(item) = list.get(place) {
            assert_eq!(list.rank(place), items.len());
            assert_eq!(list.place(items.len()), place);
            items.push(item.number());
            place = list.next(place);
        }
        let mut back = Vec::new();
        while let Some(before) = list.previous(place) {
            back.extend(list.get(before).map(SessionId::number));
            place = before;
        }
        back.reverse();
        assert_eq!(back, items);
        assert_eq!(list.len(), items.len());
        items
    }

    #[test]
    fn what_is_inserted_in_any_order_is_sorted_and_what_is_removed_is_gone() {
        for step in [1, 997, 2000] {
            let mut list = Sorted::default();
            for number in 0..2001 {
                let item = SessionId::of_number(number * step % 2001);
                list.insert(item, &|other| other < item);
            }
            assert_eq!(items(&list), (0..2001).collect::<Vec<_>>());
            let target = SessionId::of_number(1234);
            assert_eq!(list.get(list.find(&|other| other < target)), Some(target));
            assert_eq!(
                (list.get(list.find(&|_| true)), list.get(list.find(&|_| false))),
                (None, Some(SessionId::of_number(0)))
            );
            for number in 0..2001 {
                let item = SessionId::of_number(number * step % 2001);
                if !item.number().is_multiple_of(40) {
                    list.remove(item, &|other| other < item);
                    list.remove(item, &|other| other < item);
                }
            }
            assert_eq!(items(&list), (0..=2000).step_by(40).collect::<Vec<_>>());
            assert_eq!(list.chunks.len(), 1);
        }
    }

    #[test]
    fn a_list_that_grows_at_its_end_has_full_chunks() {
        let mut list = Sorted::default();
        for item in (0..10 * FULL).map(SessionId::of_index) {
            list.insert(item, &|other| other < item);
        }
        assert_eq!(list.chunks.len(), 10);
        assert!(items(&Sorted::default()).is_empty());
    }
}
