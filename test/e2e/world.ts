import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { atNight, drawnOf } from '../setup/at-night.ts'
import { noteServed } from '../support/called-operations.ts'
import { Api } from './api.ts'
import { openHosted } from './hosted/hosted-server.ts'
import { MongoData, type Rows } from './mongo-data.ts'

/** The stores that guarantees are tested on. */
export const stores = [{ store: 'sqlite' }, { store: 'mongo' }] as const

/**
 * The store for a guarantee that does not depend on it: that stores behave alike is tested by their contract
 * (test/storage/contract.ts) and by the sweeps of every operation. With EVERY_STORE, as each night, both stores
 * (specs/decisions/0103-time-of-ci.md).
 */
export const either = (store: StoreName): readonly { readonly store: StoreName }[] => (atNight ? stores : [{ store }])

/** One of both stores, the other at other runs, and both at night: for guarantees that a store takes part in. */
export const drawnStores = drawnOf<(typeof stores)[number]>(stores, stores.length)

export type StoreName = (typeof stores)[number]['store']

export interface WorldOptions {
  readonly store?: StoreName
  /** Private hosts that tools may be reached at, `host:port`. */
  readonly tools?: readonly { readonly host: string }[]
  readonly env?: Readonly<Record<string, string>>
  /** Replaces the MongoDB that all tests share. */
  readonly mongodbUrl?: string
  /** For tests of the process itself, or of one of two: otherwise it is one that all files of a worker use. */
  readonly ownProcess?: boolean
}

/** Variables that Node reads when a process starts. */
const ofProcess = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS']

/** A test installation: a server process that can be killed and restarted, its data, and its credentials. */
export class World {
  readonly secretKey: string
  readonly ownerEmail = 'owner@example.com'
  readonly ownerPassword: string
  readonly #data: Data
  #server: Service
  #listening = Promise.withResolvers<void>()
  /** The counts of a killed process are lost: after a crash, called operations are not noted. */
  #crashed = false

  private constructor(server: Service, data: Data, secretKey: string, ownerPassword: string) {
    this.#server = server
    this.#data = data
    this.secretKey = secretKey
    this.ownerPassword = ownerPassword
    this.#listening.resolve()
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const { store = 'sqlite', tools = [], env = {}, mongodbUrl } = options
    const { ownProcess = ofProcess.some((name) => name in env) } = options
    const data =
      store === 'sqlite' ? new SqliteData() : await MongoData.open(mongodbUrl ?? process.env.MONGODB_URL ?? '')
    const secretKey = `csk_${randomBytes(32).toString('base64url')}`
    const ownerPassword = randomBytes(16).toString('base64url')
    const server = await (ownProcess ? startServer : openHosted)({
      DATA_DIR: data.folder,
      MONGODB_URL: data.mongodbUrl,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BOOTSTRAP_OWNER_EMAIL: 'owner@example.com',
      BOOTSTRAP_OWNER_PASSWORD: ownerPassword,
      ALLOWED_PRIVATE_HOSTS: tools.map(({ host }) => host).join(','),
      ...env,
    })
    return new World(server, data, secretKey, ownerPassword)
  }

  get url(): string {
    return this.#server.url
  }

  get port(): number {
    return this.#server.port
  }

  get server(): Service {
    return this.#server
  }

  /** The API with the project's secret key. */
  get api(): Api {
    return this.as(this.secretKey)
  }

  /** The API with another bearer token. */
  as(token: string): Api {
    return new Api(this.url, { authorization: `Bearer ${token}` })
  }

