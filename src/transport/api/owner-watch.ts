import type { Logger } from 'pino'
import { type About, KeptLater } from '#records/idempotent.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { CredentialWatch, type Recheck, type StreamTicker } from '../streams/credential-watch.ts'
import { aboutOfCall, isWork, type Tenants } from './credentials/named-tenant.ts'
import type { Exchange } from './exchange.ts'
import { LimitedResponse } from './limited-response.ts'
import { refuse } from './refuse.ts'
import type { ServedCall } from './served-call.ts'

interface Watched {
  readonly operation: Operation
  readonly call: ServedCall
  readonly parts: {
    readonly tenants: Pick<Tenants, 'remains'>
    readonly ticker: StreamTicker
    readonly log: Logger
  }
}

/**
 * Watches a call that works for a tenant until its answer has ended, and ends it when the tenant or user is being
 * deleted: what it stored later would outlive the deletion, which waits only for short requests. Streams of events are
 * watched with their credential.
 */
export const watchOwner = (exchange: Exchange, { operation, call, parts }: Watched): void => {
  if (!mayStore(operation) || operation.answer.kind === 'events') return
  const { tenant, user } = ownerOf(call)
  if (tenant === null) return
  const { tenants, ticker, log } = parts
  let isAtWork = false
  let isAnswered = false
  const watch = new OwnerWatch(
    () => tenants.remains(call.scope.project, tenant, user),
    () => {
      if (watch.place < 0) return
      exchange.isCut = true
      const message = 'The tenant or user of the request is being deleted.'
      refuse(exchange, new ServiceError('tenant_deleting', { message }), log)
      response.stop()
      for (const stop of exchange.stops.splice(0)) stop()
      ticker.delete(watch)
    },
  )
  const response = new LimitedResponse(exchange.response, () => {
    isAnswered = true
    if (!isAtWork) ticker.delete(watch)
  })
  exchange.response = response
  // a peer that has gone gets no answer that could end the watch
  if (!response.closed) ticker.add(watch)
  exchange.watchWork = (work) => {
    isAtWork = true
    ticker.add(watch)
    void ended(work).finally(() => {
      isAtWork = false
      if (isAnswered) ticker.delete(watch)
    })
  }
}

/** Whether a call may store something of the tenant: `memory.forget` is no work, but stores what it removed. */
const mayStore = (operation: Operation): boolean => isWork(operation) || operation.id === 'memory.forget'

/** Resolves when work has ended, and a stream that it began. */
const ended = (work: Promise<unknown>): Promise<unknown> =>
  work.then((made) => (made instanceof KeptLater ? made.kept : made)).catch(() => {})

/** The tenant and the user whose a call's records are. */
const ownerOf = (call: ServedCall): About => {
  const { tenant, user } = call.scope
  const about = aboutOfCall(call)
  return tenant === null ? about : { tenant, user: user ?? about.user }
}

class OwnerWatch {
  place = -1
  readonly #watch: CredentialWatch

  constructor(remains: Recheck, end: () => void) {
    this.#watch = new CredentialWatch(remains, (reason) => {
      if (reason === 'deleted') end()
    })
  }

  tick(): void {
    this.#watch.tick()
  }

  recheck(): void {
    this.#watch.recheck()
  }

  /** An internal failure says nothing about the owner. */
  fail(): void {}
}
