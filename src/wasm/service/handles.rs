//! Session handles: plain objects whose state, events, time and revision are brought up to date when an event is
//! appended through them. Everything else in them stays as it was read.

use js_sys::{Array, Function, Map, Object, Set, WeakMap};
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::event::{EventDraft, TempDelta};
use super::host::{Answer, Attributes, deep_freeze, define, parse, parse_frozen};
use super::memory::Memory;
use super::requests::EventWindow;
use crate::ids::SessionId;
use crate::session_log::SessionLog;

/// The number of invocations that a handle remembers: those that alternate on it. As in the package.
const MAX_INVOCATIONS: u32 = 64;

/// A member that callers cannot write, and that is brought up to date here.
const SHOWN: Attributes = Attributes { enumerable: true, configurable: true, writable: false };
/// A member that nobody can write.
const FIXED: Attributes = Attributes { enumerable: true, configurable: false, writable: false };

#[wasm_bindgen]
extern "C" {
    /// The internal side of a handle: the creation of its session, its events, its `temp:` keys and its lease.
    #[wasm_bindgen(extends = Object)]
    #[derive(Debug)]
    pub(super) type View;

    /// The id of the creation of its session.
    #[wasm_bindgen(method, getter)]
    pub(super) fn created(this: &View) -> String;
    #[wasm_bindgen(method, setter)]
    fn set_created(this: &View, created: &str);

    /// The events that it showed when it was read, unless they are all.
    #[wasm_bindgen(method, getter)]
    fn window(this: &View) -> Option<Array>;
    #[wasm_bindgen(method, setter)]
    fn set_window(this: &View, window: Option<&Array>);

    /// The number of events of the session at that read: all later ones are visible.
    #[wasm_bindgen(method, getter)]
    fn length(this: &View) -> u32;
    #[wasm_bindgen(method, setter)]
    fn set_length(this: &View, length: u32);

    /// The `temp:` keys of the current invocation.
    #[wasm_bindgen(method, getter)]
    fn temp(this: &View) -> Option<Map>;
    #[wasm_bindgen(method, setter)]
    fn set_temp(this: &View, temp: Option<&Map>);

    /// The token of the lease that is written under.
    #[wasm_bindgen(method, getter)]
    pub(super) fn fence(this: &View) -> Option<f64>;
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_fence(this: &View, fence: Option<f64>);

    /// The lease is being given back: a write that is asked for now is written after that.
    #[wasm_bindgen(method, getter)]
    fn releasing(this: &View) -> Option<bool>;
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_releasing(this: &View, releasing: bool);

    /// The token of the last lease that was given back.
    #[wasm_bindgen(method, getter)]
    pub(super) fn released(this: &View) -> Option<f64>;
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_released(this: &View, released: Option<f64>);

    /// The reason for which that lease is lost, once it is known: the handle writes nothing any more, under another
    /// lease neither.
    #[wasm_bindgen(method, getter)]
    pub(super) fn loss(this: &View) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_loss(this: &View, loss: &JsValue);

    /// The function to call when the loss of that lease becomes known.
    #[wasm_bindgen(method, getter)]
    pub(super) fn on_loss(this: &View) -> Option<Function>;
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_on_loss(this: &View, on_loss: Option<&Function>);

    /// The invocations that it has seen, as far as it remembers them.
    #[wasm_bindgen(method, getter)]
    fn invocations(this: &View) -> Set;
    #[wasm_bindgen(method, setter)]
    fn set_invocations(this: &View, invocations: &Set);

    /// The last of them.
    #[wasm_bindgen(method, getter)]
    fn invocation(this: &View) -> Option<String>;
    #[wasm_bindgen(method, setter)]
    fn set_invocation(this: &View, invocation: &str);
}

/// The lease that a write carries: it is that of its handle when the write is asked for, whatever becomes of it until
/// the write has the permit.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteLease {
    pub(super) fence: f64,
    /// The lease was being given back at that time: once it is, the write needs none.
    pub(super) is_after: bool,
}

impl View {
    /// The lease that a write carries that is asked for now.
    pub(super) fn write_lease(&self) -> Option<WriteLease> {
        self.fence().map(|fence| WriteLease { fence, is_after: self.releasing().unwrap_or_default() })
    }
}

/// A handle that is written through.
#[derive(Debug)]
pub(super) struct Through {
    pub(super) session: JsValue,
    pub(super) view: View,
    pub(super) write_lease: Option<WriteLease>,
}

impl Through {
    /// A handle, for a write that is asked for now.
    pub(super) fn of(session: JsValue, view: View) -> Self {
        let write_lease = view.write_lease();
        Self { session, view, write_lease }
    }
}

/// The handles of a service, and what each remembers. It keeps none of them alive.
#[derive(Debug, Default)]
pub(super) struct Handles(WeakMap);

