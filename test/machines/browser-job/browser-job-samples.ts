import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = browserJobDefinition

const request = {
  ...{ url: 'https://example.com/', actions: [{ type: 'type', selector: '#q', text: 'typed' }], screenshot: false },
  ...{ snapshot_tokens: null, wait_until: 'load', timeout_ms: 30_000, width: 800, height: 600, profile: null },
}

export const starts = (attempt: number): StoredEvent => ({ type: 'started', attempt, at: attempt })
export const steps = (attempt: number): StoredEvent => ({
  type: 'stepped',
  attempt,
  step: {
    ...{ type: 'navigate', selector: null, status: 'completed', url: 'https://example.com/' },
    ...{ started_at_ms: 1, duration_ms: 1, picture: null },
  },
})
export const submits = (attempt: number): StoredEvent => ({ type: 'submitting', attempt })
export const waits = (attempt: number): StoredEvent => ({
  ...{ type: 'waits', attempt, message: 'Please log in.', at: 1_000, expires_at: 61_000 },
})
export const continues: StoredEvent = {
  type: 'continue',
  by: { kind: 'secret_key', id: 'key_1' },
  note: 'Done.',
  at: 2,
}
export const expires: StoredEvent = { type: 'xstate.after.handOver.browser_job.open.waiting' }
export const finishes: StoredEvent = {
  type: 'finished',
  result: { document: ['a'], screenshot: [] },
  peak_memory_bytes: 1,
  at: 9,
}
export const fails: StoredEvent = {
  type: 'job_failed',
  error: { code: 'fetch_failed', message: 'It failed.' },
  peak_memory_bytes: null,
  at: 9,
}
export const cancels: StoredEvent = { type: 'cancel', at: 9 }
export const deletion: StoredEvent = { type: 'delete' }
export const retention = (state: 'completed' | 'failed' | 'cancelled'): StoredEvent => ({
  type: `xstate.after.retention.browser_job.${state}`,
})

/** Every event in every state of a job. */
export const walk: Walk = {
  machine,
  input: { job_id: 'job_1', request },
  events: [
    ...[starts(1), starts(2), steps(1), submits(1), waits(1), continues, expires],
    ...[finishes, fails, cancels, deletion],
    ...[retention('completed'), retention('failed'), retention('cancelled')],
  ],
  kindOf: ({ value, context }) =>
    `${pathOf(value)} ${context.attempts} ${context.submitted} ${Math.min(context.steps.length, 2)}`,
}
