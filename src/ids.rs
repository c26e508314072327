//! The numbers of slots, by which sessions and scopes are known in the core.

/// Defines the number of a slot.
macro_rules! slot_number {
    ($(#[$comment:meta])* $name:ident) => {
        $(#[$comment])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The number, for a host that knows nothing but numbers.
            pub const fn number(self) -> u32 {
                self.0
            }

            /// What has this number. One that was never given names nothing.
            pub const fn of_number(number: u32) -> Self {
                Self(number)
            }

            /// The place in the list of slots.
            pub(crate) const fn slot(self) -> usize {
                self.0 as usize
            }

            /// What has this place in the list of slots.
            pub(crate) fn of_slot(slot: usize) -> Self {
                Self(or_impossible!(u32::try_from(slot).ok(), "memory holds fewer than 2^32 slots"))
            }
        }
    };
}

slot_number! {
    /// Names a session in [`Sessions`](crate::engine::Sessions): the number of its slot. A session that is created anew
    /// gets another, unless [`Sessions::forget`](crate::engine::Sessions::forget) or
    /// [`Sessions::remove_for_good`](crate::engine::Sessions::remove_for_good) has freed the slot.
    SessionId
}

slot_number! {
    /// Names a scope in [`Sessions`](crate::engine::Sessions): the number of its slot.
    ScopeId
}
