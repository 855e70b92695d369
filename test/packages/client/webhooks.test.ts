import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { unwrap, type WebhookEvent } from '#client/api/index.ts'
import { webhookHeaders } from '#src/outgoing/webhook-signature.ts'

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const event = {
  type: 'tenant.suspended',
  timestamp: '2026-11-28T09:00:00.000Z',
  data: { tenant_id: 'ten_1', external_id: 'acme' },
}
const body = JSON.stringify(event)

const signed = (secrets: string | readonly string[] = secret, ageS = 0) =>
  webhookHeaders(secrets, { id: 'evt_1', timestampS: Math.floor(Date.now() / 1000) - ageS, body })

describe('unwrap', () => {
  it('returns the event of a request that the server signed, in either form of it', async () => {
    expect(await unwrap({ headers: signed(), body }, secret)).toEqual(event)
    const request = new Request('http://page.test/hook', { method: 'POST', headers: signed(), body })
    expect(await unwrap(request, secret)).toEqual(event)
  })

  it('agrees with the scheme’s own library', async () => {
    const at = new Date()
    const signature = new Webhook(secret).sign('evt_2', at, body)
    const headers = {
      'webhook-id': 'evt_2',
      'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
      'webhook-signature': signature,
    }
    expect(await unwrap({ headers, body }, secret)).toEqual(event)
  })

  it('accepts either secret while one is being rotated', async () => {
    const other = `whsec_${Buffer.from('another one').toString('base64')}`
    expect(await unwrap({ headers: signed([other, secret]), body }, secret)).toEqual(event)
    await expect(unwrap({ headers: signed(other), body }, secret)).rejects.toMatchObject({ code: 'invalid_signature' })
  })

  it('refuses what is changed, old, from the future, unsigned or malformed, with what to do', async () => {
    const refused = (headers: Readonly<Record<string, string>>, text = body, with_ = secret) =>
      expect(unwrap({ headers, body: text }, with_)).rejects.toMatchObject({
        code: 'invalid_signature',
        message: expect.stringMatching(/clock right|body unparsed|begins with/),
      })
    await refused(signed(), `${body} `)
    await refused(signed(secret, 301))
    await refused(signed(secret, -301))
    await refused({})
    await refused({ ...signed(), 'webhook-id': 'evt_2' })
    await refused({ ...signed(), 'webhook-signature': 'v1,%%%' })
    await refused({ ...signed(), 'webhook-timestamp': 'NaN' })
    await refused(signed(), body, 'whsec_%%%')
    expect(await unwrap({ headers: signed(secret, 400), body }, secret, { toleranceS: 500 })).toEqual(event)
  })

  it('returns events whose types a switch tells from each other', async () => {
    const idOf = (each: WebhookEvent): string | null => (each.type === 'run.completed' ? each.data.run_id : null)
    expect(idOf(await unwrap({ headers: signed(), body }, secret))).toBeNull()
  })
})
