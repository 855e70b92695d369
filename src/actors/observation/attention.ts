import type { ResultOf } from '#specs/index.ts'
import type { Scope, StoredRecord } from '#storage/index.ts'
import { browserJobRows } from '../browser/kinds.ts'
import { sanitizedText } from '../records/sanitize.ts'
import { isObject } from '../runtime/index.ts'
import { listedRows, stuckRows } from '../runtime/internal.ts'
import { actionRowView } from '../sessions/action-views.ts'
import { actionRows } from '../sessions/kinds.ts'
import { webhooks } from '../webhooks/kinds.ts'
import { recentFailures } from './failure-groups.ts'
import { listedMachines, type ObservationParts } from './list-actors.ts'
import { listedActor, textOf } from './listed-actor.ts'
import { refusals } from './refusals.ts'
import type { DurationPercentiles, StateDurations } from './state-durations.ts'
import { recentTakeovers } from './takeovers.ts'

/** An item that requires attention. */
type Need = ResultOf<'observation.attention'>['data'][number]

/** Most items of each kind that are read and shown. */
const max = 50
const maxWorking = 100
const maxCrashes = 5

/**
 * An actor whose effect has produced nothing for this long, in ms, is slow, if the usual duration of its state is
 * unknown.
 */
export const slowAfterMs = 30_000

/** Shortest duration, in ms, that can count as slow, even if other actors are much faster. */
export const minSlowMs = 5_000

/** Dependencies of `attention`. */
export interface AttentionParts extends ObservationParts {
  readonly dwells: StateDurations
}

const time = (ms: number): string => new Date(ms).toISOString()

const nothing = {
  machine: null,
  tool: null,
  error: null,
  count: 1,
  tenant_id: null,
  risk_level: null,
  arguments: null,
  expires_at: null,
}

/** Returns the items that need a person, the most urgent first. */
export const attention = async (parts: AttentionParts, scope: Scope): Promise<readonly Need[]> => {
  await parts.host.rows.shown()
  const found = await Promise.all([
    approvals(parts, scope),
    handOvers(parts, scope),
    stuckWork(parts, scope),
    slowWork(parts, scope),
    failures(parts, scope),
    refused(parts, scope),
    crashes(parts, scope),
    failingWebhooks(parts, scope),
  ])
  return found.flat()
}

const approvals = async ({ records }: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const lists = await Promise.all(
    ['pending_approval', 'awaiting_input'].map((status) =>
      // the oldest expire first, so they must be part of a truncated list
      records.list(actionRows, scope, { where: { status }, limit: max, ascending: true }),
    ),
  )
  const needs = lists.flat().map((row): Need => {
    const action = actionRowView(row)
    const waiter = action.run_id ?? action.session_id
    return {
      ...nothing,
      kind: 'approval',
      id: row.id,
      machine: 'action',
      subject: action.tool,
      cause: waiter === null ? 'Pending approval.' : `${waiter} waits for ${awaited(action)}.`,
      tenant_id: row.tenant,
      risk_level: action.risk_level,
      arguments: action.arguments,
      since: time(row.created_at),
      expires_at: action.expires_at,
    }
  })
  return needs.sort((a, b) => (a.expires_at ?? '').localeCompare(b.expires_at ?? ''))
}

/** Browser jobs that wait for a person to use their page. */
const handOvers = async ({ records }: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const rows = await records.list(listedRows(browserJobRows), scope, {
    where: { actor_state: 'open.waiting' },
    limit: max,
    ascending: true,
  })
  const needs = rows.flatMap(({ id, tenant, data: { url, waiting } }): Need[] => {
    if (!isObject(waiting)) return []
    const cause = sanitizedText(textOf(waiting.message) ?? 'Waiting for a person to use its page.')
    const times = { since: time(Number(waiting.since_ms)), expires_at: time(Number(waiting.expires_at_ms)) }
    const subject = textOf(url) ?? id
    return [{ ...nothing, kind: 'hand_over', id, machine: 'browser_job', subject, cause, tenant_id: tenant, ...times }]
  })
  return needs.sort((a, b) => (a.expires_at ?? '').localeCompare(b.expires_at ?? ''))
}

/** Names only the server of an input request: its message is shown where it is answered. */
const awaited = ({ status, input }: ReturnType<typeof actionRowView>): string =>
  status === 'awaiting_input' && input !== null ? `input that ${input.server} requests` : 'a decision'

const stuckWork = async ({ records }: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const rows = await records.list(stuckRows, scope, { limit: max })
  return rows.map(({ tenant, updated_at, data }) => ({
    ...nothing,
    kind: 'stuck',
    id: textOf(data.actor) ?? '',
    machine: textOf(data.machine),
    subject: (textOf(data.kind) ?? '').replaceAll('_', ' '),
    cause: sanitizedText(textOf(data.reason) ?? ''),
    tenant_id: tenant,
    since: time(updated_at),
  }))
}

