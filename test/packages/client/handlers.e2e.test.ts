import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientToken, Troupe } from '#client/index.ts'
import { expressToken, tokenHandler } from '#client/server/index.ts'
import { World } from '#test/e2e/world.ts'

let world: World
let tenant = ''
beforeAll(async () => {
  world = await World.start()
  tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
})
afterAll(() => world.stop())

const server = () => new Troupe({ baseUrl: world.url, key: world.secretKey })
const user = () => ({ tenant_id: tenant, external_user_id: 'ada' })

/** A client as it is in a page of that user. */
const pageOf = (handler: (request: Request) => Promise<Response>) => {
  let fetched = 0
  const token = async (): Promise<ClientToken> => {
    fetched++
    return Object(await (await handler(new Request('http://page.test/token', { method: 'POST' }))).json())
  }
  return { troupe: new Troupe({ baseUrl: world.url, token }), fetched: () => fetched }
}

describe('a route for tokens', () => {
  it('lets the page of who is signed in talk, with one token for all requests', async () => {
    const { troupe, fetched } = pageOf(tokenHandler(server(), user))
    const [one, other] = [troupe.sessions.open(), troupe.sessions.open()]
    const turns = await Promise.all([one.send('reply exactly: one'), other.send('reply exactly: other')])
    expect(turns.map(({ text }) => text)).toEqual(['one', 'other'])
    expect(fetched()).toBe(1)
  })

  it('refuses who is not signed in, and shows no page what is wrong with the operator’s key', async () => {
    const request = new Request('http://page.test/token', { method: 'POST' })
    expect((await tokenHandler(server(), () => null)(request)).status).toBe(401)
    const broken = new Troupe({ baseUrl: world.url, key: 'csk_wrong' })
    const answer = await tokenHandler(broken, user)(request)
    expect([answer.status, await answer.json()]).toEqual([502, { error: expect.stringMatching(/^no token: \w+$/) }])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('answers in the way of Express too', async () => {
    const answered: unknown[] = []
    const response = {
      set: (headers: object) => answered.push(headers),
      status: (code: number) => answered.push(code),
      json: (body: unknown) => answered.push(body),
    }
    await expressToken(server(), user)({ headers: {} }, response)
    expect(answered).toEqual([
      { 'cache-control': 'no-store' },
      201,
      expect.objectContaining({ token: expect.stringMatching(/^ect_/) }),
    ])
  })
})

describe('a client', () => {
  it('says in one sentence what to do about a wrong address, a wrong key and two credentials', async () => {
    const missing = new Troupe({ baseUrl: `${world.url}/elsewhere`, key: world.secretKey })
    await expect(missing.sessions.open('ses_none').send('hi')).rejects.toMatchObject({ status: 404 })
    await expect(new Troupe({ baseUrl: world.url, key: 'csk_wrong' }).sessions.open().send('hi')).rejects.toMatchObject(
      {
        status: 401,
        type: 'authentication_error',
      },
    )
    expect(() => new Troupe({ baseUrl: world.url })).toThrow('Pass either key or token')
    const away = new Troupe({ baseUrl: 'http://127.0.0.1:9', key: 'csk_x', retryForMs: 100 })
    await expect(away.sessions.open().send('hi')).rejects.toThrow('is the server running, and is baseUrl right?')
  })

  it('fetches another token once when the server refuses one', async () => {
    const handler = tokenHandler(server(), user)
    let fetched = 0
    const token = async () => {
      const answer: ClientToken = Object(
        await (await handler(new Request('http://page.test/token', { method: 'POST' }))).json(),
      )
      return fetched++ === 0 ? { ...answer, token: `${answer.token}x` } : answer
    }
    const troupe = new Troupe({ baseUrl: world.url, token })
    expect(await troupe.sessions.open().send('reply exactly: one')).toMatchObject({ text: 'one' })
    expect(fetched).toBe(2)
    const refused = new Troupe({
      baseUrl: world.url,
      token: async () => ({ token: 'ect_x', expires_at: '2100-01-01' }),
    })
    await expect(refused.sessions.open().send('hi')).rejects.toMatchObject({ status: 401 })
  })
})
