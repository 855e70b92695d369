import type { RecordKind } from '../storage/ports.ts'
import { agentVersionRows } from './agents/kinds.ts'
import { runRows } from './runs/kinds.ts'
import { actionRows, sessionRows } from './sessions/kinds.ts'
import { deliveryRows } from './webhooks/kinds.ts'

/** The list rows of each kind of actor, by machine. */
export const actorRows: Readonly<Record<string, RecordKind>> = {
  session: sessionRows,
  action: actionRows,
  run: runRows,
  agent_version: agentVersionRows,
  delivery: deliveryRows,
}
