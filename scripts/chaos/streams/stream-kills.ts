import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Problem } from '../verdict.ts'
import { answerTokens, type Killed, type KilledScene, openScene } from './killed-scene.ts'
import { isEnd, isText, isUnderWay, judgeStream } from './stream-verdict.ts'
import { openReader, type ReaderKind, type TurnReader } from './turn-readers.ts'

/** Options of a run. */
export interface StreamKillOptions {
  readonly kills: number
  /** Number of turns, responses and runs whose model answers when a process is killed. */
  readonly streams: number
  /** 1: one server on SQLite; more: that many on MongoDB and Redis. */
  readonly nodes: number
  readonly say: (line: string) => void
}

/** What a run has found. */
export interface StreamKillOutcome {
  readonly kills: number
  /** Streams that were cut by a kill. */
  readonly cut: number
  readonly problems: readonly Problem[]
  /** Times in ms from when a session could go on to the first delta after it, in order of size. */
  readonly nextDeltaMs: readonly number[]
  /** The same from the kill. */
  readonly fromKillMs: readonly number[]
  /** Folder of what was received and logged; null when there was no problem. */
  readonly evidence: string | null
}

/** Time in ms within which every reader has to receive the end of its turn, from when its session could go on. */
const endWithinMs = 25_000
/** Longest time in ms for which the turns stream before the kill. */
const mostStreamedMs = 2600
const model = 'gpt-4o-mini'

/** Kills processes while turns stream, and judges what each reader received, once for each kill. */
export const killStreams = async ({ kills, streams, nodes, say }: StreamKillOptions): Promise<StreamKillOutcome> => {
  const scene = await openScene(nodes)
  const problems: Problem[] = []
  const nextDeltaMs: number[] = []
  const fromKillMs: number[] = []
  let cut = 0
  let evidence: string | null = null
  try {
    const agent = await publishedAgent(scene)
    for (let kill = 1; kill <= kills; kill++) {
      const seen = await killOnce(scene, agent, streams)
      const found = seen.flatMap(({ problems }) => problems)
      problems.push(...found)
      cut += seen.filter(({ isCut }) => isCut).length
      const next = seen.flatMap(({ nextDelta }) => nextDelta)
      nextDeltaMs.push(...next.map(({ ms }) => ms))
      fromKillMs.push(...next.map(({ fromKillMs }) => fromKillMs))
      const slowest = Math.round(Math.max(0, ...next.map(({ ms }) => ms)))
      say(`kill ${kill}: ${seen.filter(({ isCut }) => isCut).length} cut, next delta after ${slowest} ms at most`)
      for (const { kind, what } of found) say(`  ${kind}: ${what}`)
      if (found.length > 0) evidence = keep(scene, kill, seen)
      await scene.mend()
    }
  } finally {
    await scene.stop()
  }
  return { kills, cut, problems, nextDeltaMs: sorted(nextDeltaMs), fromKillMs: sorted(fromKillMs), evidence }
}

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other)

interface StreamSeen {
  readonly problems: readonly Problem[]
  /** Whether the killed process ran it, and it had not ended. */
  readonly isCut: boolean
  /** For readers that follow restarts. */
  readonly nextDelta: readonly { readonly ms: number; readonly fromKillMs: number }[]
  readonly evidence: object
}

const killOnce = async (scene: KilledScene, agent: string, streams: number): Promise<readonly StreamSeen[]> => {
  const readers = await Promise.all(Array.from({ length: streams }, (_, at) => openAt(scene, agent, at)))
  const ends = readers.map(({ reader }) => reader.run())
  await until(() => readers.every(({ reader }) => reader.frames.some(isUnderWay)), endWithinMs)
  await wait(Math.random() * mostStreamedMs)
  const killed = await scene.kill(readers.map(({ id }) => id))
  await until(() => readers.every(({ reader }) => reader.ended), endWithinMs)
  for (const { reader } of readers) reader.stop()
  await Promise.all(ends)
  return Promise.all(readers.map((each) => judged(scene, each, killed)))
}

interface OpenedReader {
  readonly who: string
  /** Id of the session, response or run. */
  readonly id: string
  readonly kind: ReaderKind
  readonly restarts: boolean
  readonly reader: TurnReader
}

/** The readers of a kill, in turn; those of responses have the deltas of one attempt, those of runs miss nothing. */
const readerKinds: readonly Pick<OpenedReader, 'kind' | 'restarts'>[] = [
  { kind: 'sse', restarts: true },
  { kind: 'eventsource', restarts: true },
  { kind: 'websocket', restarts: true },
  { kind: 'response', restarts: false },
  { kind: 'sse', restarts: false },
  { kind: 'eventsource', restarts: false },
  { kind: 'websocket', restarts: false },
  { kind: 'run', restarts: true },
]

