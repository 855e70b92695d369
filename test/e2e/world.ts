import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { atNight } from '../setup/at-night.ts'
import { noteServed } from '../support/called-operations.ts'
import { Api } from './api.ts'
import { openHosted } from './hosted/hosted-server.ts'
import { MongoData } from './mongo-data.ts'

/** The stores that guarantees are tested on. */
export const stores = [{ store: 'sqlite' }, { store: 'mongo' }] as const

/**
 * The store for a guarantee that does not depend on it: that stores behave alike is tested by their contract
 * (test/storage/contract.ts) and by the sweeps of every operation. With EVERY_STORE, as each night, both stores
 * (specs/decisions/0103-time-of-ci.md).
 */
export const either = (store: StoreName): readonly { readonly store: StoreName }[] => (atNight ? stores : [{ store }])

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

  /** Rows of every table or collection, as the store itself counts them. */
  counts(): Promise<Record<string, number>> {
    return this.#data.counts()
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
  counts(): Promise<Record<string, number>>
  mentions(text: string): Promise<Record<string, number>>
  remove(): Promise<void>
}

class SqliteData implements Data {
  readonly folder = mkdtempSync(join(tmpdir(), 'troupe-data-'))
  readonly mongodbUrl = ''

  counts(): Promise<Record<string, number>> {
    const database = new DatabaseSync(join(this.folder, 'troupe.db'), { readOnly: true })
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
    const counts = tables.map(({ name }) => {
      const row = database.prepare(`select count(*) as n from "${name}"`).get()
      return [String(name), Number(row?.n)] as const
    })
    database.close()
    return Promise.resolve(Object.fromEntries(counts))
  }

  mentions(text: string): Promise<Record<string, number>> {
    const database = new DatabaseSync(join(this.folder, 'troupe.db'), { readOnly: true })
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
    const counts = tables.map(({ name }) => {
      const columns = database.prepare(`select * from "${name}"`).columns()
      const holds = columns.map((column) => `ifnull(instr(cast("${column.name}" as blob), cast(:text as blob)), 0)`)
      const row = database.prepare(`select count(*) as n from "${name}" where ${holds.join(' + ')} > 0`).get({ text })
      return [String(name), Number(row?.n)] as const
    })
    database.close()
    return Promise.resolve(Object.fromEntries(counts.filter(([, count]) => count > 0)))
  }

  remove(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
    return Promise.resolve()
  }
}
