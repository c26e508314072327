//! The binding under Node: `wasm-pack test --node -- --test wasm_node`.
#![cfg(target_arch = "wasm32")]

mod wasm;
