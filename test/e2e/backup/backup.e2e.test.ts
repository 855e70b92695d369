import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Service } from '#scripts/services/service.ts'
import { openUpstream } from '#test/gateway/call/scripted-upstream.ts'
import { Api } from '../api.ts'
import { openHosted } from '../hosted/hosted-server.ts'
import { runTool, runToolHosted, type ToolEnv } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { isEvent } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'

describe('an exported and imported project', () => {
  let folder = ''
  let mongodbUrl = ''
  const secretKey = `csk_${randomBytes(32).toString('base64url')}`
  let tool: ToolServer
  let server: Service | undefined
  let url = ''

  const place = (name: string, more: ToolEnv = {}): ToolEnv => ({
    DATA_DIR: join(folder, name),
    MONGODB_URL: '',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_SECRET_KEY: secretKey,
    BOOTSTRAP_OWNER_EMAIL: 'owner@example.com',
    BOOTSTRAP_OWNER_PASSWORD: 'correct horse battery',
    ALLOWED_PRIVATE_HOSTS: tool.host,
    ...more,
  })

  /** Starts the server of an environment, uses it, and stops it. */
  const at = async <T>(env: ToolEnv, use: (api: Api, log: () => string) => Promise<T>): Promise<T> => {
    const started = await openHosted(env)
    server = started
    url = started.url
    const used = await use(new Api(url, { authorization: `Bearer ${secretKey}` }), started.log)
    await started.stop()
    server = undefined
    return used
  }

  /** The owner's dashboard session on the running server. */
  const signedIn = async (): Promise<Api> => {
    const owner = { email: 'owner@example.com', password: 'correct horse battery' }
    const { headers } = await new Api(url).post('/api/auth/login', owner)
    return new Api(url, { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' })
  }

  const bytesOf = async (api: Api, session: string): Promise<string> =>
    (await api.fetch(`/v1/sessions/${session}/events?limit=100`)).text()

  beforeAll(async () => {
    tool = await startToolServer()
  })
  afterAll(() => tool.close())
  // each attempt of a test begins with stores of its own
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-moves-'))
    mongodbUrl = new URL(`/moves_${randomBytes(6).toString('hex')}`, process.env.MONGODB_URL).href
  })
  afterEach(async () => {
    await server?.stop()
    server = undefined
    rmSync(folder, { recursive: true })
    const client = await MongoClient.connect(mongodbUrl)
    await client.db().dropDatabase()
    await client.close()
  })

  it('keeps its logs byte for byte, its keys and its paused session from SQLite to MongoDB and back', async () => {
    const [here, there, back] = [place('here'), place('there', { MONGODB_URL: mongodbUrl }), place('back')]
    const called = tool.calls.length
    const made = await at(here, async (api, log) => {
      const [plain, paused] = [await api.createSession(), await api.createSession({ metadata: { line: '\u2028' } })]
      await (await api.turn(plain, { input: `hello ${'ä'.repeat(40_000)}` })).all()
      const waits = await (await api.turn(paused, gatedTurn(tool))).until(isEvent('turn.paused'))
      const logs = [await bytesOf(api, plain), await bytesOf(api, paused)]
      const project = /"project":"(prj_\w+)"/.exec(log())?.[1] ?? ''
      return { sessions: [plain, paused] as const, action: waits.data.action_id, logs, project }
    })
    const { project, sessions } = made

    const out = join(folder, 'out.ndjson')
    const wrong = await runToolHosted('export', ['--project', 'prj_none', '--out', out], here)
    expect(wrong).toEqual({ code: 1, said: 'There is no project prj_none in this store.\n' })
    expect(readdirSync(folder)).toEqual(['here'])
    expect(await runTool('export', ['--project', project, '--out', out], here)).toMatchObject({ code: 0 })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect((await runToolHosted('export', ['--project', project, '--out', out], here)).said).toContain('already exists')
    expect((await runToolHosted('import', ['--in', out], here)).said).toContain(`already has a project ${project}`)

    const imported = await runTool('import', ['--in', out], there)
    expect(imported).toMatchObject({ code: 0, said: expect.stringContaining('verified and complete') })
    expect(imported.said).not.toContain('not imported')
    expect((await runToolHosted('import', ['--in', out], there)).said).toContain('already been imported from this file')
    await at(there, async (api) => {
      expect((await api.get(`/v1/sessions/${sessions[1]}`)).body).toMatchObject({ status: 'paused' })
      expect([await bytesOf(api, sessions[0]), await bytesOf(api, sessions[1])]).toEqual(made.logs)
    })

    const again = join(folder, 'again.ndjson')
    expect(await runToolHosted('export', ['--project', project, '--out', again], there)).toMatchObject({ code: 0 })
    expect(await runToolHosted('import', ['--in', again], back)).toMatchObject({ code: 0 })
    await at(back, async (api) => {
      expect([await bytesOf(api, sessions[0]), await bytesOf(api, sessions[1])]).toEqual(made.logs)
      const resumed = await (await api.approve(sessions[1], made.action)).all()
      expect(resumed.at(-1)?.event).toBe('turn.completed')
      expect(tool.calls).toHaveLength(called + 1)
      const { body } = await api.get('/v1/sessions?limit=10&page=1')
      expect(body.data.map((each: { id: string }) => each.id)).toEqual(sessions.toReversed())
    })
  })

  it('keeps a knowledge base with its vectors, which answers as before', async () => {
    const upstream = await openUpstream()
    onTestFinished(() => upstream.close())
    const embedded: string[] = []
    upstream.script((response, { body }) => {
      const texts = [body.input].flat().map(String)
      embedded.push(...texts)
      const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: [1, text.length, 2] }))
      const usage = { prompt_tokens: 1, total_tokens: 1 }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ object: 'list', data, model: body.model, usage }))
    })
    const provider = { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url }
    const [here, there] = [place('read', provider), place('moved', provider)]
    const query = 'You have thirty days of leave a year.'
    const search = async (api: Api, base: string) =>
      (await api.post(`/v1/knowledge-bases/${base}/search`, { query, explain: true })).body.data
    const made = await at(here, async (api, log) => {
      const project = /"project":"(prj_\w+)"/.exec(log())?.[1] ?? ''
      const memory = { embedder: 'text-embedding-3-small' }
      const dashboard = await signedIn()
      const change = dashboard.post(`/api/projects/${project}`, { memory }, { method: 'PATCH' })
      expect(await change).toMatchObject({ status: 200 })
      const { id: base } = (await api.post('/v1/knowledge-bases', { name: 'Handbook' })).body
      await api.post(`/v1/knowledge-bases/${base}/sources`, {
        text: '# Leave\n\nYou have thirty days of leave a year.',
      })
      await vi.waitFor(async () => {
        const { body } = await api.get(`/v1/knowledge-bases/${base}/sources`)
        expect(body.data).toMatchObject([{ status: 'ready', embedded_count: 1 }])
      }, patience)
      return { base, project, hits: await search(api, base) }
    })
    expect(made.hits).toMatchObject([{ parts: { vector: expect.any(Number) } }])
    embedded.length = 0
    const out = join(folder, 'knowledge.ndjson')
    expect(await runToolHosted('export', ['--project', made.project, '--out', out], here)).toMatchObject({ code: 0 })
    expect((await runToolHosted('import', ['--in', out], there)).said).toContain('verified and complete')
    await at(there, async (api) => expect(await search(api, made.base)).toEqual(made.hits))
    expect(embedded, 'no vector is made anew').toEqual([query])
  })

  it('is refused while a server uses the store, on export and on import', async () => {
    const env = place('busy')
    const file = join(folder, 'busy.ndjson')
    writeFileSync(file, '')
    const said = `Another process uses ${join(folder, 'busy', 'troupe.db')}. Stop that server or tool first, or set DATA_DIR to another folder.\n`
    await at(env, async () => {
      expect(await runToolHosted('export', ['--project', 'prj_a', '--out', `${file}.out`], env)).toEqual({
        code: 1,
        said,
      })
      expect(await runToolHosted('import', ['--in', file], env)).toEqual({ code: 1, said })
    })
    expect(existsSync(`${file}.out`)).toBe(false)
  })

  it('is refused with one line that names the error when the file cannot be read', async () => {
    const { code, said } = await runToolHosted('import', ['--in', folder], place('unreadable'))
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(/^EISDIR: [^\n]+\n$/) })
  })

  it('is refused with one sentence when a path cannot be used, as a backup is, and creates no file', async () => {
    const env = place('places')
    await at(env, async () => {})
    const file = join(folder, 'a-file')
    writeFileSync(file, 'text')
    const before = readdirSync(folder)
    const ways = [
      ['backup', '--out', join(file, 'x'), `${join(file, 'x')} cannot be used: a part of the path is a file.`],
      ['backup', '--out', '/proc/troupe/x', '/proc/troupe/x cannot be used: there is no such folder.'],
      [
        'export',
        '--out',
        join(folder, 'none', 'x'),
        `${join(folder, 'none', 'x')} cannot be used: there is no such folder.`,
      ],
      ['import', '--in', join(file, 'x'), `There is no file ${join(file, 'x')}.`],
    ] as const
    for (const [tool, option, path, said] of ways) {
      const args = tool === 'export' ? ['--project', 'prj_a', option, path] : [option, path]
      expect(await runToolHosted(tool, args, env)).toEqual({ code: 1, said: `${said}\n` })
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  it('leaves a backup of MongoDB to mongodump, whose command it prints without the password, and exits with 1', async () => {
    const env = place('mongo', { MONGODB_URL: 'mongodb://ada:hidden-word@127.0.0.1:9/agents?tls=true' })
    const { code, said } = await runToolHosted('backup', ['--out', join(folder, 'mongo-copy')], env)
    expect(code).toBe(1)
    expect(said).toContain('\n  mongodump --uri "$MONGODB_URL" --db agents --gzip --archive=troupe.archive\n')
    expect(said).toMatch(/^This installation keeps its data in MongoDB\. .+ Keep MASTER_KEY .+\n$/s)
    expect(said).not.toMatch(/hidden-word|ada|127\.0\.0\.1/)
    expect(existsSync(join(folder, 'mongo-copy'))).toBe(false)
  })

  it('is refused when there is no store, and none is created', async () => {
    const nowhere = place('nowhere')
    const { code, said } = await runToolHosted('export', ['--project', 'prj_a', '--out', join(folder, 'x')], nowhere)
    expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('There is no store at') })
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })
})
