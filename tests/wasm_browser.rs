//! The binding in a browser: `wasm-pack test --headless --chrome -- --test wasm_browser`.
#![cfg(target_arch = "wasm32")]

mod wasm;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
