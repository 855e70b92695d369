import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { OAuthWorld } from './checks/oauth-world.ts'
import { signInChecks } from './checks/sign-in-checks.ts'
import { tokenChecks } from './checks/token-checks.ts'

const checks = [...signInChecks, ...tokenChecks].map(([title, check], index) => [index + 1, title, check] as const)

/** The numbered checks of connections, with an authorization server over TLS. */
describe('a connection by OAuth', () => {
  let world: OAuthWorld

  beforeAll(async () => {
    world = await OAuthWorld.start()
  })
  afterAll(() => world.stop())
  afterEach(() => world.calm())

  it('has at least 40 checks', () => {
    expect(checks.length).toBeGreaterThanOrEqual(40)
  })

  it.each(checks)('%i: %s', (_n, _title, check) => check(world))
})
