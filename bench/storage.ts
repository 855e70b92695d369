import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MongoClient } from 'mongodb'
import { openMongoStorage } from '../src/storage/mongo/open-mongo-storage.ts'
import { commitIndexes } from '../src/storage/mongo/schema.ts'
import type { Commit, Storage } from '../src/storage/ports.ts'
import { openSqliteStorage } from '../src/storage/sqlite/open-sqlite-storage.ts'
import { commitTable } from '../src/storage/sqlite/schema.ts'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'

/** Makes one commit durable. */
type Append = (commit: Commit) => Promise<unknown>

/** Two ways of writing the same commits, measured in alternation. */
interface Pair {
  readonly store: string
  readonly raw: { readonly name: string; readonly append: Append }
  readonly ours: Append
  readonly atLeast: number
  readonly close: () => Promise<void>
}

const rounds = sized(5, 1)
const roundMs = sized(1_000, 50)

/**
 * Compares durable commits per second with the raw driver, with the same durability and indexes, for 1 and 64 writers:
 * `insertOne` (majority + journal) on MongoDB, one transaction per commit (WAL, synchronous=FULL) on SQLite.
 *
 * @param mongoUrl a MongoDB that nothing else uses meanwhile; a separate database is created and dropped.
 */
export const benchStorage = async (mongoUrl: string): Promise<Row[]> => {
  const rows: Row[] = []
  for (const open of [() => openMongoPair(mongoUrl), openSqlitePair]) {
    const pair = await open()
    try {
      for (const writers of [1, 64]) rows.push(await compare(pair, writers))
    } finally {
      await pair.close()
    }
  }
  return rows
}

const compare = async ({ store, raw, ours, atLeast }: Pair, writers: number): Promise<Row> => {
  const [rawRates, ourRates]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const inTurn: [number[], Append][] = [
      [rawRates, raw.append],
      [ourRates, ours],
    ]
    for (const [rates, append] of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
      rates.push(await commitsPerSecond(append, writers))
    }
  }
  const row = {
    measure: `${store} commits, ${writers} writer${writers === 1 ? '' : 's'}`,
    unit: 'commits/s',
    ours: median(ourRates),
    against: { name: raw.name, value: median(rawRates) },
  }
  return writers === 1 ? row : { ...row, bound: { of: 'ratio', atLeast } }
}

const commitsPerSecond = async (append: Append, writers: number): Promise<number> => {
  const run = randomBytes(4).toString('hex')
  const begin = performance.now()
  let commits = 0
  const write = async (actor: string): Promise<void> => {
    for (let seq = 1; performance.now() - begin < roundMs; seq++) {
      await append(sampleCommit(actor, seq))
      commits++
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(`ses_${run}_${writer}`)))
  return (commits / (performance.now() - begin)) * 1_000
}

const openMongoPair = async (url: string): Promise<Pair> => {
  const database = `bench_${randomBytes(4).toString('hex')}`
  const client = await new MongoClient(url).connect()
  const raw = client
    .db(database)
    .collection<Commit & { _id: string }>('raw', { writeConcern: { w: 'majority', j: true } })
  await raw.createIndexes(commitIndexes.slice(0, 3))
  const store = await openMongoStorage({ url, database })
  return {
    store: 'mongo',
    raw: { name: 'insertOne', append: (commit) => raw.insertOne({ _id: `${commit.actor}:${commit.seq}`, ...commit }) },
    ours: appendTo(store),
    atLeast: 3,
    close: async () => {
      await store.close()
      await client.db(database).dropDatabase()
      await client.close()
    },
  }
}

const openSqlitePair = async (): Promise<Pair> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const db = new DatabaseSync(join(folder, 'raw.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  db.exec(commitTable)
  const insert = db.prepare('insert into commits values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const store = openSqliteStorage({ path: join(folder, 'ours.db') })
  return {
    store: 'sqlite',
    raw: { name: 'one by one', append: async (commit) => insert.run(...columnsOf(commit)) },
    ours: appendTo(store),
    atLeast: 4,
    close: async () => {
      db.close()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const appendTo =
  ({ commits }: Storage): Append =>
  async (commit) => {
    const [outcome] = await commits.append([commit])
    if (outcome !== 'done') throw new Error(`the commit is ${outcome}`)
  }

/** Values in the order of the table's columns. */
const columnsOf = (c: Commit) => {
  const body = JSON.stringify({ event: c.event, effects: c.effects, messages: c.messages, reminders: c.reminders })
  const texts = [JSON.stringify(c.events), JSON.stringify(c.snapshot), body]
  const scalars = [c.actor, c.seq, c.shard, c.epoch, c.at, c.project, c.tenant, c.machine, c.cause, c.nonce]
  return [...scalars, c.last_sequence, c.open ? 1 : 0, c.due, ...texts]
}

/** A commit like the last one of a turn: about 1.5 KB of JSON. */
const sampleCommit = (actor: string, seq: number): Commit => {
  const output = 'Twenty words of an answer that the model gave, joined into one delta because they came all at once. '
  const effect = { name: 'callModel', params: { model: 'simulated-1', turn: seq }, policy: 'stream' } as const
  const id = `${actor}:${seq}:0`
  return {
    actor,
    seq,
    shard: seq % 256,
    epoch: 1,
    at: Date.now(),
    project: 'prj_01jxxxxxxxxxxxxxxxxxxxxxxx',
    tenant: null,
    machine: 'session@1',
    cause: `${actor}:${seq - 1}:0#done`,
    nonce: `${actor}:${seq}:nonce`,
    event: { type: 'model_answered', output },
    events: [
      { sequence: seq * 2 - 1, event_type: 'output_text.delta', turn_number: seq, payload: { delta: output } },
      {
        sequence: seq * 2,
        event_type: 'turn.completed',
        turn_number: seq,
        payload: { output, usage: { input_tokens: 9 } },
      },
    ],
    last_sequence: seq * 2,
    effects: [{ id, ...effect }],
    messages: [],
    snapshot: { value: 'running', status: 'active', context: { model: 'simulated-1', turn: seq, pending: [] } },
    reminders: { expire: { due: Date.now() + 6e8, event: { type: 'expire' }, n: seq } },
    in_flight: { [id]: effect },
    open: seq % 2 === 0,
    due: Date.now() + 6e8,
  }
}
