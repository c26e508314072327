use super::*;

#[test]
fn a_service_can_be_printed() {
    let service = InMemorySessionService::new();
    assert!(format!("{service:?}").starts_with("InMemorySessionService { memory: "));
}
