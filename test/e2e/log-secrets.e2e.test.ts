import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api } from './api.ts'
import { isEvent } from './stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from './tool-server.ts'
import { World } from './world.ts'

const secret = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`

describe('the log of the server at level trace', () => {
  const masterKey = randomBytes(32).toString('base64')
  const secrets: Record<string, string> = {
    'provider key': secret('sk'),
    'tool header': secret('tool'),
    'new password': secret('password'),
    'wrong password': secret('wrong'),
    'wrong key': `csk_${secret('wrong')}`,
    'wrong token': `ect_${secret('wrong')}`,
    'user text': secret('private'),
    'master key': masterKey,
  }
  let tool: ToolServer
  let world: World
  let log: string

  /** Uses every secret: in successful and refused calls, with failing tools and providers. */
  const useSecrets = async (): Promise<void> => {
    const dashboard = await world.dashboard()
    const project = (await dashboard.get('/api/projects')).body.data[0].id
    const key = await dashboard.post(`/api/projects/${project}/keys`, { name: 'k' })
    const rotated = await dashboard.post(`/api/projects/${project}/keys/${key.body.id}/rotate`, {})
    const member = { email: 'm@example.com', password: secrets['new password'] }
    await dashboard.post(`/api/projects/${project}/members`, member)
    await dashboard.post('/api/auth/login', { ...member, password: secrets['wrong password'] })
    await world.as(secrets['wrong key'] ?? '').get('/v1/sessions')
    await world.api.post('/v1/sessions', `{"broken": "${secrets['user text']}"`)
    const tenant = await world.api.post('/v1/tenants', { external_id: 't', name: 'T' })
    const minted = { tenant_id: tenant.body.id, external_user_id: 'ada' }
    const token = await world.api.post('/v1/client-tokens', minted, { headers: { 'idempotency-key': 'a' } })
    Object.assign(secrets, {
      'created key': key.body.key,
      'rotated key': rotated.body.key,
      'client token': token.body.token,
    })
    await runTools()
    const mine = await world.as(token.body.token).createSession()
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/v1/sessions/${mine}/ws?token=${token.body.token}`)
    await new Promise((resolve) => {
      socket.onopen = resolve
    })
    socket.close()
    await followByQuery(mine, token.body.token)
  }

  /** Requests with the token in the query, as a browser's EventSource sends it: accepted, refused, and on other paths. */
  const followByQuery = async (session: string, token: string): Promise<void> => {
    const headers = { accept: 'text/event-stream' }
    const source = (path: string, secret: string): string => `${path}?token=${secret}`
    const stream = `/v1/sessions/${session}/stream`
    const reader = await new Api(world.url).stream(source(stream, token), undefined, { headers })
    const turn = await world.as(token).turn(session, { model: 'simulated-1', input: 'hello' })
    await reader.until(isEvent('turn.completed'))
    await turn.ended
    reader.stop()
    const refused = [
      source(stream, secrets['wrong token'] ?? ''),
      source('/v1/sessions', token),
      source('/nowhere', token),
    ]
    for (const path of refused) expect((await fetch(`${world.url}${path}`, { headers })).ok).toBe(false)
    expect((await fetch(`${world.url}${source(stream, token)}`)).status, 'no EventSource').toBe(401)
  }

  const runTools = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${secrets['tool header']}` }
    const model = 'simulated-1'
    for (const url of [tool.url, 'http://127.0.0.1:9/closed', 'http://169.254.169.254/refused']) {
      const session = await world.api.createSession()
      const turn = await world.api.turn(session, { ...gatedTurn({ url }, { headers }), model })
      const waits = await turn.until(isEvent('turn.paused'))
      await (await world.api.approve(session, waits.data.action_id)).ended
    }
    for (const input of ['fail please', 'malformed please', 'cut please']) {
      await (
        await world.api.turn(await world.api.createSession(), { model, input: `${input} ${secrets['user text']}` })
      ).ended
    }
    const unreachable = { input: 'hello', model: 'claude-haiku-4-5' }
    await (await world.api.turn(await world.api.createSession(), unreachable)).ended
  }

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({
      // the secrets of the first start are shown by the process, not in the log
      ownProcess: true,
      tools: [tool],
      env: {
        LOG_LEVEL: 'trace',
        SIMULATED_PROVIDER: 'on',
        ANTHROPIC_API_KEY: secrets['provider key'] ?? '',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        MASTER_KEY: masterKey,
      },
    })
    secrets['secret key'] = world.secretKey
    secrets['owner password'] = world.ownerPassword
    await useSecrets()
    await world.crash()
    await world.restart()
    log = world.server.log()
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  it('exists, and the secrets have been used', () => {
    expect(log).toContain('server started')
    expect(tool.calls.at(0)?.headers.authorization).toBe(`Bearer ${secrets['tool header']}`)
    expect(Object.keys(secrets)).toHaveLength(13)
  })

  it('contains no key, password, token, tool header or user text', () => {
    const found = Object.entries(secrets).filter(([, value]) => value.length < 8 || log.includes(value))
    expect(found.map(([name]) => name)).toEqual([])
  })

  it('is one JSON object per line, except for the secrets shown at the first start', () => {
    const lines = log.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    expect(lines).toEqual([
      'This is the first start. These secrets are shown once:',
      `  dashboard owner  ${world.ownerEmail}`,
    ])
  })
})
