import { createServer, type ServerResponse } from 'node:http'

/** What a path of a site answers. */
export interface SitePage {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Answers by hand. */
  readonly answer?: (response: ServerResponse) => void
}

/** A page of HTML. */
export const html = (body: string, headers: Readonly<Record<string, string>> = {}): SitePage => ({
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body,
})

/** A redirect. */
export const to = (location: string, status = 302): SitePage => ({ status, headers: { location } })

/** A real site on loopback: pages by their path, and the paths that were requested. */
export class Site {
  readonly pages = new Map<string, SitePage>()
  readonly requested: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[] = []
  /** WebSockets that were tried: none is taken. */
  upgrades = 0
  readonly #server = createServer((request, response) => {
    const path = request.url ?? ''
    this.requested.push({ path, headers: request.headers })
    const page = this.pages.get(path) ?? this.pages.get(path.split('?', 1).join(''))
    if (page?.answer !== undefined) return page.answer(response)
    response.writeHead(page === undefined ? 404 : (page.status ?? 200), page?.headers).end(page?.body)
  })

  static async open(pages: Readonly<Record<string, SitePage>> = {}): Promise<Site> {
    const site = new Site()
    site.#server.on('upgrade', (_request, socket) => {
      site.upgrades += 1
      socket.destroy()
    })
    for (const [path, page] of Object.entries(pages)) site.pages.set(path, page)
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve))
    return site
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(path: string): string {
    return `http://${this.host}${path}`
  }

  paths(): readonly string[] {
    return this.requested.map(({ path }) => path)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
