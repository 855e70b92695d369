import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import { scopeOf } from '#transport/api/credentials/authorise.ts'
import { idempotencyOf, type RequestContent } from '#transport/api/idempotency-key.ts'
import { principals } from './serving.ts'

const requested = { params: {}, query: {}, body: {}, files: [] }
const request = { header: (name: string) => (name === 'idempotency-key' ? 'k1' : undefined) }

const keyed = async (principal: Principal, content: RequestContent = requested) =>
  idempotencyOf(operations['sessions.create'], { request, principal, scope: scopeOf(principal) }, content)

const causeOf = async (principal: Principal): Promise<string | undefined> => (await keyed(principal))?.cause

const { secret_key, agent_key, client_token, dashboard } = principals

describe('the cause of a request with an idempotency key', () => {
  it('is specific to one credential, so that no other gets its response or blocks its key', async () => {
    const callers: readonly Principal[] = [
      secret_key,
      { ...secret_key, keyId: 'key_9' },
      agent_key,
      { ...agent_key, keyId: 'key_8' },
      dashboard,
      { ...dashboard, memberId: 'usr_2' },
      client_token,
      { ...client_token, user: 'bea' },
      { ...client_token, tenant: 'ten_2' },
      { ...client_token, sessionId: 'ses_1' },
      { ...client_token, installationIds: ['ins_1'] },
    ]
    expect(new Set(await Promise.all(callers.map(causeOf))).size).toBe(callers.length)
  })

  it('stays the same for a new sign-in of the member and a new token of the user', async () => {
    expect(await causeOf({ ...dashboard, sessionId: 'ds_2' })).toBe(await causeOf(dashboard))
    expect(await causeOf({ ...client_token })).toBe(await causeOf(client_token))
  })
})
