import { openChats } from '#gateway/chat/open-chats.ts'
import { type LimitData, limits, subjectKey } from '#gateway/limits/kinds.ts'
import type { LimitAdmission } from '#gateway/limits/limit-admission.ts'
import { GatewayTurns } from '#gateway/turns/turn-models.ts'
import { Table } from '#records/table.ts'
import type { Clock } from '#runtime/clock.ts'
import { newId } from '#runtime/ids.ts'
import type { RateLimits } from '#storage/cluster-ports.ts'
import type { RecordStore } from '#storage/ports.ts'
import { noGuard } from '#test/gateway/no-guard.ts'
import type { Upstream } from '../call/scripted-upstream.ts'
import { openLimited } from '../limits/limited.ts'
import { routeOf } from './turn-world.ts'

export const project = 'prj_a'

/**
 * Turns of one process under the stored limits of a project; call it again with the same store for a further process.
 */
export const openLimitedTurns = async (
  records: RecordStore,
  clock: Clock,
  upstream: Upstream,
  rates?: RateLimits,
): Promise<{ readonly turns: GatewayTurns; readonly admission: LimitAdmission; close(): Promise<void> }> => {
  const { admission } = await openLimited(records, clock, rates === undefined ? {} : { limits: rates })
  const route = routeOf('openai', upstream, 'gpt-4o-mini')
  const { chats } = openChats({
    routes: { resolve: () => [route] },
    admission,
    redaction: { policyOf: () => null, forLog: (body) => body },
    ledger: {
      record: () => {
        throw new Error('the rows of turns follow from their commits')
      },
      flush: () => Promise.resolve(),
    },
    guard: noGuard,
    now: clock.now,
    policy: { backoffMs: 1 },
  })
  return { turns: new GatewayTurns({ chats }), admission, close: () => chats.close() }
}

const nothing: LimitData = {
  subject: 'project',
  subject_id: null,
  subject_key: subjectKey('project', null),
  requests_per_minute: null,
  tokens_per_minute: null,
  budget_day_usd: null,
  budget_month_usd: null,
  budget_total_usd: null,
}

/** Stores limits of the project. @returns the id of the row. */
export const limitProject = async (records: RecordStore, clock: Clock, data: Partial<LimitData>): Promise<string> => {
  const id = newId('lim')
  await new Table(records, limits, clock.now).insert({ id, project, tenant: null, data: { ...nothing, ...data } })
  return id
}
