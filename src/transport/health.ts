import type { Headers, HttpResponse } from './http/http-port.ts'

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
  /** The process is shutting down: it finishes what it has and wants no more. */
  draining(): boolean
}

/** The answers of /healthz and /readyz. They tell a load balancer yes or no, and nobody anything else. */
export interface Health {
  /** The process is up. */
  live(response: HttpResponse): void
  /** Requests may be sent here: the store answers and no shutdown has begun. */
  ready(response: HttpResponse): Promise<void>
}

/** One ping serves all who ask at the same time, so that probes cannot load a store that is slow. */
export const openHealth = (ports: HealthPorts): Health => {
  let pinging: Promise<boolean> | null = null
  const reachable = (): Promise<boolean> => {
    pinging ??= answers(ports).finally(() => {
      pinging = null
    })
    return pinging
  }
  return {
    live: (response) => response.send(200, headers, '{"status":"ok"}'),
    ready: async (response) => {
      const why = ports.draining() ? 'draining' : (await reachable()) ? null : 'storage_unavailable'
      if (why === null) response.send(200, headers, '{"status":"ready"}')
      else response.send(503, [...headers, ['retry-after', '1']], JSON.stringify({ status: why }))
    },
  }
}

const answers = async ({ ping }: HealthPorts): Promise<boolean> => {
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
