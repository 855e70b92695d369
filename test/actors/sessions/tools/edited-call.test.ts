import { afterEach, expect, it } from 'vitest'
import { action, approval, functionTool, httpTool, pausedTurn } from '../approving.ts'
import { callOf, collect, newSession, openWorld, type World } from '../harness.ts'

let world: World
afterEach(() => world.runtime.drain(0))

const parameters = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    amount: { type: 'integer', minimum: 1 },
    to: { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] },
  },
  required: ['amount'],
}
const ofServer = httpTool('pay', { needsApproval: true, parameters })
const { function: plain, ...gated } = functionTool('pay', true)
const ofCaller = { ...gated, function: { ...plain, parameters } }

const paused = async (tool: typeof ofServer | typeof ofCaller) => {
  const script = { calls: [{ name: 'pay', arguments: '{"amount":5}' }] }
  world = await openWorld({ scripts: [script, { text: ['Done.'] }] })
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [tool] })
  return { session, id: waiting.pay ?? '' }
}

const wrong: readonly (readonly [object, string])[] = [
  [{ amount: '5' }, 'arguments.amount'],
  [{ amount: 0 }, 'arguments.amount'],
  [{}, 'arguments.amount'],
  [{ amount: 5, to: {} }, 'arguments.to.iban'],
  [{ amount: 5, to: { iban: 7 } }, 'arguments.to.iban'],
]

it.each([
  ['a tool of the server', ofServer],
  ['a tool of the caller', ofCaller],
])('edited arguments have to fit the parameters of %s, by either operation', async (_of, tool) => {
  const { session, id } = await paused(tool)
  const results = [{ action_id: id, output: 'ok' }]
  const direct = (edited: object) =>
    world.useCases['actions.approve'](
      callOf({ action_id: id }, {}, { arguments: Object(edited), ...(tool === ofCaller && { tool_results: results }) }),
    )
  const inSession = (edited: object) => {
    const call = approval(session, id, results)
    return world.useCases['sessions.approve']({ ...call, body: { ...call.body, arguments: Object(edited) } })
  }
  for (const [edited, param] of wrong)
    for (const approve of [direct, inSession])
      await expect(approve(edited)).rejects.toMatchObject({ code: 'invalid_field', details: { param } })
  expect((await action(world, id)).status).toBe('pending_approval')
  await collect((await inSession({ amount: 7, to: { iban: 'DE1' } })).stream)
  expect((await action(world, id)).edits).toContainEqual({ path: '/amount', before: 5, after: 7 })
})

it('edited arguments of an own action for a tool of a session have to fit its parameters', async () => {
  const { session } = await paused(ofCaller)
  const made = await world.useCases['actions.create'](
    callOf({}, {}, { tool: 'pay', arguments: { amount: 5 }, risk_level: 'low' as const, session_id: session }),
  )
  const approve = (edited: object) =>
    world.useCases['actions.approve'](callOf({ action_id: made.id }, {}, { arguments: Object(edited) }))
  await expect(approve({ amount: 'x' })).rejects.toMatchObject({ details: { param: 'arguments.amount' } })
  expect(await approve({ amount: 6 })).toMatchObject({ status: 'approved', arguments: { amount: 6 } })
})

it('a schema that cannot be read does not keep a person from deciding', async () => {
  const { id } = await paused(httpTool('pay', { needsApproval: true, parameters: { type: 'nonsense' } }))
  const approve = callOf({ action_id: id }, {}, { arguments: { amount: 'x' } })
  expect(await world.useCases['actions.approve'](approve)).toMatchObject({ arguments: { amount: 'x' } })
})
