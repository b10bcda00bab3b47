"""What an object needs to be a congestion controller."""

from typing import Protocol, TypeVar, runtime_checkable

from ._native import Decision, Event, Path

State = TypeVar("State")


@runtime_checkable
class Controller(Protocol[State]):
    """A congestion controller in Python, as ``run(controller=…)`` takes it beside those of the catalogue.

    Three functions over plain data, as every controller here is: no clock and no globals, so that equal seeds give
    equal runs. The object holds the parameters; what changes is in the state that ``start`` makes for each flow. It
    need not inherit from this class.

    Its name in results is its attribute ``name``, or that of its class: ``MyReno`` is my-reno. With an attribute
    ``needs`` it asks for signals beyond acknowledgements and losses, by the names that ``controllers()`` has for them;
    with a true ``wants_packet_sent`` it gets an event for each packet sent.
    """

    def start(self, path: Path) -> State:
        """The state of a new flow on ``path``."""
        ...

    def step(self, state: State, event: Event) -> None:
        """Takes ``event`` into the state, in place."""
        ...

    def decide(self, state: State) -> Decision:
        """What the flow may do now; changes nothing."""
        ...
