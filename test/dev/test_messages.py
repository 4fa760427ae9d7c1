"""Messages of errors are found in the sources, and every one that can come about is in a test."""

from __future__ import annotations

from dev import messages
from dev.messages import Message


def test_every_message_is_shown_by_a_test() -> None:
    assert messages.unshown() == []


def test_fragments_of_messages_in_cpp() -> None:
    text = """
    // makeError("in a comment")
    return op->emitError("the frobnicator has too "
                         "many teeth: ") << count << " of " << most;
    HR_CHECK(x, "an invariant is no message");
    void Probe::takeError(Status why) { put("what is in the body of a definition"); }
    return makeError(ErrorKind::kUser, "the quux \\"", name, "\\" is bent");
    """
    assert [(found.line, found.fragments) for found in messages.read("passes/x.cpp", text)] == [
        (3, ("the frobnicator has too many teeth: ", " of ")),
        (7, ('the quux "', '" is bent')),
    ]


def test_fragments_of_messages_in_python() -> None:
    text = """
def f(x):
    if x:
        raise ValueError(f"the frobnicator is bent: {x}")
    raise HeadraceError("the quux is "
                        "lost", "user")
"""
    assert [(found.line, found.fragments) for found in messages.read("python/x.py", text)] == [
        (4, ("the frobnicator is bent: ",)),
        (5, ("the quux is lost", "user")),
    ]


def test_an_excuse_stands_beside_its_message() -> None:
    text = """
    return fail("the first frobnicator"); // no test: nobody has two
    return fail("the second frobnicator");
    // no test: it takes a full disk
    return fail("the third frobnicator");
    """
    assert [found.excuse for found in messages.read("runtime/x.cpp", text)] == [
        "nobody has two",
        "",
        "it takes a full disk",
    ]


def test_a_test_shows_a_message_by_a_part_that_tells_it_from_others() -> None:
    message = Message("x.cpp", 1, ("the frobnicator has too many teeth: ", " of "))
    assert message.shown("// expected-error {{frobnicator has too many teeth: 7}}")
    assert not message.shown("the frobnicator has no teeth")
    assert not message.shown("teeth: of ")
    assert Message("x.cpp", 1, ("bent \\ quux: ",)).shown("match='bent quux:")
