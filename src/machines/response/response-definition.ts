import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition } from '../index.ts'
import { outputEvent, responseMachine } from './response.ts'

/** Background responses: `responses.create` with `background`. */
export const responseDefinition = {
  name: 'response',
  version: 2,
  readableBy: 1,
  idPrefix: 'resp',
  machine: responseMachine,
  effects: { beginResponse: 'idempotent', makeResponse: 'stream', eraseResponse: 'idempotent' },
  statuses: statuses.response,
  row: (_, { status }) => ({ status }),
  text: {
    startsAt: 'response.restarted',
    restartsAt: 'response.restarted',
    part: 'response_shown',
    piece: ({ restarts }, text) => outputEvent(typeof restarts === 'number' ? { restarts } : {}, text),
    // a response that begins again does not go on from what was shown
    adds: () => undefined,
  },
  migrations: { 1: (state) => state },
} satisfies MachineDefinition
