import { assign, setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import { type Notice, vocabulary } from '../declared.ts'
import type { AuditLine, MachineDefinition } from '../index.ts'

/** An erasure's durable context. */
export type ErasureContext = {
  readonly erasure_id: string
  /** The project to erase; null for the erasure of a tenant or user. */
  readonly project_id: string | null
  /** Null for the erasure of a project. */
  readonly tenant_id: string | null
  readonly external_id: string | null
  /** External id of the user; null for the whole tenant. */
  readonly user: string | null
  readonly by: AuditLine['by']
  readonly rounds: number
  /** Items left after the newest round, by collection; empty when nothing was left. */
  readonly left: JsonObject
  /** Consecutive rounds that found nothing. */
  readonly quiet: number
  /** Wait before the next round, in ms. */
  readonly pause_ms: number
}

/** Input of a new erasure. */
export type ErasureInput = Pick<
  ErasureContext,
  'erasure_id' | 'project_id' | 'tenant_id' | 'external_id' | 'user' | 'by'
>

/** Sink for `{ type: 'erase', at, input }`, which starts an erasure (src/actors/tenants/erasures.ts). */
export const erasureSink = 'erasures'

/** All events of an erasure. */
export type ErasureEvent = {
  readonly type: 'round_done'
  /** Items that are left, by collection; empty when nothing is left. */
  readonly left: JsonObject
}

/**
 * Time between the two rounds that find nothing, in ms: longer than a request admitted earlier can still be running, on
 * any node.
 */
export const confirmationMs = 5_000

/**
 * Webhook event of a deleted tenant. The erasure belongs to the project, so the delivery does too, and outlives the
 * tenant.
 */
const notifyDeleted = {
  type: 'notify',
  params: ({ context: { tenant_id, external_id } }: { context: ErasureContext }): Notice => ({
    event_type: 'tenant.deleted',
    data: { tenant_id: tenant_id ?? '', external_id: external_id ?? '' },
  }),
} as const

const firstPauseMs = 200
const longestPauseMs = 60_000

/**
 * Removes a project, everything that a tenant owns, or one user of a tenant, in rounds, and counts what is left after
 * each. Requests for the project, tenant or user are refused from the start (src/actors/tenants/tenant-directory.ts,
 * src/actors/accounts/credentials.ts). The erasure ends when two rounds, some seconds apart, find nothing, so that
 * items which arrived meanwhile are found too (`tenants.delete`, `projects.delete`). The erasure of a tenant or user
 * belongs to the project, that of a project to its organisation.
 * `working` has a round in flight, `waiting` is between two rounds, `finishing` removes the row of the tenant or
 * project and the erasure itself.
 */
export const erasureMachine = setup({
  types: {
    context: {} as ErasureContext,
    input: {} as ErasureInput,
    events: {} as ErasureEvent,
  },
  actions: {
    ...vocabulary,
    eraseOwned: (_: unknown, _params: { round: number }) => {},
    finishErasure: (_: unknown, _params: { tenant_id: string | null }) => {},
  },
  guards: {
    foundNothingAgain: ({ context, event }) => isEmpty(event.left) && context.quiet > 0,
    foundNothing: ({ event }) => isEmpty(event.left),
    tenantIsGone: ({ context, event }) =>
      isEmpty(event.left) && context.quiet > 0 && context.user === null && context.project_id === null,
  },
  delays: { pause: ({ context }) => context.pause_ms },
}).createMachine({
  id: 'erasure',
  context: ({ input }) => ({ ...input, rounds: 0, left: {}, quiet: 0, pause_ms: firstPauseMs }),
  initial: 'working',
  states: {
    working: {
      tags: 'busy',
      entry: { type: 'eraseOwned', params: ({ context }) => ({ round: context.rounds + 1 }) },
      on: {
        round_done: [
          { guard: 'tenantIsGone', target: 'finishing', actions: notifyDeleted },
          { guard: 'foundNothingAgain', target: 'finishing' },
          {
            guard: 'foundNothing',
            target: 'waiting',
            actions: assign(({ context }) => ({
              rounds: context.rounds + 1,
              left: {},
              quiet: context.quiet + 1,
              pause_ms: confirmationMs,
            })),
          },
          {
            target: 'waiting',
            actions: assign(({ context, event }) => ({
              rounds: context.rounds + 1,
              left: event.left,
              quiet: 0,
              pause_ms: Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(context.rounds, 20)),
            })),
          },
        ],
      },
    },
    waiting: { after: { pause: 'working' } },
    finishing: {
      type: 'final',
      entry: { type: 'finishErasure', params: ({ context }) => ({ tenant_id: context.tenant_id }) },
    },
  },
})

const isEmpty = (left: JsonObject): boolean => Object.keys(left).length === 0

/** Erasures have no API of their own: a tenant or project shows `deleting` while one runs. */
export const erasureDefinition = {
  name: 'erasure',
  version: 2,
  idPrefix: 'era',
  machine: erasureMachine,
  effects: { eraseOwned: 'idempotent', finishErasure: 'idempotent' },
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, project_id: null } }) },
} satisfies MachineDefinition
