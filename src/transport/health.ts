import type { RedisState } from '#storage/index.ts'
import type { Headers, HttpResponse } from './http/http-port.ts'
import { type ProcessState, readinessOf } from './process-state.ts'

/** Time in ms within which the store has to answer before the node counts as not ready. */
const pingMaxMs = 2_000

const headers: Headers = [
  ['content-type', 'application/json; charset=utf-8'],
  ['cache-control', 'no-store'],
]

/** Inputs of the health checks. */
export interface HealthPorts {
  /** Resolves when the store answers. */
  ping(): Promise<void>
  /** State of Redis; absent for a single process. A node is ready without Redis. */
  readonly redis?: (() => RedisState) | undefined
  readonly state: ProcessState
}

/** Answers /healthz and /readyz: for load balancers, so only a status. */
export interface Health {
  /** Answers that the process is up. */
  live(response: HttpResponse): void
  /** Answers whether the process accepts requests: the store responds and no shutdown has begun. */
  ready(response: HttpResponse): Promise<void>
}

/** Concurrent calls share one ping, so that probes cannot overload a slow store. */
export const openHealth = ({ ping, state, redis }: HealthPorts): Health => {
  let pinging: Promise<void> | null = null
  const pinged = (): Promise<void> => {
    pinging ??= answers(ping).then((answered) => {
      pinging = null
      state.trigger.ping({ answered })
    })
    return pinging
  }
  return {
    live: (response) => response.send(200, headers, '{"status":"ok"}'),
    ready: async (response) => {
      // a draining process is not ready whatever the store answers
      if (readinessOf(state) !== 'draining') await pinged()
      const status = readinessOf(state)
      if (status === 'ready') response.send(200, headers, JSON.stringify({ status, redis: redis?.() }))
      else response.send(503, [...headers, ['retry-after', '1']], JSON.stringify({ status }))
    },
  }
}

const answers = async (ping: HealthPorts['ping']): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), pingMaxMs)
  const answered = ping().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answered, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
