//! The scope of a key. The only place that spells a prefix.

/// The prefix of keys shared by all users of an app.
pub const KEY_PREFIX_APP: &str = "app:";
/// The prefix of keys shared by all sessions of a user in an app.
pub const KEY_PREFIX_USER: &str = "user:";
/// The prefix of keys that live for one invocation and are never stored.
pub const KEY_PREFIX_TEMP: &str = "temp:";

/// The scope of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// This session; no prefix.
    Session,
    /// All users of the app; `app:`.
    App,
    /// All sessions of the user in the app; `user:`.
    User,
    /// One invocation, never stored; `temp:`.
    Temp,
}

impl Scope {
    const PREFIXED: [Self; 3] = [Self::App, Self::User, Self::Temp];

    /// The prefix that keys of this scope carry.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Session => "",
            Self::App => KEY_PREFIX_APP,
            Self::User => KEY_PREFIX_USER,
            Self::Temp => KEY_PREFIX_TEMP,
        }
    }

    /// Splits a key into its scope and its name. One prefix is taken off, exactly as spelled.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::Scope;
    ///
    /// assert_eq!(Scope::split("user:theme"), (Scope::User, "theme"));
    /// assert_eq!(Scope::split("app:user:x"), (Scope::App, "user:x"));
    /// assert_eq!(Scope::split("APP:x"), (Scope::Session, "APP:x"));
    /// ```
    pub fn split(key: &str) -> (Self, &str) {
        for scope in Self::PREFIXED {
            if let Some(name) = key.strip_prefix(scope.prefix()) {
                return (scope, name);
            }
        }
        (Self::Session, key)
    }

    /// The key of a name in this scope: the reverse of [`Scope::split`].
    pub fn key(self, name: &str) -> String {
        let mut key = String::from(self.prefix());
        key.push_str(name);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exact_prefix_is_taken_off() {
        for (key, scope, name) in [
            ("app:", Scope::App, ""),
            ("app", Scope::Session, "app"),
            ("", Scope::Session, ""),
            ("temp:app:x", Scope::Temp, "app:x"),
            ("other:x", Scope::Session, "other:x"),
            (" app:x", Scope::Session, " app:x"),
            ("User:x", Scope::Session, "User:x"),
        ] {
            assert_eq!(Scope::split(key), (scope, name));
            assert_eq!(scope.key(name), key);
        }
    }
}
