import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from '#test/support/loopback-server.ts'

/** A request that reached the site. */
export interface SiteRequest {
  readonly method: string
  readonly path: string
  readonly cookie: string
  readonly body: string
}

/** A site on loopback with forms and fields for secrets. It records every request. */
export class FormSite extends LoopbackServer {
  readonly requests: SiteRequest[] = []
  /** Responses that are withheld. */
  readonly held: ServerResponse[] = []

  static open(): Promise<FormSite> {
    return new FormSite().listening()
  }

  count(method: string, path: string): number {
    return this.requests.filter((each) => each.method === method && each.path === path).length
  }

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const part of request) body += part
    const { method = '', url: path = '', headers } = request
    this.requests.push({ method, path, cookie: headers.cookie ?? '', body })
    if (path === '/held') return void this.held.push(response)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (path === '/login') response.setHeader('set-cookie', 'seat=17; Path=/; Max-Age=3600')
    response.end(method === 'POST' ? `<title>Sent</title><h1>Thanks ${body}</h1>` : page)
  }
}

const page = `<!doctype html><html lang="en"><title>Forms</title><body>
<h1>A form</h1>
<p>It is sent to where it says.</p>
<form method="post" action="/send"><input name="q" id="q"><select name="size" id="size"><option value="s">Small</option><option value="l">Large</option></select><button id="go">Send</button></form>
<form method="post" action="/held"><button id="hold">Hold</button></form>
<form><label id="lab">Word <input id="w1" type="password"></label><input class="plain" name="access_token"><input class="once" autocomplete="one-time-code"></form>
<a href="/other">Another page</a>
</body></html>`
