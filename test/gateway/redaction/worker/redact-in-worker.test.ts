import { describe, expect, it } from 'vitest'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { corpus } from '../corpus.ts'

const choice = { types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' }
const policy = policyBy(choice)
const mails = (count: number) => Array.from({ length: count }, (_, at) => `m${at}@example.com`)

describe('the redaction of a request in a worker', () => {
  it('has the same result as on the event loop', async () => {
    const texts = ['[EMAIL_7] stays', ...corpus(defaultTypes).map(({ text }) => text), 'nothing here']
    const calls = ['{"to":"ada@example.com","card":4242424242424242}', '{}']
    const here = policy.redact(texts, calls)
    const apart = await policy.redactInBackground(texts, calls)
    expect({ ...apart, restorer: null }).toEqual({ ...here, restorer: null })
    const answer = here.texts.join('\n')
    expect(apart.restorer?.restore(answer)).toBe(here.restorer?.restore(answer))
  })

  it('restores each of many values and no others', async () => {
    const all = mails(3000)
    const { texts, restorer } = await policy.redactInBackground([`see [EMAIL_12] ${all.join(' ')}`])
    expect(texts[0]).toContain('[EMAIL_13] [EMAIL_14]')
    expect(restorer?.restore(texts[0] ?? '')).toBe(`see [EMAIL_12] ${all.join(' ')}`)
    expect(restorer?.restore('[EMAIL_11] [EMAIL_3013] [PHONE_13]')).toBe('[EMAIL_11] [EMAIL_3013] [PHONE_13]')
  })

  it('restores no value that was not replaced, has several lines, or is excluded by the policy', async () => {
    expect((await policy.redactInBackground(['nothing'])).restorer).toBeNull()
    const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----'
    const other = key.replace('MIIE', 'MIIF')
    const kept = await policy.redactInBackground([`${key} ada@example.com ${other}`])
    expect(kept.texts).toEqual(['[SECRET_1] [EMAIL_1] [SECRET_2]'])
    expect(kept.restorer?.restore('[SECRET_1] [EMAIL_1] [SECRET_2]')).toBe('[SECRET_1] ada@example.com [SECRET_2]')
    const unwanted = await policyBy({ ...choice, restore: false }).redactInBackground(mails(1))
    expect(unwanted).toEqual({ texts: ['[EMAIL_1]'], toolArguments: [], restorer: null, found: { email: 1 } })
  })
})
