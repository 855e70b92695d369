import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '#actors/accounts/passwords.ts'

describe('passwords', () => {
  it('are stored as argon2id with a salt of their own', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(one).not.toBe(two)
  })

  it('match themselves and nothing else', async () => {
    const stored = await hashPassword('correct horse')
    expect(await verifyPassword(stored, 'correct horse')).toBe(true)
    expect(await verifyPassword(stored, 'correct horsf')).toBe(false)
    expect(await verifyPassword(stored, '')).toBe(false)
  })

  it('never match where there is no member or no hash', async () => {
    expect(await verifyPassword(null, 'nobody has this password')).toBe(false)
    expect(await verifyPassword('no hash', 'correct horse')).toBe(false)
  })

  it('are refused when too many wait, and work again afterwards', async () => {
    const stored = await hashPassword('correct horse')
    const outcomes = await Promise.allSettled(Array.from({ length: 70 }, () => verifyPassword(stored, 'correct horse')))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused).toHaveLength(70 - 66)
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limit_exceeded' } })
    expect(await verifyPassword(stored, 'correct horse')).toBe(true)
  })
})
