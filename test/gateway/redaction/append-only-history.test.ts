import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import type { RedactionPolicy } from '#gateway/call/redaction.ts'
import { redactChat } from '#gateway/redaction/chat-redaction.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'

const choice = { types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' }

/** A policy, and the texts that it received since the last call of `seen`. */
const watched = (made = policyBy(choice)) => {
  const seen: string[] = []
  const policy: RedactionPolicy = {
    ...made,
    redact: (texts, calls = []) => {
      seen.push(...texts, ...calls)
      return made.redact(texts, calls)
    },
  }
  return { policy, seen: () => seen.splice(0) }
}

const user = (content: string) => ({ role: 'user', content })

/** The redacted conversation with its incremental history; it is compared with a redaction of the complete body. */
const sent = async (list: readonly ReturnType<typeof user>[], policy: RedactionPolicy, system = 'Be kind.') => {
  const rest: ChatBody = { model: 'm', messages: [{ role: 'system', content: system }] }
  const body: ChatBody = { ...rest, messages: [{ role: 'system', content: system }, ...list] }
  const at = (place: number) => ({ ...user(''), ...list[place] })
  const made = await redactChat(body, policy, { list, at, rest })
  const whole = await redactChat(body, policyBy(choice))
  expect(made.body, 'the same as if all were looked at').toEqual(whole.body)
  expect(made.restorer === null).toBe(whole.restorer === null)
  return { body, made, texts: JSON.stringify(made.body) }
}

describe('a growing conversation', () => {
  it('has only its new messages scanned, and keeps its body object while nothing is found', async () => {
    const { policy, seen } = watched()
    const list = [user('Hello'), user('How are you?')]
    const first = await sent(list, policy)
    expect(first.made.body).toBe(first.body)
    expect(seen()).toEqual(['Be kind.', 'Hello', 'How are you?'])
    list.push(user('Fine.'))
    const second = await sent(list, policy)
    expect(second.made.body).toBe(second.body)
    expect(seen()).toEqual(['Be kind.', 'Fine.'])
  })

  it('keeps the placeholders of earlier messages with the same numbers in every request', async () => {
    const { policy, seen } = watched()
    const list = [user('Hello'), user('I am ada@example.com')]
    expect((await sent(list, policy)).texts).toContain('I am [EMAIL_1]')
    list.push(user('Write to bob@example.com'), user('Thanks'))
    const { texts, made } = await sent(list, policy)
    expect(texts).toContain('Write to [EMAIL_2]')
    expect(made.restorer).not.toBeNull()
    seen()
    list.push(user('And to ada@example.com again'))
    expect((await sent(list, policy)).texts).toContain('And to [EMAIL_1] again')
    expect(seen()).toEqual([
      'Be kind.',
      'I am ada@example.com',
      'Write to bob@example.com',
      'And to ada@example.com again',
    ])
  })

  it('never reuses a placeholder that occurs in an earlier text', async () => {
    const { policy } = watched()
    const list = [user('What does [EMAIL_7] mean?'), user('Hello')]
    await sent(list, policy)
    list.push(user('I am ada@example.com'))
    expect((await sent(list, policy)).texts).toContain('I am [EMAIL_8]')
  })

  it('is scanned completely under another policy and for another list', async () => {
    const { policy, seen } = watched()
    const list = [user('Hello'), user('call 555-0100')]
    await sent(list, policy)
    seen()
    await sent([...list], policy)
    expect(seen()).toHaveLength(3)
    const other = watched(policyBy({ ...choice, types: ['email'] }))
    const at = (place: number) => ({ ...user(''), ...list[place] })
    await redactChat({ model: 'm', messages: list }, other.policy, { list, at, rest: { model: 'm' } })
    expect(other.seen()).toEqual(['Hello', 'call 555-0100'])
  })

  it('has only its instructions changed when only they contain personal data', async () => {
    const { policy, seen } = watched()
    const list = [user('Hello')]
    const system = 'Write to help@example.com.'
    expect((await sent(list, policy, system)).texts).toContain('Write to [EMAIL_1].')
    seen()
    list.push(user('Bye'))
    await sent(list, policy, system)
    expect(seen()).toEqual([system, 'Bye'])
  })

  it('is scanned in the worker when it is long, and then only its new messages are scanned', async () => {
    const { policy, seen } = watched()
    const list = Array.from({ length: 70 }, (_, n) => user(`${n} ${'word '.repeat(200)}`))
    await sent(list, policy)
    expect(seen(), 'read in the worker').toEqual([])
    list.push(user('Bye'))
    await sent(list, policy)
    expect(seen()).toEqual(['Be kind.', 'Bye'])
  })
})