/** Creates what a reader reads, and opens the reader. */
const openAt = async (scene: KilledScene, agent: string, at: number): Promise<OpenedReader> => {
  const { kind, restarts } = readerKinds[at % readerKinds.length] ?? { kind: 'sse', restarts: true }
  const token = kind === 'eventsource' ? await userToken(scene, at) : scene.secretKey
  const { path, body } = creationOf(kind, agent)
  const id = String((await post(scene, path, body, token)).id)
  const reader = openReader(kind, { url: scene.url, id, token, restarts })
  return { who: `${kind}${restarts ? '' : ' of one attempt'} ${id}`, id, kind, restarts, reader }
}

const creationOf = (kind: ReaderKind, agent: string): { readonly path: string; readonly body: object } => {
  if (kind === 'run') return { path: `/v1/agents/${agent}/runs`, body: { input: { prompt: 'hello' } } }
  if (kind !== 'response') return { path: '/v1/sessions', body: {} }
  return { path: '/v1/responses', body: { model, input: 'hello', background: true } }
}

const publishedAgent = async (scene: KilledScene): Promise<string> => {
  const config = { model }
  const agent = String((await post(scene, '/v1/agents', { name: 'Killed', config }, scene.secretKey)).id)
  await post(scene, `/v1/agents/${agent}/versions`, { version: '1.0.0', config }, scene.secretKey)
  await post(scene, `/v1/agents/${agent}/versions/1.0.0/publish`, {}, scene.secretKey)
  return agent
}

/** A token of a user of its own: a browser may open 16 streams. */
const userToken = async (scene: KilledScene, at: number): Promise<string> => {
  const tenant = await post(scene, '/v1/tenants', { external_id: 'acme', name: 'Acme' }, scene.secretKey)
  const user = { tenant_id: tenant.id, external_user_id: `user-${at}` }
  return String((await post(scene, '/v1/client-tokens', user, scene.secretKey)).token)
}

const post = async (
  scene: KilledScene,
  path: string,
  body: object,
  token: string,
): Promise<Record<string, unknown>> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(scene.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return Object(await answer.json())
}

const judged = async (scene: KilledScene, opened: OpenedReader, { killedAt, backAt }: Killed): Promise<StreamSeen> => {
  const { who, id, restarts, reader } = opened
  const log = await logOf(scene, opened)
  const problems = judgeStream({ who, restarts, tokens: answerTokens, frames: reader.frames, log: log.frames })
  const back = backAt.get(id)
  const isCut = back !== undefined && !reader.frames.some((frame) => frame.at < killedAt && isEnd(frame))
  const again = restarts && isCut ? reader.frames.findIndex(({ event }) => event === 'turn.restarted') : -1
  const delta = again < 0 ? undefined : reader.frames.slice(again).find(isText)
  const nextDelta =
    delta === undefined || back === undefined ? [] : [{ ms: delta.at - back, fromKillMs: delta.at - killedAt }]
  const { frames, troubles } = reader
  return { problems, isCut, nextDelta, evidence: { who, killedAt, back, problems, troubles, frames, log } }
}

/** The whole log, as a new reader gets it. */
const logOf = async ({ url, secretKey }: KilledScene, { id, kind }: OpenedReader) => {
  const isFollower = kind === 'run' || kind === 'response'
  const reader = openReader(isFollower ? kind : 'log', { url, id, token: secretKey, restarts: true })
  const read = reader.run()
  await until(() => reader.ended, endWithinMs)
  reader.stop()
  await read
  return reader
}

/** Resolves when `holds` returns true, or after `ms`. */
const until = async (holds: () => boolean, ms: number): Promise<void> => {
  const deadline = performance.now() + ms
  while (!holds() && performance.now() < deadline) await wait(20)
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Keeps what the readers of a kill received, and what the processes logged. @returns the folder. */
const keep = (scene: KilledScene, kill: number, seen: readonly StreamSeen[]): string => {
  const folder = join(tmpdir(), `troupe-streams-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const bad = seen.filter(({ problems }) => problems.length > 0).map(({ evidence }) => evidence)
  writeFileSync(join(folder, `kill-${kill}.json`), JSON.stringify(bad, null, 1))
  writeFileSync(join(folder, `kill-${kill}.log`), scene.log())
  return folder
}
