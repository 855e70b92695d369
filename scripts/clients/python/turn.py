"""A turn of a session with the client that openapi-python-client made."""

import importlib
import os
import pkgutil

import client
from client import AuthenticatedClient
from client.api.sessions import sessions_create, sessions_events, sessions_get, sessions_turns
from client.models import CreatedSession, Session, SessionsCreateRequest, SessionsEventsAnswer, TurnRequest

for module in pkgutil.walk_packages(client.__path__, "client."):
    importlib.import_module(module.name)

troupe = AuthenticatedClient(base_url=os.environ["TROUPE_URL"], token=os.environ["TROUPE_KEY"])

created = sessions_create.sync(client=troupe, body=SessionsCreateRequest())
assert isinstance(created, CreatedSession), created

turn = sessions_turns.sync_detailed(created.id, client=troupe, body=TurnRequest(input_="Say hello"))
assert turn.status_code == 200, turn
assert b"event: turn.completed" in turn.content, turn.content

session = sessions_get.sync(created.id, client=troupe)
assert isinstance(session, Session) and session.turn_count == 1, session

log = sessions_events.sync(created.id, client=troupe)
assert isinstance(log, SessionsEventsAnswer) and log.data[-1].event_type == "turn.completed", log

missing = sessions_get.sync("ses_unknown", client=troupe)
assert missing.error.code == "not_found", missing
