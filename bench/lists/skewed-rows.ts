import { runRows } from '#actors/runs/kinds.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import { requestLog } from '#gateway/ledger/kinds.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { listedRows } from '#runtime/internal.ts'
import type { JsonObject, RecordKind, StoredRecord } from '#storage/ports.ts'

/** Kinds that are filled, and the part of the sessions' number that each has. */
export const filledKinds: readonly { readonly kind: RecordKind; readonly part: number }[] = [
  { kind: listedRows(sessionRows), part: 1 },
  ...[listedRows(runRows), listedRows(actionRows), listedRows(deliveryRows), usageRows, requestLog].map((kind) => ({
    kind,
    part: 0.02,
  })),
]

/** The project, tenant and user that most rows belong to. */
export const large = { project: 'prj_large', tenant: 'ten_large', user: 'user_large' } as const

/** A linear congruential generator: the same rows each time, whatever is filled before. */
const drawn = (index: number, salt: number): number => {
  let x = (Math.imul(index ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(salt + 1, 0xc2b2ae35)) >>> 0
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) >>> 0
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39) >>> 0
  return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
}

/** One of `count`, the first ones most often: half of all draws are the first. */
const skewed = (index: number, salt: number, count: number): number =>
  Math.min(count - 1, Math.floor(count ** drawn(index, salt)) - 1)

/** `first` of three quarters of all draws, else one of thousands. */
const mostly = (index: number, salt: number, first: string, other: string): string =>
  drawn(index, salt) < 0.75 ? first : `${other}${Math.floor(drawn(index, salt + 100) * 5_000)}`

const statuses = ['idle', 'idle', 'idle', 'idle', 'closed', 'closed', 'running', 'failed']

/** The id of a row: ids sort by time of creation. */
const skewedId = (prefix: string, index: number): string => `${prefix}_0${index.toString(32).padStart(25, '0')}`

/**
 * Row `index` of `count` of a kind: one project has three quarters of them, thousands have a few. Rare values, which a
 * scan would have to look for, are those of the oldest rows.
 */
export const skewedRow = ({ name }: RecordKind, index: number, count: number): StoredRecord => {
  const isOld = index < 30 + count / 20_000
  const project = isOld ? large.project : mostly(index, 1, large.project, 'prj_')
  const tenant = drawn(index, 2) < 0.1 && !isOld ? null : mostly(index, 3, large.tenant, 'ten_')
  const user = tenant === null || drawn(index, 4) < 0.1 ? null : mostly(index, 5, large.user, 'user_')
  const status = isOld ? 'pending_approval' : (statuses[skewed(index, 6, statuses.length)] ?? 'idle')
  const agent_id = isOld ? 'agt_rare' : `agt_${skewed(index, 7, 200)}`
  const model = isOld ? 'rare-model' : `model-${skewed(index, 9, 20)}`
  const data: JsonObject = {
    ...{ status, agent_id, actor_state: `${status}.now`, actor_activity: isOld ? 'working' : 'waiting' },
    ...{ installation_id: `ins_${skewed(index, 8, 5_000)}`, turn_count: index % 9, total_cost: '0.0012' },
    ...{ session_id: `ses_${Math.floor(index / 3)}`, run_id: `run_${Math.floor(index / 4)}`, parent_run_id: null },
    ...{ model, operation: 'session.turn', external_user_id: user, error: isOld ? 'rate_limit_exceeded' : null },
    ...{ tenant_agent: tenant === null ? null : `${tenant} ${agent_id}`, request_id: `req_${index}`, provider: 'p' },
    ...{ webhook_id: `whk_${skewed(index, 10, 50)}`, event_type: isOld ? 'run.failed' : 'run.completed' },
    metadata: { note: 'x'.repeat(160) },
  }
  const at = 1_700_000_000_000 + index * 1_000
  // a hundredth has expired and is not removed yet, a tenth will expire
  const expires_at = isOld || drawn(index, 11) > 0.11 ? null : at + (drawn(index, 11) < 0.01 ? 1 : 9e12)
  const times = { created_at: at, updated_at: at + 500, expires_at }
  return { id: skewedId(name.slice(0, 3), index), project, tenant, user, version: 1, ...times, data }
}
