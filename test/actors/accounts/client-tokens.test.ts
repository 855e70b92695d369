import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { ClientTokens } from '#actors/accounts/client-tokens.ts'
import { deriveKey, keyName } from '#records/derive-key.ts'
import { keysOf } from '#records/sealing/server-keys.ts'

const masterKey = Buffer.alloc(32, 1)
const start = 1_800_000_000_000
const grant = {
  project: 'prj_1',
  tenant: 'ten_1',
  user: 'u 1/ä',
  permissions: ['sessions:turn'],
  sessionId: 'ses_1',
  installationIds: ['ins_1'],
}

const open = (key = masterKey) => {
  const clock = { now: start }
  return { clock, tokens: new ClientTokens({ keys: keysOf({ masterKey: key }), now: () => clock.now }) }
}

const changed = (token: string, at: number): string => {
  const other = token[at] === 'A' ? 'B' : 'A'
  return token.slice(0, at) + other + token.slice(at + 1)
}

describe('client tokens', () => {
  it('grant exactly what they were minted for', async () => {
    const { tokens } = open()
    const { token } = await tokens.mint(grant)
    expect(token).toMatch(/^ect_[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(await tokens.verify(token)).toEqual({ kind: 'client_token', ...grant })
  })

  it('are verified without a promise if seen before', async () => {
    const { tokens } = open()
    const { token } = await tokens.mint({ ...grant, sessionId: null })
    const first = await tokens.verify(token)
    expect(tokens.verify(token)).toBe(first)
  })

  it('live at most 900 seconds, whatever is requested', async () => {
    const { tokens } = open()
    expect((await tokens.mint(grant, 86_400)).expiresAtMs).toBe(start + 900_000)
    expect((await tokens.mint(grant, 60)).expiresAtMs).toBe(start + 60_000)
  })

  it('are refused as soon as they expire, whether seen before or not', async () => {
    const { clock, tokens } = open()
    const [seen, unseen] = [await tokens.mint(grant, 60), await tokens.mint({ ...grant, user: 'b' }, 60)]
    clock.now = start + 59_999
    expect(await tokens.verify(seen.token)).not.toBeNull()
    clock.now = start + 60_000
    expect(await tokens.verify(seen.token)).toBeNull()
    expect(await tokens.verify(unseen.token)).toBeNull()
  })

  it('are refused if any part was altered', async () => {
    const { tokens } = open()
    const { token } = await tokens.mint(grant)
    const [header = '', payload = ''] = token.split('.')
    for (const at of [6, header.length + 5, header.length + payload.length + 6])
      expect(await tokens.verify(changed(token, at))).toBeNull()
  })

  it('are refused if another installation minted them', async () => {
    const { token } = await open(Buffer.alloc(32, 2)).tokens.mint(grant)
    expect(await open().tokens.verify(token)).toBeNull()
  })

  it('are refused with another kid, and without an algorithm', async () => {
    const key = deriveKey(masterKey, 'client-tokens')
    const sign = (kid: string) =>
      new SignJWT({ project: 'p', tenant: 't', permissions: [], session_id: null, installation_ids: [] })
        .setProtectedHeader({ alg: 'HS256', kid })
        .setSubject('u')
        .setAudience('troupe-client')
        .setExpirationTime(start / 1000 + 60)
        .sign(key)
    const { tokens } = open()
    expect(await tokens.verify(`ect_${await sign(keyName(key))}`)).not.toBeNull()
    expect(await tokens.verify(`ect_${await sign('other')}`)).toBeNull()
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: keyName(key) })).toString('base64url')
    const [, payload = ''] = (await tokens.mint(grant)).token.split('.')
    expect(await tokens.verify(`ect_${none}.${payload}.`)).toBeNull()
  })

  it.each(['', 'ect_', 'ect_a.b', 'ect_..', 'csk_abc', `ect_${'a'.repeat(9000)}`])('refuses %j', async (token) => {
    expect(await open().tokens.verify(token)).toBeNull()
  })
})
