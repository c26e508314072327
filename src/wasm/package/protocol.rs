//! The numbers and the bits by which the host and the module understand each other. They are spelled here alone: the
//! host reads them from the frozen objects that wasm-bindgen makes of these.

#![expect(clippy::float_cmp, reason = "wasm-bindgen compares what JavaScript gives for an enum")]

use wasm_bindgen::prelude::*;

/// The parts of a word that names a key in a delta: the scope, the number of the key above it, and whether the key is
/// deleted.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum KeyWord {
    /// The scope of a key of the session.
    Session = 0,
    /// The scope of an `app:` key.
    App = 1,
    /// The scope of a `user:` key.
    User = 2,
    /// The scope of a `temp:` key, and all bits of the scope.
    Temp = 3,
    /// The bit of a deletion.
    Deleted = 0x8000_0000,
}

/// The number of bits below a number that shares its word.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Shift {
    /// Below the number of a key, in a word that names one.
    Key = 2,
    /// Below a token, in the answer of a `prepare` method.
    Token = 4,
}

/// The scopes of a change, as bits.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum ScopeBit {
    /// The session's own values; and the event.
    Session = 1,
    /// The app's values.
    App = 2,
    /// The user's values.
    User = 4,
    /// `temp:` keys.
    Temp = 8,
}

/// The answer of a call that refuses, where an exception would take longer than the call itself.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum Answer {
    /// `error_text` says why.
    Refused = -2_147_483_648,
}

/// The outcome of a change, as bits.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Outcome {
    /// After the writes the session's values have moved down over the holes, in order.
    CompactedSession = 1,
    /// The app's have.
    CompactedApp = 2,
    /// The user's have.
    CompactedUser = 4,
    /// So many keys have come and gone that it is time to ask which are not used any more.
    KeysDue = 8,
    /// Nothing has happened: `error_text` says why.
    Failed = 16,
    /// The session was there.
    WasThere = 32,
    /// The app has neither sessions nor values any more: its scope's number names another scope from now on.
    DroppedApp = 64,
    /// The user has not.
    DroppedUser = 128,
}

/// The places in the words of what a call answers with.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Words {
    /// The session.
    Session = 0,
    /// The scopes: the session's own, the app's and the user's.
    Scopes = 1,
    /// The place of each write, in the order of the delta.
    Places = 4,
}

/// The places in the words of what a list answers with.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum PageWords {
    /// The number of sessions before the page.
    Offset = 0,
    /// The number of sessions in all.
    Total = 1,
    /// The sessions of the page.
    Sessions = 2,
}

/// The places of numbers that may have fractions or be large.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Floats {
    /// The time of a change.
    Time = 0,
    /// The revision that the session must have; below 0, when it does not matter, as of the next two.
    Revision = 1,
    /// The version that the app's values must have.
    AppVersion = 2,
    /// The version that the user's values must have.
    UserVersion = 3,
    /// The revision that was expected, of an error; below 0, when it tells none.
    Expected = 4,
    /// The revision that the session has, of such an error.
    Actual = 5,
}

/// The texts of an error.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum ErrorText {
    /// Its code.
    Code = 0,
    /// The fault, and what to do about it.
    Message = 1,
    /// The state key concerned.
    Key = 2,
    /// The id of the session or event concerned.
    Id = 3,
}

/// In the place of a number that is not there.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Absent {
    /// No session, scope, place, value or key.
    Number = 0xffff_ffff,
}

/// In the place of a number that is not there.
pub(super) const NOTHING: u32 = Absent::Number as u32;