/** Effects in progress that have produced nothing for longer than is usual in that state, the oldest actor first. */
const slowWork = async (parts: AttentionParts, scope: Scope): Promise<readonly Need[]> => {
  const before = parts.now() - minSlowMs
  const found = await Promise.all(
    listedMachines(parts).map(async (machine) => {
      const where = { actor_activity: 'working' }
      const working = await parts.records.list(machine.rows, scope, { where, limit: maxWorking, ascending: true })
      const silent = working.filter((row) => row.updated_at < before && !isPersons(row))
      if (silent.length === 0) return []
      const stays = await parts.dwells.of(machine, scope)
      return silent.flatMap((row) => slowNeed(parts, machine.definition.name, { row, stays }))
    }),
  )
  return found.flat().slice(0, max)
}

/** Whether the actor waits for a person, who may take any time; such actors are listed separately. */
const isPersons = ({ data }: StoredRecord): boolean => isObject(data.waiting)

const slowNeed = (
  { now }: AttentionParts,
  machine: string,
  { row, stays }: { readonly row: StoredRecord; readonly stays: DurationPercentiles },
): readonly Need[] => {
  const { state, label } = listedActor(machine, row)
  const usual = stays.get(state)
  if (row.updated_at > now() - Math.max(minSlowMs, usual ?? slowAfterMs)) return []
  const than = usual === undefined ? '' : ` 99 of 100 stay there for ${secondsOf(usual)} at most.`
  const parent = textOf(row.data.parent_run_id)
  const waits = parent === null ? '' : ` ${parent} waits for it.`
  return [
    {
      ...nothing,
      kind: 'slow',
      id: row.id,
      machine,
      subject: label ?? row.id,
      cause: `Is in ${state} without a step: its work has not answered.${than}${waits}`,
      tenant_id: row.tenant,
      since: time(row.updated_at),
    },
  ]
}

const secondsOf = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)

const failures = async (parts: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const groups = await recentFailures(parts, scope)
  return groups.slice(0, max).map(({ machine, code, tool, message, newest, at, tenant, count }) => ({
    ...nothing,
    kind: 'failed',
    id: newest,
    machine,
    tool,
    error: code,
    subject: tool ?? code,
    cause: message === '' ? `Ended as ${code}.` : sanitizedText(message),
    count,
    tenant_id: tenant,
    since: time(at),
  }))
}

const refused = async (parts: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const found = await refusals(parts, scope)
  return found.slice(0, max).map(({ code, tenant, subject, cause, count, at, request }) => ({
    ...nothing,
    kind: 'refused',
    id: request,
    subject,
    cause: sanitizedText(cause),
    count,
    error: code,
    tenant_id: tenant,
    since: time(at),
  }))
}

const crashes = async (parts: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const found = await recentTakeovers(parts, scope)
  return found.slice(0, maxCrashes).map(({ node, actors, fromMs, toMs }) => ({
    ...nothing,
    kind: 'node',
    id: node,
    subject: node,
    cause: `Took over ${actors === 1 ? 'an actor' : `${actors} actors`} after a process had ended without handing over${fromMs === toMs ? '' : `, within ${secondsOf(toMs - fromMs)}`}.`,
    since: time(toMs),
  }))
}

const failingWebhooks = async ({ records }: ObservationParts, scope: Scope): Promise<readonly Need[]> => {
  const rows = await records.list(webhooks, scope, { limit: maxWorking })
  return rows.flatMap((row): Need[] => {
    const { failing_since_ms, failing_by, disabled_reason, name, url } = row.data
    const disabled = textOf(disabled_reason)
    if (typeof failing_since_ms !== 'number' && disabled === null) return []
    const since = typeof failing_since_ms === 'number' ? failing_since_ms : row.updated_at
    const host = hostOf(textOf(url) ?? '')
    const cause =
      disabled === null
        ? `Every attempt to reach ${host} has failed since then${failureOf(failing_by)}.`
        : `Deliveries to ${host} were stopped because ${disabled === 'gone' ? 'it responded with 410 Gone' : 'it failed for days'}.`
    return [{ ...nothing, kind: 'webhook', id: row.id, subject: textOf(name) ?? row.id, cause, since: time(since) }]
  })
}

/** The first failure of a webhook. */
const failureOf = (by: unknown): string => {
  const { error, status } = Object(by)
  if (typeof status === 'number') return `: it responds with ${status}`
  return typeof error === 'string' ? ` (${error})` : ''
}

/** The host of a URL, without path and query, which may contain a secret. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'it'
