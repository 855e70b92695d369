import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from '#test/support/loopback-server.ts'

/** A password that only the person knows. */
export const password = 'correct-horse-77'

/** A site on loopback whose page is behind a form with a password. */
export class LoginSite extends LoopbackServer {
  /** Methods and paths that reached it. */
  readonly requests: string[] = []
  /** Further pages, by their paths. */
  readonly pages = new Map<string, string>()

  static open(): Promise<LoginSite> {
    return new LoginSite().listening()
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length
  }

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const part of request) body += part
    const { method = '', url = '', headers } = request
    this.requests.push(`${method} ${url}`)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (method === 'POST' && new URLSearchParams(body).get('password') === password) {
      response.writeHead(303, { location: '/inside?code=s3cr3t', 'set-cookie': 'seat=17; Path=/' }).end()
      return
    }
    const isInside = url.startsWith('/inside') && headers.cookie === 'seat=17'
    response.end(this.pages.get(url) ?? (isInside ? inside : form))
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
