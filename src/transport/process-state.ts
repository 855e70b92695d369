import { createStore } from '@xstate/store'
import type { Logger } from 'pino'

/** What a load balancer may know of a process: it serves, its store does not answer, or it is about to end. */
export type Readiness = 'ready' | 'storage_unavailable' | 'draining'

/**
 * What a process knows of itself and only watches: nothing of it is durable, and nothing waits for it. A part that shows it
 * (readiness, metrics, the log) reads or follows this one store.
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

/** How ready the process is now, by the last ping of its store. */
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
