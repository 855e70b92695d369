import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toolHeaders } from '#actors/sessions/tools/tool-headers.ts'
import { openStorage } from '#src/open-storage.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { Api } from '../api.ts'
import { runTool, runToolHosted } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { endsTurn } from '../stream-reader.ts'
import { refundTool, startToolServer, type ToolServer } from '../tool-server.ts'
import { either, World } from '../world.ts'

/** Enough rows for a pass over them to take longer than killing the server. */
const manyRows = 6000

describe.each(either('sqlite'))('a rotation of the master key on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const keyFile = () => join(world.toolEnv.DATA_DIR, 'master.key')
  const boxOf = (file: string) => openSecretBox({ masterKey: Buffer.from(readFileSync(file, 'utf8').trim(), 'base64') })
  const kidOf = (file: string) => boxOf(file).seal('', '').split('.')[0] ?? ''
  const sealedUnder = async (kid: string) =>
    Object.values(await world.mentions(`${kid}.`)).reduce((sum, count) => sum + count, 0)
  const ok = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }
  const refund = async (session: string) => {
    await (
      await world.api.turn(session, { input: 'Please use issue_refund for order 1042', pause_on_tool_calls: false })
    ).until(endsTurn)
    return tool.calls.at(-1)?.headers.authorization
  }
  const addRows = async () => {
    const storage = await openStorage({
      dataDir: world.toolEnv.DATA_DIR,
      mongodbUrl: world.toolEnv.MONGODB_URL || null,
    })
    const box = boxOf(keyFile())
    await storage.records.insertMany(
      toolHeaders,
      Array.from({ length: manyRows }, (_, n) => {
        const id = `thd_many_${String(n).padStart(6, '0')}`
        const at = {
          id,
          project: `prj_many_${n % 7}`,
          tenant: null,
          user: null,
          version: 1,
          created_at: 1,
          updated_at: 1,
        }
        const data = { origin: 'https://a.example', sealed: box.seal('{}', `${at.project}|tool_headers|${id}`) }
        return { ...at, expires_at: null, data }
      }),
    )
    await storage.close()
  }

  it('keeps secrets and API keys despite kill -9, and leaves nothing encrypted with the old key', async () => {
    const dashboard = await world.dashboard()
    const project = (await ok(dashboard.get('/api/projects'))).data[0].id
    const signing = `/api/projects/${project}/signing-secret`
    const secret = (await ok(dashboard.get(signing))).signing_secret
    const headed = { Authorization: 'Bearer vendor-7421' }
    const agent = await ok(
      world.api.post('/v1/agents', {
        name: 'Vendor',
        config: { model: 'simulated-1', tools: [refundTool(tool, { headers: headed })] },
      }),
    )
    const session = await world.api.createSession({ agent_id: agent.id })
    expect(await refund(session)).toBe(headed.Authorization)
    const keyed = { headers: { 'idempotency-key': 'once' } }
    const minted = await ok(dashboard.post(`/api/projects/${project}/keys`, { name: 'Once' }, keyed))
    const tenant = (await ok(world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' }))).id
    const client = (await ok(world.api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' }))).token
    const old = kidOf(keyFile())
    // each search reads the whole store, so the one for the end pauses in between
    const until = (isSo: (left: number) => boolean, interval = 250) =>
      vi.waitFor(async () => expect(await sealedUnder(old)).toSatisfy(isSo), { ...patience, interval })

    await world.crash()
    await addRows()
    const all = await sealedUnder(old)
    expect(all).toBeGreaterThan(manyRows)
    const rotated = await runTool('keys/rotate-master-key', [], world.toolEnv)
    expect(rotated.code, rotated.said).toBe(0)
    expect((await runToolHosted('keys/rotate-master-key', [], world.toolEnv)).said).toContain(
      'the previous rotation has not been completed',
    )
    expect(kidOf(`${keyFile()}.previous`)).toBe(old)

    await world.restart()
    await until((left) => left < all, 1)
    await world.crash()
    expect(await sealedUnder(old), 'it was killed in the middle').toBeGreaterThan(0)
    expect((await runToolHosted('doctor', [], world.toolEnv)).said).toMatch(
      /earlier key +\d+ secrets are still encrypted with it/,
    )
    await world.restart()
    await until((left) => left === 0)
    expect((await ok(new Api(world.url, { authorization: `Bearer ${client}` }).get('/v1/sessions'))).data).toEqual([])
    expect((await runToolHosted('doctor', [], world.toolEnv)).said).toContain(
      'no secrets are encrypted with it any more',
    )

    await world.crash()
    rmSync(`${keyFile()}.previous`)
    await world.restart()
    expect(existsSync(`${keyFile()}.previous`)).toBe(false)
    expect(await world.mentions(`${old}.`)).toEqual({})
    expect((await ok(dashboard.get(signing))).signing_secret).toBe(secret)
    expect(await refund(session)).toBe(headed.Authorization)
    const again = await dashboard.post(`/api/projects/${project}/keys`, { name: 'Once' }, keyed)
    expect(again.body.error?.code, 'what was kept of the first answer opens').toBe('idempotency_secret_shown')
    await ok(world.as(minted.key).get('/v1/sessions'))
    expect((await new Api(world.url, { authorization: `Bearer ${client}` }).get('/v1/sessions')).status).toBe(401)
    expect((await runToolHosted('doctor', [], world.toolEnv)).said).not.toContain('earlier key')
  })
})
