//! The numbers by which sessions and scopes are known in the core.

/// Defines the number of an entry of the core.
macro_rules! number_of {
    ($(#[$comment:meta])* $name:ident) => {
        $(#[$comment])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The number, for a host that knows nothing but numbers.
            pub const fn number(self) -> u32 {
                self.0
            }

            /// The id with this number. A number that was never assigned names nothing.
            pub const fn of_number(number: u32) -> Self {
                Self(number)
            }

            /// The index of the entry in its list.
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id with this index in its list.
            pub(crate) fn of_index(index: usize) -> Self {
                Self(or_impossible!(u32::try_from(index).ok(), "memory holds fewer than 2^32 entries"))
            }
        }
    };
}

number_of! {
    /// The number of a session in [`Sessions`](crate::engine::Sessions). A session that is created anew gets another,
    /// unless [`Sessions::forget`](crate::engine::Sessions::forget) or
    /// [`Sessions::remove_for_good`](crate::engine::Sessions::remove_for_good) has freed the number.
    SessionId
}

number_of! {
    /// The number of a scope in [`Sessions`](crate::engine::Sessions).
    ScopeId
}
