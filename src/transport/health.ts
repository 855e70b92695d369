import type { Headers, HttpResponse } from './http/http-port.ts'
import { type ProcessState, readinessOf } from './process-state.ts'

/** How long the store may take to answer before the node counts as not ready. */
const pingMaxMs = 2_000

const headers: Headers = [
  ['content-type', 'application/json; charset=utf-8'],
  ['cache-control', 'no-store'],
]

/** What readiness depends on. */
export interface HealthPorts {
  /** Resolves when the store answers. */
  ping(): Promise<void>
  readonly state: ProcessState
}

/** The answers of /healthz and /readyz. They say yes or no to a load balancer, and nothing else. */
export interface Health {
  /** The process is up. */
  live(response: HttpResponse): void
  /** Requests may be sent here: the store answers and no shutdown has begun. */
  ready(response: HttpResponse): Promise<void>
}

/** One ping serves all calls at the same time, so that probes cannot load a store that is slow. */
export const openHealth = ({ ping, state }: HealthPorts): Health => {
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
      // a process that ends need not wait for its store to say so
      if (readinessOf(state) !== 'draining') await pinged()
      const status = readinessOf(state)
      if (status === 'ready') response.send(200, headers, '{"status":"ready"}')
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
