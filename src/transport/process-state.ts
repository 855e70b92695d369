import { createStore } from '@xstate/store'
import type { Logger } from 'pino'

/** State of a process for load balancers: it serves, its store does not respond, or it is shutting down. */
export type Readiness = 'ready' | 'storage_unavailable' | 'draining'

/**
 * Observed state of the process itself; none of it is durable. Readiness, metrics and the log read or follow this one
 * store.
 */
export const openProcessState = () =>
  createStore({
    context: { isDraining: false, storeAnswers: true },
    on: {
      drain: (context) => ({ ...context, isDraining: true }),
      ping: (context, { answered }: { readonly answered: boolean }) =>
        answered === context.storeAnswers ? context : { ...context, storeAnswers: answered },
    },
  })

/** The store of `openProcessState`. */
export type ProcessState = ReturnType<typeof openProcessState>

/** Readiness according to the last ping of the store. */
export const readinessOf = (state: ProcessState): Readiness => {
  const { isDraining, storeAnswers } = state.getSnapshot().context
  if (isDraining) return 'draining'
  return storeAnswers ? 'ready' : 'storage_unavailable'
}

/** Logs each change of readiness once. */
export const logReadiness = (state: ProcessState, log: Pick<Logger, 'info' | 'warn'>): void => {
  let last = readinessOf(state)
  state.subscribe(() => {
    const now = readinessOf(state)
    if (now === last) return
    last = now
    if (now === 'storage_unavailable') log.warn({ readiness: now }, 'the store does not respond: the node is not ready')
    else log.info({ readiness: now }, 'readiness changed')
  })
}
