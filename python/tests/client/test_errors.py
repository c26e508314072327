"""Errors by their codes."""

import copy
import pickle

import pytest

import statepad
from statepad.errors import error_from_json


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("SESSION_NOT_FOUND", statepad.SessionNotFound),
        ("COMMIT_UNKNOWN", statepad.CommitUnknown),
        ("VALUE_NOT_JSON", statepad.ValueNotJson),
        ("LEASE_LOST", statepad.LeaseLost),
        ("A_CODE_OF_TOMORROW", statepad.StatepadError),
    ],
)
def test_an_error_of_a_server_has_the_class_of_its_code(code, kind):
    error = error_from_json({"code": code, "message": "no", "key": "k", "actual": 3, "size": "large"}, 409)
    assert type(error) is kind
    assert (error.code, error.message, error.status, error.key, error.actual) == (code, "no", 409, "k", 3)
    assert error.size is None
    assert str(error) == "no"


@pytest.mark.parametrize("json", [None, [], "no", {}, {"code": 1, "message": "no"}, {"code": "X"}])
def test_other_json_is_no_error(json):
    assert error_from_json(json) is None


def test_an_error_stays_the_same_when_it_is_pickled_or_copied():
    error = statepad.SessionStale("stale", expected=1, actual=2, status=409)
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is statepad.SessionStale
        assert repr(other) == repr(error) == "SessionStale(SESSION_STALE: 'stale', status=409, expected=1, actual=2)"


def test_faults_of_arguments_are_value_errors():
    assert issubclass(statepad.InvalidArgument, ValueError)
    assert issubclass(statepad.ValueNotJson, ValueError)
