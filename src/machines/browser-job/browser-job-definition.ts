import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { browserJobMachine } from './browser-job.ts'

/** Statuses of a job in the API. */
export const browserJobStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

/** One of `browserJobStatuses`. */
export type BrowserJobStatus = (typeof browserJobStatuses)[number]

/** A job's status in the API; null once it is being removed. */
export const browserJobStatus = ({ value }: Pick<StoredState, 'value'>): BrowserJobStatus | null => {
  const innermost = typeof value === 'string' ? value : value.open
  // a job that waits for a person is `running` in the API, and `waiting` is shown as a separate field
  if (innermost === 'waiting') return 'running'
  return browserJobStatuses.find((status) => status === innermost) ?? null
}

const isOpen = (state: Pick<StoredState, 'value'>): boolean => typeof state.value === 'object'

const browserJobRow: RowOf = (state) => {
  const status = browserJobStatus(state)
  if (status === null) return null
  const { request, submitted, waiting, steps, error, started_at_ms, ended_at_ms } = state.context
  const url = typeof request === 'object' && request !== null && 'url' in request ? (request.url ?? null) : null
  const stepCount = Array.isArray(steps) ? steps.length : 0
  return {
    status,
    open: isOpen(state),
    url,
    submitted: submitted ?? false,
    waiting: waiting ?? null,
    step_count: stepCount,
    error: error ?? null,
    started_at_ms: started_at_ms ?? null,
    ended_at_ms: ended_at_ms ?? null,
  }
}

/** Browser jobs, as defined in `specs/resources/web/browse.ts`. */
export const browserJobDefinition = {
  name: 'browser_job',
  version: 2,
  idPrefix: 'job',
  machine: browserJobMachine,
  effects: { browse: 'idempotent', resumeJob: 'idempotent', eraseBrowserJob: 'idempotent' },
  row: browserJobRow,
  gone: (state) => browserJobStatus(state) === null,
  busy: isOpen,
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, waiting: null } }) },
} satisfies MachineDefinition
