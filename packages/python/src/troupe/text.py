"""The text of a turn while it is written."""

from __future__ import annotations

from .events import OutputTextDelta, SessionEvent, TurnCompleted, TurnFailed, TurnRestarted, TurnStarted


class TurnText:
    """Text of the newest turn. After a restart, what was shown stays until the new attempt differs or says more."""

    def __init__(self) -> None:
        self.shown = ""
        self._text = ""

    def apply(self, event: SessionEvent) -> str:
        """Applies an event of the log, and returns what to show."""
        if isinstance(event, OutputTextDelta):
            self._text += event.delta
            if not self.shown.startswith(self._text):
                self.shown = self._text
        elif isinstance(event, TurnRestarted):
            self._text = ""
        elif isinstance(event, TurnStarted):
            self.shown = self._text = ""
        elif isinstance(event, TurnCompleted):
            self.shown = self._text = event.output
        elif isinstance(event, TurnFailed):
            self.shown = self._text = event.output["text"]
        return self.shown
