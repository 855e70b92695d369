import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '#actors/accounts/passwords.ts'

const from = (password: string, origin = '10.0.0.1') => ({ password, origin })

describe('passwords', () => {
  it('are stored as argon2id with unique salts', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(one).not.toBe(two)
  })

  it('match themselves and nothing else', async () => {
    const stored = await hashPassword('correct horse')
    expect(await verifyPassword(stored, from('correct horse'))).toBe(true)
    expect(await verifyPassword(stored, from('correct horsf'))).toBe(false)
    expect(await verifyPassword(stored, from(''))).toBe(false)
  })

  it('never match if there is no member or no hash', async () => {
    expect(await verifyPassword(null, from('nobody has this password'))).toBe(false)
    expect(await verifyPassword('no hash', from('correct horse'))).toBe(false)
  })

  it('are refused if too many from one origin wait, and work again afterwards', async () => {
    const stored = await hashPassword('correct horse')
    const many = Array.from({ length: 30 }, () => verifyPassword(stored, from('correct horse')))
    const refused = (await Promise.allSettled(many)).filter((outcome) => outcome.status === 'rejected')
    expect(refused).toHaveLength(30 - 18)
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limit_exceeded' } })
    expect(await verifyPassword(stored, from('correct horse'))).toBe(true)
  })

  it('of one origin are checked during a flood from another one', async () => {
    const stored = await hashPassword('correct horse')
    const flood = Array.from({ length: 40 }, () => verifyPassword(stored, from('wrong')).catch(() => 'refused'))
    const finished: string[] = []
    void Promise.all(flood).then(() => finished.push('flood'))
    expect(await verifyPassword(stored, from('correct horse', '10.0.0.2'))).toBe(true)
    expect(finished).toEqual([])
    expect(await Promise.all(flood)).toContain('refused')
  })
})
