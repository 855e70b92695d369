import { expect, it } from 'vitest'
import { guardTasks } from '#gateway/guardrails/worker/guard-tasks.ts'

it('a schema that calls itself asynchronous finds the same faults', async () => {
  const schema = { $async: true, type: 'object', required: ['order'] }
  expect(await guardTasks.matches({ schema, text: '{}' })).toEqual([['/order', 'is required']])
})
