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

const cpuUs = (work: () => unknown): number => {
  const began = process.cpuUsage()
  for (let call = 0; call < 500; call++) work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 500
}

/**
 * Microseconds of the processor for one call of each: the least of many rounds in turns, which other
 * processes disturb least; they also hold up the compiler of hot code, so that the first rounds are slow.
 */
const leastUs = (one: () => unknown, other: () => unknown): readonly [number, number] => {
  const rounds = Array.from({ length: 60 }, () => [cpuUs(one), cpuUs(other)] as const)
  return [Math.min(...rounds.map(([us]) => us)), Math.min(...rounds.map(([, us]) => us))]
}

describe('the price of redaction', () => {
  // a gateway request of a kilobyte takes 130 µs or more, in which its body is read and written once: 4 µs
  it.each([
    ['a kilobyte', 15],
    ['ten kilobytes', 180],
  ])('of a chat of %s is below three times what reading and writing it as JSON takes', (_, repeats) => {
    const body = chat(repeats)
    const json = JSON.stringify(body)
    expect(redactChat(body, policy)).toMatchObject({ restorer: expect.anything() })
    const [redaction, coding] = leastUs(
      () => redactChat(body, policy),
      () => JSON.stringify(JSON.parse(json)),
    )
    expect(redaction).toBeLessThan(3 * coding)
  })
})
