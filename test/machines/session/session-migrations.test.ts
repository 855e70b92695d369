import { expect, it } from 'vitest'
import { inactivityMs } from '#machines/session/session-actions.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { storedState } from '#runtime/index.ts'
import { answer, inactivityAfterRejection, rejects, session, turn } from './session-samples.ts'

const at = Date.UTC(2026, 10, 1)
const pending = { reminders: {}, inFlight: {}, at }
const migrate = sessionDefinition.migrations[11]

it('a session that a rejection completed before version 12 expires seven days after its last activity', () => {
  const state = storedState(session(turn(), answer('confirm'), rejects('confirm')))
  const { reminders, ...migrated } = migrate(state, pending)
  expect(migrated).toEqual(state)
  const { type } = inactivityAfterRejection
  expect(reminders).toEqual({ [type]: { due: at + inactivityMs, event: { type }, n: 0 } })
})

it('any other session keeps its reminders', () => {
  expect(migrate(storedState(session()), pending).reminders).toBeUndefined()
})