  /** The API with the dashboard session of the owner or of another member. */
  async dashboard(email = this.ownerEmail, password = this.ownerPassword): Promise<Api> {
    const answer = await new Api(this.url).post('/api/auth/login', { email, password })
    return new Api(this.url, { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' })
  }

  /** Resolves when the server accepts connections: at once, unless it was killed. */
  get listening(): Promise<void> {
    return this.#listening.promise
  }

  /** SIGKILL: the process is gone when this resolves, its data stays. */
  crash(): Promise<void> {
    this.#crashed = true
    this.#listening = Promise.withResolvers()
    return this.#server.kill9()
  }

  /** Starts the server again on the same port and data. */
  async restart(): Promise<void> {
    this.#server = await this.#server.restart()
    this.#crashed = false
    this.#listening.resolve()
  }

  /** Environment for an operator tool to open this installation. */
  get toolEnv(): Readonly<Record<'DATA_DIR' | 'MONGODB_URL', string>> {
    return { DATA_DIR: this.#data.folder, MONGODB_URL: this.#data.mongodbUrl }
  }

  /** All rows by table or collection, as the store itself has them. */
  rows(): Promise<Rows> {
    return this.#data.rows()
  }

  /** Number of rows of every table or collection. */
  async counts(): Promise<Record<string, number>> {
    return Object.fromEntries(Object.entries(await this.rows()).map(([name, rows]) => [name, rows.size]))
  }

  /**
   * Keys of rows with work that is left to do, by table or collection: open commits, which are closed when their effects
   * have ended, their messages are delivered and their rows are written; records with notices that are not delivered; and
   * segments of calls of which rows are to be made.
   */
  unfinished(): Promise<Record<string, readonly string[]>> {
    return this.#data.unfinished()
  }

  /** Number of rows that contain a text, by table or collection. */
  mentions(text: string): Promise<Record<string, number>> {
    return this.#data.mentions(text)
  }

  /** Notes the operations called so far: the counts of a killed process are lost. */
  noteCalled(): Promise<void> {
    return noteServed(this.url)
  }

  async stop(): Promise<void> {
    if (!this.#crashed) await noteServed(this.url)
    await this.#server.stop()
    await this.#data.remove()
  }
}

interface Data {
  readonly folder: string
  /** '' for SQLite in the folder. */
  readonly mongodbUrl: string
  rows(): Promise<Rows>
  unfinished(): Promise<Record<string, readonly string[]>>
  mentions(text: string): Promise<Record<string, number>>
  remove(): Promise<void>
}

class SqliteData implements Data {
  readonly folder = mkdtempSync(join(tmpdir(), 'troupe-data-'))
  readonly mongodbUrl = ''

  rows(): Promise<Rows> {
    return this.#each((table, select) => {
      const { key, expires } = keysOf(table)
      const rows = select(`select ${key} as key, ${expires} as expires from "${table}"`)
      return new Map(rows.map((row) => [String(row.key), row.expires === null ? null : Number(row.expires)]))
    })
  }

  async unfinished(): Promise<Record<string, readonly string[]>> {
    const found = await this.#each((table, select) => {
      const { key, left } = keysOf(table)
      return select(`select ${key} as key from "${table}" where ${left}`).map((row) => String(row.key))
    })
    return Object.fromEntries(Object.entries(found).filter(([, keys]) => keys.length > 0))
  }

  async mentions(text: string): Promise<Record<string, number>> {
    const counts = await this.#each((table, select, database) => {
      const columns = database.prepare(`select * from "${table}"`).columns()
      const holds = columns.map((column) => `ifnull(instr(cast("${column.name}" as blob), cast(:text as blob)), 0)`)
      return Number(select(`select count(*) as n from "${table}" where ${holds.join(' + ')} > 0`, { text })[0]?.n)
    })
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
  }

  remove(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
    return Promise.resolve()
  }

  /** Reads each table, all of them as they are at one time. */
  #each<T>(read: (table: string, select: Select, database: DatabaseSync) => T): Promise<Record<string, T>> {
    const database = new DatabaseSync(join(this.folder, 'troupe.db'), { readOnly: true })
    database.exec('begin')
    const select: Select = (statement, values = {}) => database.prepare(statement).all(values)
    const tables = select("select name from sqlite_master where type = 'table'").map(({ name }) => String(name))
    const found = tables.map((table) => [table, read(table, select, database)] as const)
    database.close()
    return Promise.resolve(Object.fromEntries(found))
  }
}

type Select = (statement: string, values?: Record<string, string>) => readonly Record<string, SQLOutputValue>[]

/** Expressions for the key of a table's rows, for when they expire, and for whether they have work that is left to do. */
const keysOf = (table: string): Readonly<Record<'key' | 'expires' | 'left', string>> => {
  if (table === 'commits') return { key: "actor || ':' || seq", expires: 'null', left: 'open = 1' }
  if (table === 'blobs') return { key: "project || ':' || hash", expires: 'null', left: 'false' }
  const left = table === 'records_call_segments' ? 'true' : 'outbox is not null'
  return { key: 'id', expires: 'expires_at', left }
}
