import { matchesState } from 'xstate'
import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { rowFields } from '../row-fields.ts'
import { browserJobFields, browserJobMachine } from './browser-job.ts'

const browserJobRow: RowOf = ({ value, context }, { status }) => {
  const { request, steps } = context
  const url = typeof request === 'object' && request !== null && 'url' in request ? (request.url ?? null) : null
  const stepCount = Array.isArray(steps) ? steps.length : 0
  return {
    status,
    open: matchesState('open', value),
    url,
    step_count: stepCount,
    ...rowFields(browserJobFields, context),
  }
}

/** Browser jobs, as defined in `specs/resources/web/browse.ts`. */
export const browserJobDefinition = {
  name: 'browser_job',
  version: 2,
  idPrefix: 'job',
  machine: browserJobMachine,
  effects: { browse: 'idempotent', resumeJob: 'idempotent', eraseBrowserJob: 'idempotent' },
  statuses: statuses.browser_job,
  row: browserJobRow,
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, waiting: null } }) },
} satisfies MachineDefinition
