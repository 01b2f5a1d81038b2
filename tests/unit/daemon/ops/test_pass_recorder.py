"""What one pass came to: how far it is, and which outputs it changed."""

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET, SECRET
from syncret.daemon.core.plan.actions import Action, Verb
from syncret.daemon.engine.observer import Run
from syncret.daemon.ops.pass_recorder import PassRecorder


def ref(name: str) -> ObjectRef:
    return EXTERNAL_SECRET.ref("default", name)


def ran(name: str) -> Run:
    return Run(ref=ref(name), lane="", waited=0, seconds=0, failure=None, failures=0, next_due=None)


def secret(name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "default"},
        "data": {},
    }


def action(verb: Verb, name: str) -> Action:
    before = None if verb is Verb.CREATE else secret(name)
    return Action(verb=verb, ref=SECRET.ref("default", name), before=before, document=secret(name))


def test_progress_counts_each_object_once_when_it_is_known_how_many_there_are() -> None:
    shown: list[tuple[int, int]] = []
    recorder = PassRecorder(lambda done, total: shown.append((done, total)))
    recorder.ran(ran("early"))
    recorder.listed(3)
    for name in ("a", "b", "a", "made-meanwhile", "another"):
        recorder.ran(ran(name))
    assert shown == [(2, 3), (3, 3), (3, 3), (4, 4), (5, 5)]


def test_an_output_that_goes_with_its_owner_is_deleted_once() -> None:
    recorder = PassRecorder()
    recorder.applied(ref("a"), action(Verb.CREATE, "a"))
    recorder.applied(ref("b"), action(Verb.DELETE, "b"))
    recorder.output_removed(SECRET.ref("default", "b"), secret("b"))
    recorder.output_removed(SECRET.ref("default", "c"), secret("c"))
    assert [(each.verb, each.ref.name) for each in recorder.changes()] == [
        (Verb.CREATE, "a"),
        (Verb.DELETE, "b"),
        (Verb.DELETE, "c"),
    ]
    assert recorder.counts() == {Verb.CREATE: 1, Verb.DELETE: 2}


def test_what_comes_after_the_pass_is_not_recorded() -> None:
    shown: list[tuple[int, int]] = []
    recorder = PassRecorder(lambda done, total: shown.append((done, total)))
    recorder.listed(1)
    recorder.first_pass(0.5)
    recorder.stop()
    recorder.ran(ran("a"))
    recorder.first_pass(7.5)
    recorder.applied(ref("a"), action(Verb.CREATE, "a"))
    recorder.output_removed(SECRET.ref("default", "c"), secret("c"))
    assert (shown, recorder.changes(), recorder.seconds) == ([], [], 0.5)
