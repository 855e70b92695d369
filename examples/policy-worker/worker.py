"""The worker of worker.ts in Python: it decides about small and large refunds, and leaves the others to people."""

import os
import time

from troupe import Troupe

troupe = Troupe(os.environ.get("TROUPE_URL", "http://127.0.0.1:8080"), key=os.environ["TROUPE_KEY"])


def policy(tool: object, amount: object) -> str | None:
    if tool != "issue_refund" or not isinstance(amount, (int, float)):
        return None
    if amount <= 50:
        return "approve"
    return "reject" if amount > 1000 else None


while True:
    for action in troupe.pages("/v1/actions", {"status": "pending_approval", "limit": 100}):
        arguments = action["arguments"]
        decision = policy(action["tool"], arguments.get("amount") if isinstance(arguments, dict) else None)
        session = troupe.sessions.open(str(action["session_id"]))
        if decision == "approve":
            print(action["id"], session.approve(str(action["id"])), flush=True)
        elif decision == "reject":
            print(action["id"], session.reject(str(action["id"])), flush=True)
    time.sleep(1)
