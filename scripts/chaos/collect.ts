import { Random } from '#test/simulation/world/random.ts'
import type { ActionView, Evidence, GatedCall, LogRow, SessionEvidence, UsageEvidence } from './evidence.ts'
import type { Load } from './load.ts'
import { type ClientParts, NodeClient, Refused, type Wanted } from './node-client.ts'
import type { Decision, SessionVisit } from './session-visit.ts'

type View = NonNullable<SessionEvidence['session']>

/** Maximum number of concurrent requests. */
const abreast = 8

/** Reads everything back through the API, from any node. */
export const collect = async (
  parts: ClientParts,
  load: Load,
  visits: readonly SessionVisit[],
  toolCalls: Evidence['toolCalls'],
): Promise<Evidence> => {
  const client = new NodeClient(parts, new Random('collect'))
  // must come first, because a request to a session has its rows written again
  const rows = await listed(client)
  const usage = await usageOf(client)
  const sessions = await each(visits, (visit) => sessionOf(client, visit, load, rows.get(visit.id) ?? null))
  const logs = new Map(sessions.map(({ id, log }) => [id, log]))
  const gated = await each(
    visits.flatMap(({ id, decisions }) => decisions.map((decision) => ({ decision, log: logs.get(id) ?? null }))),
    async ({ decision, log }): Promise<GatedCall> => ({
      ...decision,
      action: decision.gated ? await read(client, `/v1/actions/${decision.actionId}`, action) : ungated(decision, log),
    }),
  )
  const plain = await each(load.plain, async (made) => ({
    ...made,
    action: await read(client, `/v1/actions/${made.id}`, action),
  }))
  return { sessions, gated, plain, toolCalls, usage }
}

const sessionOf = async (
  client: NodeClient,
  visit: SessionVisit,
  load: Load,
  row: View | null,
): Promise<SessionEvidence> => {
  const watcher = load.watchers.get(visit)
  return {
    ...{ id: visit.id, turns: visit.turns, frames: visit.frames, listed: row },
    ...{ watched: watcher?.frames ?? [], watching: watcher !== undefined && !visit.isRefused },
    log: await logOf(client, visit.id),
    session: await read(client, `/v1/sessions/${visit.id}`, view),
  }
}

const view = (body: Record<string, unknown>): View => ({
  status: String(body.status),
  turn_count: Number(body.turn_count),
})

const action = ({ status, error }: Record<string, unknown>): ActionView => ({
  status: String(status),
  error: error === null ? null : { code: String(Object(error).code) },
})

/** A call without a required decision has no action, so its outcome is read from the log. */
const ungated = ({ actionId }: Decision, log: readonly LogRow[] | null): ActionView | null => {
  if (log === null) return null
  const done = log.find(
    ({ event_type, payload }) => event_type === 'tool_call.completed' && payload.action_id === actionId,
  )
  if (done === undefined) return { status: 'pending_approval', error: null }
  const isUnknown = String(done.payload.output).includes('outcome_unknown')
  return isUnknown ? { status: 'failed', error: { code: 'outcome_unknown' } } : { status: 'executed', error: null }
}

const logOf = async (client: NodeClient, id: string): Promise<readonly LogRow[] | null> => {
  const rows: LogRow[] = []
  for (let page = 1; ; page++) {
    const answer = await read(client, `/v1/sessions/${id}/events?limit=100&page=${page}`, pageOf)
    if (answer === null) return null
    rows.push(...answer.rows)
    if (page >= answer.pages) return rows
  }
}

const listed = async (client: NodeClient): Promise<Map<string, View>> => {
  const rows = new Map<string, View>()
  for (let page = 1; ; page++) {
    const answer = await read(client, `/v1/sessions?limit=100&page=${page}`, pageOf)
    for (const row of answer?.rows ?? []) rows.set(String(Object(row).id), view(Object(row)))
    if (answer === null || page >= answer.pages) return rows
  }
}

const usageOf = async (client: NodeClient): Promise<UsageEvidence> => {
  const rows: Record<string, number> = {}
  let interrupted = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/usage/events?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const page = await client.json({ method: 'GET', path }, (body) => ({
      data: Object(body.data),
      next: body.next_cursor,
    }))
    for (const row of page.data) {
      if (row.interrupted === true) interrupted++
      else rows[String(row.session_id)] = (rows[String(row.session_id)] ?? 0) + 1
    }
    cursor = typeof page.next === 'string' ? page.next : null
  }
  const lines = await client.json({ method: 'GET', path: '/v1/usage/export' }, ({ lines }) => Object(lines))
  let invoiced = 0
  for (const { calls } of lines) invoiced += Number(calls)
  return { rows, interrupted, invoiced }
}

const pageOf = (body: Record<string, unknown>): { readonly rows: readonly LogRow[]; readonly pages: number } => ({
  rows: Object(body.data),
  pages: Number(Object(body.pagination).total_pages),
})

/** Reads a resource; null when the service does not have it. */
const read = <T>(client: NodeClient, path: string, shape: (body: Record<string, unknown>) => T): Promise<T | null> => {
  const wanted: Wanted = { method: 'GET', path }
  return client.json(wanted, shape).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  })
}

const each = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = []
  let next = 0
  const take = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) results[at] = await work(item)
    }
  }
  await Promise.all(Array.from({ length: abreast }, take))
  return results
}
