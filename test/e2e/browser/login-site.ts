import { once } from 'node:events'
import { createServer } from 'node:http'

/** What a person alone knows. */
export const password = 'correct-horse-77'

/** A site on loopback whose page is behind a form with a password. */
export class LoginSite {
  /** Methods and paths that reached it. */
  readonly requests: string[] = []
  /** Further pages, by their paths. */
  readonly pages = new Map<string, string>()
  readonly #server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { method = '', url = '', headers } = request
    this.requests.push(`${method} ${url}`)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (method === 'POST' && new URLSearchParams(body).get('password') === password)
      return response.writeHead(303, { location: '/inside?code=s3cr3t', 'set-cookie': 'seat=17; Path=/' }).end()
    const isInside = url.startsWith('/inside') && headers.cookie === 'seat=17'
    response.end(this.pages.get(url) ?? (isInside ? inside : form))
  })

  static async open(): Promise<LoginSite> {
    const site = new LoginSite()
    site.#server.listen(0, '127.0.0.1')
    await once(site.#server, 'listening')
    return site
  }

  get host(): string {
    const address = this.#server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  url(path: string): string {
    return `http://${this.host}${path}`
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const form = `<!doctype html><html lang="en"><title>Sign in</title><body style="margin:0">
<form method="post" action="/session">
<input name="user" style="position:absolute;left:20px;top:20px;width:200px;height:30px">
<input name="password" type="password" style="position:absolute;left:20px;top:70px;width:200px;height:30px">
<button style="position:absolute;left:20px;top:120px;width:200px;height:30px">Sign in</button>
</form></body></html>`

const inside = `<!doctype html><html lang="en"><title>Orders</title><body>
<h1>Your orders</h1><button id="more" onclick="document.getElementById('list').textContent = 'Order 4711'">More</button><p id="list"></p>
</body></html>`
