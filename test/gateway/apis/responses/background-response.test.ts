import { expect, it } from 'vitest'
import { storedRequest } from '#gateway/apis/responses/background/schema.ts'
import { storedCaller } from '#gateway/apis/responses/background/stored-caller.ts'
import { callerOf } from '#test/gateway/ledger/calls.ts'
import { responsesWorld } from '../responses-world.ts'
import { saying } from '../scripted-chat.ts'

it('makes a background response once whose answer a crash kept from its actor, and it is what later ones continue', async () => {
  const { make, chat } = await responsesWorld([{ deltas: saying('First.') }, { deltas: saying('Second.') }])
  const caller = callerOf()
  const request = storedRequest({ model: 'model-1', input: 'hi', background: true }, 'hi')
  const requested = {
    ...{ id: 'resp_1', project: caller.project, request, caller: storedCaller(caller), document: { created_at: 7 } },
  }
  const to = { signal: new AbortController().signal, show: () => {} }
  const first = await make(requested, to)
  expect(await make(requested, to)).toEqual(first)
  expect(first).toMatchObject({ id: 'resp_1', created_at: 7, output: [{ content: [{ text: 'First.' }] }] })
  expect(chat.received).toHaveLength(1)
})
