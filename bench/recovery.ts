import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongod } from '../scripts/services/mongod.ts'
import { startServer } from '../scripts/services/server.ts'
import { newId } from '../src/actors/runtime/ids.ts'
import { shardsOf } from '../src/actors/runtime/recovery/shard.ts'
import { openStorage } from '../src/open-storage.ts'
import type { Commit, Storage } from '../src/storage/ports.ts'
import { sized } from './extent.ts'
import { recoveryRows } from './recovery-rows.ts'
import type { Row } from './row.ts'

const open = sized(50_000, 200)
/**
 * Open commits per session: the newest two commits of an actor stay open until its next step, or until it has been
 * idle.
 */
const openEach = 2
const batch = 500
const pollMs = 100
const patienceMs = 180_000

/** Where a server keeps its data. */
interface Place {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly mongodbUrl: string | null
  readonly dataDir: string
}

interface Client {
  readonly url: string
  readonly key: string
}

/**
 * Measures a server that starts with 50,000 open commits: when it answers, when a turn of one of the sessions with open
 * commits is done, how long reads take meanwhile, and when recovery has ended. On SQLite and MongoDB.
 */
export async function benchRecovery(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const mongod = await startMongod()
  try {
    const url = `${mongod.url}troupe`
    return [
      ...(await measured({ name: 'SQLite', env: { DATA_DIR: folder }, mongodbUrl: null, dataDir: folder })),
      ...(await measured({ name: 'MongoDB', env: { MONGODB_URL: url }, mongodbUrl: url, dataDir: folder })),
    ]
  } finally {
    await mongod.stop()
    rmSync(folder, { recursive: true })
  }
}

async function measured(place: Place): Promise<readonly Row[]> {
  const key = `csk_${randomBytes(32).toString('base64url')}`
  const env = { ...place.env, BOOTSTRAP_SECRET_KEY: key, MASTER_KEY: randomBytes(32).toString('base64') }
  const emptyAt = performance.now()
  const first = await startServer(env)
  const emptyMs = performance.now() - emptyAt
  const model = await created({ url: first.url, key })
  await first.stop()
  const sessions = await withStorage(place, (storage) => leftOpen(storage, model))
  const startedAt = performance.now()
  const server = await startServer(env)
  try {
    const readyMs = performance.now() - startedAt
    const client = { url: server.url, key }
    await turnOf(client, sessions.at(-1) ?? model)
    const turnMs = performance.now() - startedAt
    const reads = await readsUntil(client, sessions, () => withStorage(place, isOver))
    const takenUpMs = performance.now() - startedAt
    return recoveryRows({ store: place.name, open }, { emptyMs, readyMs, turnMs, readMs: reads.p99, takenUpMs })
  } finally {
    await server.stop()
  }
}

async function withStorage<T>(place: Place, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(place)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

const headersOf = ({ key }: Client) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })

/** Creates a session with one turn; the others are copies of it. */
async function created(client: Client): Promise<string> {
  const answer = await fetch(`${client.url}/v1/sessions`, { method: 'POST', headers: headersOf(client), body: '{}' })
  const made: unknown = await answer.json()
  if (typeof made !== 'object' || made === null || !('id' in made)) throw new Error(`not made: ${answer.status}`)
  await turnOf(client, String(made.id))
  return String(made.id)
}

async function turnOf(client: Client, session: string): Promise<void> {
  const answer = await fetch(`${client.url}/v1/sessions/${session}/turns`, {
    ...{ method: 'POST', headers: headersOf(client) },
    body: JSON.stringify({ input: 'hello' }),
  })
  const text = await answer.text()
  if (!text.includes('turn.completed')) throw new Error(`no turn: ${answer.status} ${text}`)
}

/** Copies a session's commits until `open` commits are open, as after a crash. Returns the ids of the copies. */
async function leftOpen(storage: Storage, model: string): Promise<readonly string[]> {
  const commits: Commit[] = []
  for (let seq = 1; ; seq++) {
    const commit = await storage.commits.at(model, seq)
    if (commit === null) break
    commits.push(commit)
  }
  const snapshot = commits.findLast((commit) => commit.snapshot !== undefined)?.snapshot
  const ids = Array.from({ length: open / openEach }, () => newId('ses'))
  for (let first = 0; first < ids.length; first += batch) {
    const copies = ids.slice(first, first + batch).flatMap((id) =>
      commits.map((commit, at) => ({
        ...JSON.parse(JSON.stringify(commit).replaceAll(model, id)),
        ...{ shard: shardsOf(storage).of(id), open: at >= commits.length - openEach },
        ...(at === commits.length - 1 && { snapshot: JSON.parse(JSON.stringify(snapshot).replaceAll(model, id)) }),
      })),
    )
    await storage.commits.append(copies)
  }
  return ids
}

/** Reads sessions one after the other, beginning with the last, until recovery has ended. */
async function readsUntil(client: Client, sessions: readonly string[], over: () => Promise<boolean>) {
  const times: number[] = []
  const until = performance.now() + patienceMs
  for (let at = sessions.length - 1; performance.now() < until; at = (at + sessions.length - 7) % sessions.length) {
    const begun = performance.now()
    const answer = await fetch(`${client.url}/v1/sessions/${sessions[at]}`, { headers: headersOf(client) })
    await answer.text()
    if (!answer.ok) throw new Error(`not read: ${answer.status}`)
    times.push(performance.now() - begun)
    if (times.length % pollMs === 0 && (await over())) break
  }
  times.sort((a, b) => a - b)
  return { p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN }
}

/** Whether every commit that the first process left open is closed. */
async function isOver(storage: Storage): Promise<boolean> {
  const left = await storage.commits.open({ limit: open * 2 })
  return left.every(({ epoch }) => epoch > 1)
}