impl Handles {
    /// A new handle of a session as it is now.
    pub(super) fn open(&self, memory: &Memory, id: SessionId, window: EventWindow) -> Answer<JsValue> {
        let Some(key) = memory.sessions.log(id).map(SessionLog::key) else {
            return Ok(JsValue::UNDEFINED);
        };
        let view = Object::new().unchecked_into::<View>();
        view.set_created(memory.created(id));
        let shows_all = window.since.is_none() && window.last.is_none();
        view.set_window((!shows_all).then(|| memory.events_in(id, window)).as_ref());
        view.set_length(memory.length(id));
        view.set_invocations(&Set::new(&JsValue::UNDEFINED));
        let handle = Object::new();
        for (name, value) in [("id", &key.session_id), ("appName", &key.app_name), ("userId", &key.user_id)] {
            define(&handle, &name.into(), &value.into(), &FIXED);
        }
        Self::refresh(memory, id, &handle, &view)?;
        Object::prevent_extensions(&handle);
        self.0.set(&handle, &view);
        Ok(handle.into())
    }

    /// The view of a handle of this service; nothing for any other object.
    pub(super) fn view(&self, session: &JsValue) -> Option<View> {
        let view = self.0.get(session.dyn_ref()?);
        (!view.is_undefined()).then(|| view.unchecked_into())
    }

    /// Shows on a handle what its session is now.
    pub(super) fn refresh(memory: &Memory, id: SessionId, handle: &Object, view: &View) -> Answer<()> {
        let Some(log) = memory.sessions.log(id) else {
            return Ok(());
        };
        let state = parse(&memory.state_json(id))?;
        if let (Some(temp), Some(state)) = (view.temp(), state.dyn_ref()) {
            temp.for_each(&mut |value, key| define(state, &key, &value, &SHOWN));
        }
        deep_freeze(&state);
        let later = |window: Array| window.concat(&memory.events_from(id, view.length()));
        let events = view.window().map_or_else(|| memory.events_from(id, 0), later);
        Object::freeze(&events);
        #[expect(clippy::cast_precision_loss, reason = "no session has so many events")]
        let revision = log.revision() as f64;
        let shown: [(&str, &JsValue); 4] = [
            ("state", &state),
            ("events", &events),
            ("lastUpdateTime", &log.update_time().into()),
            ("revision", &revision.into()),
        ];
        for (name, value) in shown {
            define(handle, &name.into(), value, &SHOWN);
        }
        // A session expires from its creation on, or never.
        if let Some(lifetime) = memory.lifetime(id) {
            define(handle, &"expireTime".into(), &lifetime.expires.into(), &SHOWN);
        }
        Ok(())
    }
}

impl View {
    /// Shows the `temp:` keys of an event on the handle that it came through. A user's event may begin an invocation.
    /// The same rules as in the package (pkg/src/session/temp-values.ts).
    pub(super) fn show_temp(&self, event: &EventDraft, temp: &TempDelta) -> Answer<()> {
        if self.invocation().as_deref() != Some(event.invocation_id()) {
            self.enter(event.invocation_id(), event.author() == Some("user"));
        }
        if temp.set.is_empty() && temp.unset.is_empty() {
            return Ok(());
        }
        let shown = self.temp().unwrap_or_default();
        for (key, value) in &temp.set {
            shown.set(&key.into(), &frozen(value)?);
        }
        for key in &temp.unset {
            shown.delete(&key.into());
        }
        self.set_temp(Some(&shown));
        Ok(())
    }

    /// The `temp:` keys that an event finds on the handle that it comes through.
    pub(super) fn temp_before(&self, event: &EventDraft) -> Option<Map> {
        let is_of_user = event.author() == Some("user");
        let is_current = self.invocation().as_deref() == Some(event.invocation_id());
        self.temp().filter(|_| is_current || !self.begins_anew(event.invocation_id(), is_of_user))
    }

    fn begins_anew(&self, invocation: &str, is_of_user: bool) -> bool {
        let seen = self.invocations();
        is_of_user && !seen.has(&invocation.into()) && seen.size() > 0
    }

    fn enter(&self, invocation: &str, is_of_user: bool) {
        let (seen, id) = (self.invocations(), JsValue::from(invocation));
        if self.begins_anew(invocation, is_of_user) {
            self.set_temp(None);
        }
        // The last one goes to the end; the one that was seen longest ago is forgotten.
        seen.delete(&id);
        seen.add(&id);
        if seen.size() > MAX_INVOCATIONS
            && let Ok(oldest) = seen.values().next()
        {
            seen.delete(&oldest.value());
        }
        self.set_invocation(invocation);
    }
}

fn frozen(value: &Value) -> Answer<JsValue> {
    parse_frozen(&value.to_string())
}
