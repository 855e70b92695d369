import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright'
import { type ServerProcess, startServer } from '../quickstart/server-process.ts'

/** An empty installation with an owner, whose server can be killed and started again. */
export class Installation {
  server: ServerProcess
  readonly #env: Readonly<Record<string, string>>

  private constructor(server: ServerProcess, env: Readonly<Record<string, string>>) {
    this.server = server
    this.#env = env
  }

  /** @param given the port, the data folder, and what else the server has to know */
  static async start(given: Readonly<Record<'PORT' | 'DATA_DIR' | string, string>>): Promise<Installation> {
    const env = {
      LOG_LEVEL: 'fatal',
      BOOTSTRAP_SECRET_KEY: `csk_${randomBytes(32).toString('base64url')}`,
      BOOTSTRAP_OWNER_EMAIL: 'owner@example.com',
      BOOTSTRAP_OWNER_PASSWORD: randomBytes(12).toString('base64url'),
      ...given,
    }
    return new Installation(await startServer(env), env)
  }

  /** Starts the server again, after it has ended. @param changed variables with other values */
  async restart(changed: Readonly<Record<string, string>> = {}): Promise<void> {
    this.server = await startServer({ ...this.#env, ...changed })
  }

  get authorization(): string {
    return `Bearer ${this.#env.BOOTSTRAP_SECRET_KEY}`
  }

  /** Posts to the API. @returns the id of what was made, '' where there is none */
  async post(path: string, body: object): Promise<string> {
    const headers = { authorization: this.authorization, 'content-type': 'application/json' }
    const answer = await fetch(this.server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    return answer.headers.get('content-type')?.includes('json') ? (JSON.parse(text).id ?? '') : ''
  }

  /** Opens a page of the console as its owner. */
  async signIn(page: Page, hash: string): Promise<void> {
    await page.goto(`${this.server.url}/#/${hash}`)
    await page.getByLabel('E-mail').fill(this.#env.BOOTSTRAP_OWNER_EMAIL ?? '')
    await page.getByLabel('Password').fill(this.#env.BOOTSTRAP_OWNER_PASSWORD ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  }
}
