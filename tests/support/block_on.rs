//! Waits in a test for what is asynchronous in name: in memory nothing waits.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs to the end what never waits.
pub fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("in memory nothing waits"),
    }
}
