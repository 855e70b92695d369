import { request as plainRequest } from 'node:http'
import { Agent, request } from 'node:https'

interface Page {
  readonly status: number
  readonly location: string | null
  readonly text: string
}

/** A minimal browser for sign-ins: cookies by host name without port, forms, and no verification of certificates. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>()
  readonly #agent = new Agent({ rejectUnauthorized: false })

  /** Sends one request without following redirects. */
  open(url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
    const { hostname: host, protocol } = new URL(url)
    const body = form === undefined ? undefined : new URLSearchParams(form).toString()
    const jar = this.#cookies.get(host) ?? new Map<string, string>()
    this.#cookies.set(host, jar)
    const headers = {
      cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    return new Promise((resolve, reject) => {
      const options = { method: body === undefined ? 'GET' : 'POST', headers }
      const send = protocol === 'https:' ? request(url, { ...options, agent: this.#agent }) : plainRequest(url, options)
      send.on('error', reject)
      send.on('response', (answer) => {
        for (const cookie of answer.headers['set-cookie'] ?? []) keep(jar, cookie)
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            location: answer.headers.location === undefined ? null : new URL(answer.headers.location, url).href,
            text: Buffer.concat(parts).toString(),
          }),
        )
      })
      send.end(body)
    })
  }

  /** Signs in at the provider and consents. @returns the callback URL, which is not opened. */
  async signIn(authorizeUrl: string, user: string): Promise<string> {
    let url = authorizeUrl
    for (let hops = 0; hops < 20; hops++) {
      const page = await this.open(url)
      if (page.location !== null) {
        if (page.location.includes('/v1/connections/oauth/callback')) return page.location
        url = page.location
        continue
      }
      const prompt = page.text.includes('name="prompt" value="login"') ? 'login' : 'consent'
      const answer = await this.open(formAction(page.text, url), { prompt, login: user, password: 'x' })
      if (answer.location === null) throw new Error(`no way on from ${url}: ${answer.status} ${answer.text}`)
      url = answer.location
    }
    throw new Error('the sign-in goes in circles')
  }

  /** Signs in and opens the callback. @returns the final page of the server. */
  async connect(authorizeUrl: string, user: string): Promise<Page> {
    return this.open(await this.signIn(authorizeUrl, user))
  }
}

const keep = (jar: Map<string, string>, cookie: string): void => {
  const [pair = ''] = cookie.split(';')
  const at = pair.indexOf('=')
  if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(pair.slice(0, at))
  else jar.set(pair.slice(0, at), pair.slice(at + 1))
}

const formAction = (text: string, base: string): string => {
  const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1]
  if (action === undefined) throw new Error(`no form at ${base}: ${text.slice(0, 500)}`)
  return new URL(action, base).href
}
