import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, type Reasoned, reasonOf } from '../records/audit-note.ts'
import { pageOf } from '../records/pages.ts'
import type { Row, TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { isEvent, newId } from '../runtime/index.ts'
import { discardCause, type OperatorVerb, type StuckKind, stuckRows } from '../runtime/internal.ts'

type StuckData = {
  readonly kind: StuckKind
  readonly actor: string
  readonly machine: string
  readonly subject: string
  readonly reason: string
  readonly attempts: number
}

const typedRows: TypedKind<StuckData> = stuckRows

/** Dependencies of the use-cases of stuck work. */
export type StuckParts = Pick<Services, 'host' | 'now' | 'records'>

type StuckCall = Call<{ readonly stuck_id: string }, unknown, unknown>
type DecisionCall = Call<{ readonly stuck_id: string }, unknown, Reasoned | undefined>

/**
 * Use-cases of stuck work: operators list it, and decide on it. Each decision is a step of the actor concerned
 * (specs/decisions/0091).
 */
export const stuckUseCases = ({
  host,
  records,
  now,
}: StuckParts): Pick<UseCases, `stuck.${OperatorVerb | 'list' | 'get'}`> => {
  const table = new Table(records, typedRows, now)
  const find = async ({ scope, params }: StuckCall): Promise<Row<StuckData>> => {
    await host.rows.shown()
    return orNotFound(await table.get(scope, params.stuck_id), 'stuck_id')
  }
  const decide = async (call: DecisionCall, verb: OperatorVerb, event?: JsonObject) => {
    const { id, data } = await find(call)
    const { kind, subject, actor } = data
    const decision = {
      type: `$${verb}`,
      stuck: { kind, subject },
      by: actorOf(call),
      ...reasonOf(call.body),
      ...(event && { event }),
    }
    const cause = verb === 'discard' ? discardCause(kind, subject) : `$${verb}:${newId('dec')}`
    await host.deliver(actor, { event: decision, cause })
    await host.rows.shown()
    return { id, decision: verb }
  }
  return {
    'stuck.list': async ({ scope, query }) => {
      await host.rows.shown()
      const { kind, ...page } = query
      const where = kind === undefined ? {} : { where: { kind } }
      return pageOf(table, scope, { query: { ...page, ...where }, shown: { idPrefix: 'stk', view: shown } })
    },
    'stuck.get': async (call) => shown(await find(call)),
    'stuck.retry': (call) => decide(call, 'retry'),
    'stuck.skip': async (call) => {
      const { event } = call.body
      if (!isEvent(event) || event.type.startsWith('$')) throw new ServiceError('invalid_field', { param: 'event' })
      return decide(call, 'skip', event)
    },
    'stuck.discard': (call) => decide(call, 'discard'),
  }
}

const shown = ({ id, tenant, data, created_at, updated_at }: Row<StuckData>): ResultOf<'stuck.get'> => ({
  id,
  kind: data.kind,
  actor_id: data.actor,
  machine: data.machine,
  subject: data.subject,
  reason: data.reason,
  attempts: data.attempts,
  tenant_id: tenant,
  created_at: new Date(created_at).toISOString(),
  updated_at: new Date(updated_at).toISOString(),
})
