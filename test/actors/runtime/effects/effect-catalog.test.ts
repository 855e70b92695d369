import { expect, it } from 'vitest'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { checkedCatalog, type IdempotentEffect, type UncertainEffect } from '#runtime/effects/effects.ts'

const erase: IdempotentEffect = { policy: 'idempotent', run: async () => 'gone' }
const tool: UncertainEffect = {
  policy: 'from_params',
  run: async () => 'gone',
  unknown: () => ({ type: 'unknown' }),
  tooLarge: () => ({ type: 'unknown' }),
}

it('names every effect that a machine declares and the catalogue lacks', () => {
  const some = { 'session.callModel': tool, 'session.runTool': tool, 'action.runTool': tool }
  const check = () => checkedCatalog([sessionDefinition, actionDefinition], some)
  expect(check).toThrow(
    'no effect session.writeCheckpoint, session.endMemory, session.eraseSession, action.releaseInput, action.eraseAction',
  )
})

it('refuses an effect under another policy than its machine declares', () => {
  const wrong = { 'action.runTool': erase, 'action.releaseInput': erase, 'action.eraseAction': erase }
  expect(() => checkedCatalog([actionDefinition], wrong)).toThrow('action.runTool')
})

it('accepts a catalogue that contains all effects, and more', () => {
  const all = {
    'action.runTool': tool,
    'action.releaseInput': erase,
    'action.eraseAction': erase,
    'other.effect': tool,
  }
  expect(checkedCatalog([actionDefinition], all)).toBe(all)
})
