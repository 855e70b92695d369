import { describe, expect, it } from 'vitest'
import { redactChat } from '#gateway/redaction/chat-redaction.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'

const policy = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' })
const words = 'I have looked twice, and asked the neighbours as well. '

const chat = (repeats: number) => ({
  model: 'm',
  messages: [
    { role: 'system', content: 'You answer questions of customers of a shop, briefly and in their language.' },
    {
      role: 'user',
      content: `My order 4711-0815 of 12 March 2026 came late. ${words.repeat(repeats)}Please write to ada@example.com.`,
    },
  ],
})

/** Microseconds of the processor for one call: the least of several rounds, which other processes disturb least. */
const cpuUs = (work: () => unknown): number => {
  const rounds = Array.from({ length: 7 }, () => {
    const began = process.cpuUsage()
    for (let call = 0; call < 3_000; call++) work()
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 3_000
  })
  return Math.min(...rounds)
}

describe('the price of redaction', () => {
  // a gateway request of a kilobyte takes some 130 µs, in which its body is read and written once: 5 µs
  it.each([
    ['a kilobyte', 15],
    ['ten kilobytes', 180],
  ])('of a chat of %s is below what reading and writing it as JSON takes twice', (_, repeats) => {
    const body = chat(repeats)
    const json = JSON.stringify(body)
    expect(redactChat(body, policy)).toMatchObject({ restorer: expect.anything() })
    expect(cpuUs(() => redactChat(body, policy))).toBeLessThan(2 * cpuUs(() => JSON.stringify(JSON.parse(json))))
  })
})
