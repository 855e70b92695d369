import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition } from '../index.ts'
import { responseMachine } from './response.ts'

/** Background responses: `responses.create` with `background`. */
export const responseDefinition = {
  name: 'response',
  version: 1,
  idPrefix: 'resp',
  machine: responseMachine,
  effects: { beginResponse: 'idempotent', makeResponse: 'idempotent', eraseResponse: 'idempotent' },
  statuses: statuses.response,
  row: (_, { status }) => ({ status }),
  migrations: {},
} satisfies MachineDefinition
