import { expect, it } from 'vitest'
import { CancelledBatches } from '#gateway/batches/cancelled-batches.ts'
import { LineRunner } from '#gateway/batches/run-line.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callOf } from '../ledger/calls.ts'

const request = { custom_id: 'a', method: 'POST', url: '/v1/responses', body: {} }
const line = { project: 'prj_a', endpoint: '/v1/responses', caller: {}, batch: 'bat_1', number: 0 }
const made = callOf()
const { inputTokens = 0 } = made.units?.tokens ?? {}

it('a line that fails after a model has answered is charged for the answer, as are those of earlier attempts', async () => {
  const clock = new VirtualClock()
  const refusals = [
    new ServiceError('rate_limit_exceeded', { retryAfterS: 1 }),
    new ServiceError('content_policy_violation'),
  ]
  const runner = new LineRunner({
    ...{ clock, cancelled: new CancelledBatches(undefined) },
    call: async (_line, _signal, calls) => {
      calls.add(made)
      throw refusals.shift() ?? new Error('no more')
    },
  })
  const run = runner.run({ ...line, text: JSON.stringify(request) }, new AbortController().signal)
  await clock.advance(5_000)
  const { ok, tokens, metered } = await run
  expect({ ok, input: tokens.input, calls: metered.length }).toEqual({ ok: false, input: 2 * inputTokens, calls: 2 })
  expect(inputTokens).toBeGreaterThan(0)
})
