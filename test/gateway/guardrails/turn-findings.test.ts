import { afterEach, beforeEach, expect, it } from 'vitest'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { goodAnswer } from '../chat/chat-world.ts'
import { openGuardedWorld, words } from './guarded-world.ts'

let world: Awaited<ReturnType<typeof openGuardedWorld>>

beforeEach(async () => {
  world = await openGuardedWorld()
})
afterEach(() => world.close())

const said = (role: string, content: string) => ({ role, content })
const answer = { ...goodAnswer, choices: [{ index: 0, message: said('assistant', 'A falcon, and a falcon.') }] }
const finding = { guardrail: 'house', check: 'words', outcome: 'redacted' }

it.each([
  ['the input of a user', [said('user', 'the falcon')], { stage: 'input', found: 1 }],
  [
    'what a tool returned, but not in what was reported before',
    [said('user', 'the falcon'), said('assistant', 'falcon?'), said('tool', 'falcon, falcon')],
    { stage: 'tool_output', found: 2 },
  ],
])('a turn reports what is found in %s, and in the answer', async (_, messages, where) => {
  world.state.checks = [words('redact')]
  const call = world.guardCall()
  const sent = await call.input({ model: 'm', messages })
  expect(JSON.stringify(sent)).not.toContain('falcon')
  const [choice] = arrayOf((await call.answer(answer)).choices)
  expect(objectOf(objectOf(choice).message).content).toBe('A [REDACTED], and a [REDACTED].')
  expect(call.report.ofTurn).toEqual([
    { ...finding, ...where },
    { ...finding, stage: 'output', found: 2 },
  ])
  const all = messages.flatMap(({ content }) => content.match(/falcon/g) ?? []).length
  expect(call.report.findings).toEqual([
    { ...finding, on: 'input', found: all },
    { ...finding, on: 'output', found: 2 },
  ])
})
