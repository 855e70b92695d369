import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from './loopback-server.ts'

/** The answer of a site for one path. */
export interface SitePage {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Writes the response itself. */
  readonly answer?: (response: ServerResponse) => void
}

/** A page of HTML. */
export const html = (body: string, headers: Readonly<Record<string, string>> = {}): SitePage => ({
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body,
})

/** A redirect. */
export const to = (location: string, status = 302): SitePage => ({ status, headers: { location } })

/** A site on loopback, with pages by path, which records the requests. */
export class Site extends LoopbackServer {
  readonly pages = new Map<string, SitePage>()
  readonly requested: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[] = []
  /** Number of WebSocket attempts: none is accepted. */
  upgrades = 0

  static open(pages: Readonly<Record<string, SitePage>> = {}): Promise<Site> {
    const site = new Site()
    site.server.on('upgrade', (_request, socket) => {
      site.upgrades += 1
      socket.destroy()
    })
    for (const [path, page] of Object.entries(pages)) site.pages.set(path, page)
    return site.listening()
  }

  paths(): readonly string[] {
    return this.requested.map(({ path }) => path)
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? ''
    this.requested.push({ path, headers: request.headers })
    const page = this.pages.get(path) ?? this.pages.get(path.split('?', 1).join(''))
    if (page?.answer !== undefined) page.answer(response)
    else response.writeHead(page === undefined ? 404 : (page.status ?? 200), page?.headers).end(page?.body)
  }
}
