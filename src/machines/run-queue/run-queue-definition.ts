import type { MachineDefinition } from '../index.ts'
import { runQueueMachine } from './run-queue.ts'

/** The queue of a project's runs. It has no API, and is in no list. */
export const runQueueDefinition = {
  name: 'run_queue',
  version: 1,
  idPrefix: 'rqu',
  machine: runQueueMachine,
  effects: { pickRuns: 'idempotent' },
  migrations: {},
} satisfies MachineDefinition
