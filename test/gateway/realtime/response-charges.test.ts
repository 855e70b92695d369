import { beforeEach, describe, expect, it } from 'vitest'
import type { Admission, Ticket } from '#gateway/call/admission.ts'
import type { KeyLimits } from '#gateway/call/pools/key-limits.ts'
import type { Route } from '#gateway/call/routes.ts'
import { ResponseCharges } from '#gateway/realtime/relay/response-charges.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { callerOf } from '../ledger/calls.ts'
import { code, world as openLimits } from '../limits/limited-world.ts'

let limited: Awaited<ReturnType<typeof openLimits>>
beforeEach(async () => {
  limited = await openLimits()
})

const settled: (readonly [string | null, number])[] = []
const ticket: Ticket = { headers: [], settle: (usd, tokens) => void settled.push([usd, tokens]) }

const sessionWith = (keyLimits: KeyLimits, admit: Admission['admit'] = () => ticket): ResponseCharges => {
  const route: Route = {
    ...{ model: 'gpt-realtime', provider: 'openai', format: 'openai', baseUrl: 'https://api.openai.com/v1', keyLimits },
    ...{ apiKey: 'key', source: 'byok', connectionId: 'pvc_1' },
  }
  const admission = { admit, admitKey: limited.admission.admitKey, spendKey: limited.admission.spendKey }
  const parts = { admission, ledger: { record: () => {} }, now: limited.clock.now }
  return new ResponseCharges(parts, { caller: callerOf(), model: 'gpt-realtime', route, budget: null })
}
const usage = { input_tokens: 600, output_tokens: 400 }
const respond = async (charges: ResponseCharges, id: string) => {
  await charges.permit({ response: { max_output_tokens: 500 } }, null)
  await charges.begun(id)
  charges.done({ id, usage })
}

describe('a response of a relayed session', () => {
  it('counts in the tokens of its key, and beyond them is refused until they are free', async () => {
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: 1_500 })
    await respond(charges, 'r1')
    await limited.clock.advance(1_000)
    await respond(charges, 'r2')
    await limited.clock.advance(1_000)
    await expect(respond(charges, 'r3')).rejects.toEqual(code('rate_limit_exceeded'))
    await expect(charges.begun('by the provider')).rejects.toEqual(code('rate_limit_exceeded'))
    await limited.clock.advance(60_000)
    await respond(charges, 'r4')
  })

  it('is held at a price of zero or more, whatever its client wants', async () => {
    const held: (string | null)[] = []
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: null }, (request) => {
      held.push(request.maxUsd())
      return ticket
    })
    for (const max_output_tokens of [-1_000_000, Number.POSITIVE_INFINITY, 'inf', undefined])
      await charges.permit({ response: { max_output_tokens } }, null)
    expect(new Set(held).size).toBe(1)
    expect(Number(held[0])).toBeGreaterThan(0)
  })

  it('is a request of its key, which a refusal by a budget gives back', async () => {
    const key = { requestsPerMinute: 1, tokensPerMinute: null }
    const poor = sessionWith(key, () => Promise.reject(new ServiceError('budget_exceeded')))
    await expect(respond(poor, 'r1')).rejects.toEqual(code('budget_exceeded'))
    const charges = sessionWith(key)
    await respond(charges, 'r2')
    await expect(respond(charges, 'r3')).rejects.toEqual(code('rate_limit_exceeded'))
  })

  it('leaves nothing held when its session ends while it waits for permission', async () => {
    const gate = Promise.withResolvers<Ticket>()
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: null }, () => gate.promise)
    const permitted = charges.permit({}, null)
    charges.end(new ServiceError('cancelled'))
    settled.length = 0
    gate.resolve(ticket)
    await permitted
    expect(settled).toEqual([['0', 0]])
  })

  it('that ends before its permission is there counts as what it used, and one that begins twice once', async () => {
    const gates = [Promise.withResolvers<Ticket>(), Promise.withResolvers<Ticket>()]
    let permits = 0
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: null }, () => {
      const gate = gates[permits++]
      if (gate === undefined) throw new Error('a third permission')
      return gate.promise
    })
    const begun = [charges.begun('r1'), charges.begun('r2'), charges.begun('r2')]
    const cost = charges.done({ id: 'r1', usage })
    for (const gate of gates) gate.resolve(ticket)
    settled.length = 0
    await Promise.all(begun)
    expect(settled).toEqual([[cost, 1_000]])
    expect(Number(cost)).toBeGreaterThan(0)
    charges.end(new ServiceError('cancelled'))
    expect(settled).toHaveLength(2)
  })

  it('counts transcripts that come when the key has no tokens left', async () => {
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: 1_000 })
    charges.configured({ audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } })
    charges.heard(0, 5_000_000)
    await respond(charges, 'r1')
    await limited.clock.advance(30_000)
    await charges.transcribed({ type: 'tokens', input_tokens: 900, output_tokens: 200 }, 'Hello')
    await limited.clock.advance(35_000)
    await expect(respond(charges, 'r2')).rejects.toEqual(code('rate_limit_exceeded'))
  })

  it('that its provider began and that is refused counts what it used until it was cancelled', async () => {
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: 1_000 })
    await respond(charges, 'r1')
    await limited.clock.advance(30_000)
    await expect(charges.begun('r2')).rejects.toEqual(code('rate_limit_exceeded'))
    charges.done({ id: 'r2', usage })
    await limited.clock.advance(35_000)
    await expect(respond(charges, 'r3')).rejects.toEqual(code('rate_limit_exceeded'))
    await limited.clock.advance(30_000)
    await respond(charges, 'r4')
  })

  it('leaves tokens for transcripts of its input, which are counted too', async () => {
    const charges = sessionWith({ requestsPerMinute: null, tokensPerMinute: 1_000 })
    charges.configured({ audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } })
    charges.heard(0, 5_000_000)
    await charges.transcribed({ type: 'tokens', input_tokens: 900, output_tokens: 200 }, 'Hello')
    await expect(respond(charges, 'r1')).rejects.toEqual(code('rate_limit_exceeded'))
  })
})
