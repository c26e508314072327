//! Sessions in order, a page at a time.

mod index;
mod page;
mod query;
mod sort_key;
mod sorted;

pub use query::{ListQuery, Page, Start};

pub(crate) use index::ListIndex;
pub(crate) use page::Pages;
pub(crate) use sort_key::SortKey;
pub(crate) use sorted::Sorted;
