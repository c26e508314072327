//! The host that services use by default: the operating system, or JavaScript.

use crate::native::host::Host;
use crate::native::in_memory::InMemorySessionService;

/// The clock and the randomness of the operating system; of JavaScript on `wasm32-unknown-unknown`, where the feature
/// `js` is needed for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemHost;

impl Default for InMemorySessionService {
    fn default() -> Self {
        Self::with_host(SystemHost)
    }
}

impl InMemorySessionService {
    /// Starts with no sessions, with [`SystemHost`].
    pub fn new() -> Self {
        Self::default()
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl Host for SystemHost {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn now(&self) -> f64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        (since.as_secs_f64() * 1000.0).floor()
    }

    fn new_id(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod javascript {
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
        fn fill(bytes: &mut [u8]);
    }

    impl super::Host for super::SystemHost {
        fn now(&self) -> f64 {
            js_sys::Date::now()
        }

        /// A UUID of version 4: random but for the version and the variant.
        fn new_id(&self) -> String {
            let mut bytes = [0; 16];
            fill(&mut bytes);
            bytes[6] = bytes[6] & 0x0f | 0x40;
            bytes[8] = bytes[8] & 0x3f | 0x80;
            let mut id = String::with_capacity(36);
            for (place, byte) in bytes.into_iter().enumerate() {
                if matches!(place, 4 | 6 | 8 | 10) {
                    id.push('-');
                }
                for digit in [byte >> 4, byte & 0x0f] {
                    id.extend(char::from_digit(u32::from(digit), 16));
                }
            }
            id
        }
    }
}
