import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { portNear, startServer } from './quickstart/server-process.ts'
import { type Frame, frames } from './quickstart/sse-lines.ts'
import { startToolServer, type ToolServer } from './quickstart/tool-server.ts'

/*
 * `npm run quickstart`: starts the server on SQLite with the simulated model, and runs one turn of a session that
 * pauses for an approval. Its data and its key are under `quickstart` in the data folder
 * (DATA_DIR), separate from those of `npm start`.
 */

const folder = join(process.env.DATA_DIR ?? 'data', 'quickstart')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

interface Credentials {
  readonly key: string
  readonly email: string
  readonly password: string
}

const credentials = (): Credentials => {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'credentials.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const made = {
    key: `csk_${randomBytes(32).toString('base64url')}`,
    email: 'owner@example.com',
    password: randomBytes(12).toString('base64url'),
  }
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 })
  return made
}

const describe: Readonly<Record<string, (data: Frame['data']) => string>> = {
  'turn.started': (data) => `turn ${data.turn_number} on ${data.model}: "${data.input_text}"`,
  'response.output_text.delta': (data) => JSON.stringify(data.delta),
  'tool_call.started': (data) => `${data.tool} ${JSON.stringify(data.arguments)}`,
  'turn.paused': (data) => `pending approval: ${data.action_id}`,
  'turn.resumed': (data) => `${data.resolution}`,
  'tool_call.completed': (data) => `${data.tool} answered ${data.output}`,
  'turn.completed': (data) => `output ${JSON.stringify(data.output)}, usage ${JSON.stringify(data.usage)}`,
}

const show = ({ event, id, data }: Frame): void =>
  say(`  ${id.padStart(3)}  ${event.padEnd(27)} ${describe[event]?.(data) ?? JSON.stringify(data)}`)

/** Posts to the server and returns its frames, printed as they arrive. */
const stream = async (url: string, key: string, body: object): Promise<readonly Frame[]> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
  const seen: Frame[] = []
  for await (const frame of frames(response.body)) {
    show(frame)
    seen.push(frame)
  }
  return seen
}

const runTurn = async (server: string, key: string, tool: ToolServer): Promise<void> => {
  const created = await fetch(`${server}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { from: 'quickstart' } }),
  })
  const session: { readonly id: string } = Object(await created.json())
  say(`\nPOST /v1/sessions → ${created.status} ${session.id}`)
  say(`POST /v1/sessions/${session.id}/turns (with an http tool that requires approval)`)
  const paused = await stream(`${server}/v1/sessions/${session.id}/turns`, key, {
    input: 'Please use issue_refund for order 1042',
    pause_on_tool_calls: true,
    tools: [
      {
        type: 'http',
        name: 'issue_refund',
        description: 'Pays an order back.',
        parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
        url: tool.url,
        needsApproval: true,
        risk_level: 'high',
      },
    ],
  })
  const waiting = paused.find((frame) => frame.event === 'turn.paused')
  if (waiting === undefined) throw new Error('the turn did not pause')
  say(`the session is paused; the tool has run ${tool.refunds.size} times`)
  say(`POST /v1/sessions/${session.id}/approve`)
  const resumed = await stream(`${server}/v1/sessions/${session.id}/approve`, key, {
    action_id: waiting.data.action_id,
  })
  if (resumed.at(-1)?.event !== 'turn.completed') throw new Error('the turn did not complete')
  say(`the turn is complete; the tool has run ${tool.refunds.size} time`)
}

const usage = [
  'usage: npm run quickstart [-- --exit]',
  '',
  'Starts the server on SQLite with the simulated model and runs one turn that pauses for an approval.',
  'It keeps running until Ctrl-C; with --exit, it stops after the turn. PORT sets the port.',
].join('\n')

const main = async (): Promise<void> => {
  const { exit = false } = readCommandLine({ usage, options: { exit: { type: 'boolean' } } })
  const { key, email, password } = credentials()
  const tool = await startToolServer()
  const port = await portNear(Number(process.env.PORT ?? 8080))
  const server = await startServer({
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    MONGODB_URL: '',
    REDIS_URL: '',
    SIMULATED_PROVIDER: 'on',
    BOOTSTRAP_SECRET_KEY: key,
    BOOTSTRAP_OWNER_EMAIL: email,
    BOOTSTRAP_OWNER_PASSWORD: password,
    ALLOWED_PRIVATE_HOSTS: tool.host,
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
  })
  say(`Troupe is running on SQLite with the simulated model: ${server.url}`)
  try {
    await runTurn(server.url, key, tool)
  } catch (error) {
    await server.stop()
    throw error
  }
  say(`\nConsole   ${server.url}/   (sign in as ${email}, password ${password})`)
  say(`API       ${server.url}/v1   (Authorization: Bearer ${key})`)
  if (exit) {
    await server.stop()
    tool.close()
    return
  }
  say('The server keeps running. Press Ctrl-C to stop it.')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void server.stop().then(() => process.exit(0)))
  }
}

await main()
