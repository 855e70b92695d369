import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { LastingSecrets } from '#transport/api/sockets/lasting-secrets.ts'

describe('the request of a realtime session that an ephemeral secret opened', () => {
  it('stays valid after the secret has expired, until what the secret depends on ends', async () => {
    const principal: Principal = { kind: 'secret_key', project: 'prj_1', keyId: 'key_1', realtimeSecret: 'rts_1' }
    const expired = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(1)
      .sign(Buffer.alloc(32))
    const request = {
      ...{
        method: 'GET',
        path: '/v1/realtime',
        query: '',
        remoteAddress: '127.0.0.1',
        body: async () => Buffer.alloc(0),
      },
      header: (name: string) => (name === 'authorization' ? `Bearer ek_${expired}` : undefined),
    }
    let isRevoked = false
    const refuse = (): never => {
      throw new ServiceError('authentication_required')
    }
    const secrets = new LastingSecrets({ authenticate: refuse, readmit: (kept) => (isRevoked ? refuse() : kept) })
    expect(() => secrets.authenticate(request)).toThrow(ServiceError)
    secrets.keep(request, principal)
    expect(await secrets.authenticate(request)).toBe(principal)
    isRevoked = true
    expect(() => secrets.authenticate(request)).toThrow(ServiceError)
  })
})
