import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { memoryUserOf } from '#gateway/remembering/memory-user.ts'
import { narrowedScope, projectScope } from '#storage/scope.ts'
import { principals } from '#test/transport/api/serving.ts'

const publicKey: Principal = { ...principals.agent_key, keyType: 'public' }
const project = projectScope('prj_1')
const adas = narrowedScope(project, { tenant: 'ten_1', user: 'ada' })

describe('the user whose memory a chat uses', () => {
  it.each([
    ['the user that a secret key names', principals.secret_key, project, { named: 'bob', attributed: null }, 'bob'],
    ['the user of its header', principals.secret_key, project, { named: undefined, attributed: 'bob' }, 'bob'],
    [
      "a token's own user, whomever it names",
      principals.client_token,
      adas,
      { named: 'bob', attributed: 'bob' },
      'ada',
    ],
  ] as const)('is %s', (_, principal, scope, names, user) => {
    expect(memoryUserOf({ principal, scope }, names)).toBe(user)
  })

  it.each([
    ['a public key, whomever it names', publicKey, { named: 'bob', attributed: 'bob' }, 'secret_key_required'],
    ['a key that names no one', principals.secret_key, { named: undefined, attributed: null }, 'missing_field'],
    ['a key that names two', principals.secret_key, { named: 'ada', attributed: 'bob' }, 'invalid_field'],
  ] as const)('is refused to %s', (_, principal, names, code) => {
    expect(() => memoryUserOf({ principal, scope: project }, names)).toThrow(expect.objectContaining({ code }))
  })
})
