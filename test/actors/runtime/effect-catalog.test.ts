import { expect, it } from 'vitest'
import { checkedCatalog, type Effect } from '../../../src/actors/runtime/effects.ts'
import { actionDefinition } from '../../../src/machines/action/action-definition.ts'
import { sessionDefinition } from '../../../src/machines/session/session-definition.ts'

const effect: Effect = { run: async () => 'gone', unknown: () => ({ type: 'unknown' }) }

it('names every effect that a machine may ask for and nobody makes, before anything runs', () => {
  const some = { 'session.callModel': effect, 'session.runTool': effect, 'action.runTool': effect }
  const check = () => checkedCatalog([sessionDefinition, actionDefinition], some)
  expect(check).toThrow('no effect session.writeCheckpoint, session.eraseSession, action.eraseAction')
})

it('takes a catalogue that has them all, and more', () => {
  const all = { 'action.runTool': effect, 'action.eraseAction': effect, 'other.effect': effect }
  expect(checkedCatalog([actionDefinition], all)).toBe(all)
})
