import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { api } from '#client/api/index.ts'
import { Troupe } from '#client/index.ts'
import { mintToken } from '#client/server/index.ts'
import { findChromium } from '#scripts/services/chromium.ts'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { CuttingProxy } from '#test/packages/client/cutting-proxy.ts'
import { bundled, type PageServer, servePage } from '#test/packages/examples/bundled.ts'

/** Tabs of one browser, of the same user. */
export interface TabGroup {
  readonly context: BrowserContext
  readonly tabs: readonly Page[]
}

/** A server process that can be killed, behind a proxy that can be cut, and the pages of a user who is signed in. */
export class TabWorld {
  /** A client with the secret key, past the proxy. */
  readonly operator: Troupe
  readonly proxy: CuttingProxy
  readonly tool: ToolServer
  /** Times at which the server of the page minted a token, and the life of each in seconds. */
  readonly mintedAt: number[] = []
  lifeS = 900
  #server: Service
  readonly #browser: Browser
  #pages: PageServer | undefined

  private constructor(parts: {
    server: Service
    key: string
    proxy: CuttingProxy
    tool: ToolServer
    browser: Browser
  }) {
    this.#server = parts.server
    this.proxy = parts.proxy
    this.tool = parts.tool
    this.#browser = parts.browser
    this.operator = new Troupe({ baseUrl: parts.server.url, key: parts.key })
  }

  static async open(): Promise<TabWorld> {
    const executablePath = process.env.HEADLESS_SHELL_PATH ?? findChromium()
    if (executablePath === null) throw new Error('no Chromium found: install one or set CHROMIUM_PATH')
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const tool = await startToolServer()
    const env = { BOOTSTRAP_SECRET_KEY: key, SIMULATED_PROVIDER: 'on', ALLOWED_PRIVATE_HOSTS: tool.host }
    const server = await startServer(env)
    const proxy = await CuttingProxy.open(() => server.port)
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    return new TabWorld({ server, key, proxy, tool, browser })
  }

  /** Creates a session of the user with an agent that has a tool, and the same tool behind an approval. */
  async session(): Promise<string> {
    const { agents, sessions } = api(this.operator)
    const refund = { type: 'http' as const, description: 'Pays an order back.', url: this.tool.url }
    const gate = { needsApproval: true, approver: 'end_user' as const }
    const tools = [
      { ...refund, name: 'issue_refund', needsApproval: false },
      { ...refund, name: 'gated_refund', ...gate },
    ]
    const agent = await agents.create({ name: 'Shop', config: { model: 'simulated-1', tools } })
    return (await sessions.create({ agent_id: agent.id, ...(await this.#user()) })).id
  }

  /** Opens tabs with these addresses' ends. */
  async tabs(hashes: readonly string[]): Promise<TabGroup> {
    this.#pages ??= await this.#served()
    const { url } = this.#pages
    const context = await this.#browser.newContext()
    const tabs = await Promise.all(hashes.map(() => context.newPage()))
    await Promise.all(tabs.map((tab, nth) => tab.goto(`${url}/#${hashes[nth]}`)))
    return { context, tabs }
  }

  /** SIGKILL: the process is gone when this resolves. */
  crash(): Promise<void> {
    return this.#server.kill9()
  }

  /** Starts the server again. @returns the time of its first answer */
  async restart(): Promise<number> {
    const answers = firstAnswer(this.#server.url)
    this.#server = await this.#server.restart()
    return answers
  }

  async close(): Promise<void> {
    await this.#browser.close()
    this.proxy.close()
    this.#pages?.close()
    await this.#server.stop()
    await this.tool.close()
  }

  async #user() {
    const tenant = await api(this.operator).tenants.create({ external_id: 'acme', name: 'Acme' })
    return { tenant_id: tenant.id, external_user_id: 'ada' }
  }

  async #served(): Promise<PageServer> {
    const user = await this.#user()
    const permissions = ['sessions:turn', 'sessions:approve', 'sessions:tools'] as const
    const html = `<!doctype html><title>Tab</title><body data-base-url="${this.proxy.url}"><script type="module" src="/code.js"></script>`
    return servePage({ html, code: await bundled('bench/clients/tabs/tab-page.ts') }, () => {
      this.mintedAt.push(performance.now())
      return mintToken(this.operator, { ...user, permissions, expires_in: this.lifeS })
    })
  }
}

const firstAnswer = async (url: string): Promise<number> => {
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return Date.now()
    await pause(10)
  }
}
