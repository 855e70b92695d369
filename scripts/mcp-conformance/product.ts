import { isObject } from '#runtime/schema.ts'
import type { ScriptedCall } from './scripted-model.ts'

type Body = ReturnType<typeof JSON.parse>

/** An installation under test. */
export interface Installation {
  /** Address at which it listens. */
  readonly url: string
  /** Its public address, at which browsers reach it. */
  readonly publicUrl: string
  readonly key: string
}

/** Maximum number of sign-ins for one purpose, and of redirects of one sign-in. */
const maxSignIns = 5
const maxHops = 20

/** Maximum time in ms for which a change of state is waited for, and time between two polls. */
const patienceMs = 120_000
const pollMs = 50

/** Uses the API of an installation, and its sign-in links as a browser would. */
export class Product {
  readonly #at: Installation

  constructor(at: Installation) {
    this.#at = at
  }

  /** @throws {Error} for an error status */
  async request(path: string, body?: unknown): Promise<Body> {
    const response = await fetch(`${this.#at.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${this.#at.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }

  /** Registers a server, signs in as often as it requires, and returns it once its tools are known. */
  async register(server: object): Promise<Body> {
    const made = await this.request('/v1/mcp/servers', server)
    let now = await this.#settled(made.id)
    let link: string | null = made.authorize_url
    for (let signIns = 0; link !== null && signIns < maxSignIns; signIns++) {
      await this.signIn(link)
      // the server is read again by itself
      now = await this.#settled(made.id, now.updated_at)
      const isOpen = now.error?.code === 'connection_required'
      const again = `/v1/connections/${now.auth.connection_id}/reconnect`
      link = isOpen ? (await this.request(again, {})).authorize_url : null
    }
    if (now.status !== 'active') throw new Error(`the server is ${now.status}: ${JSON.stringify(now.error)}`)
    return now
  }

  /** Opens a link of the installation and follows it until a page is shown. @throws {Error} when it is no success */
  async signIn(link: string): Promise<void> {
    const cookies = new Map<string, string>()
    let url = link
    for (let hops = 0; hops < maxHops; hops++) {
      const isOurs = url.startsWith(this.#at.publicUrl)
      const response = await fetch(isOurs ? url.replace(this.#at.publicUrl, this.#at.url) : url, {
        redirect: 'manual',
        headers: isOurs ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } : {},
      })
      for (const cookie of response.headers.getSetCookie()) keep(cookies, cookie)
      const location = response.headers.get('location')
      if (location === null) {
        const page = await response.text()
        if (page.includes('<h1>Connected</h1>')) return
        throw new Error(`the sign-in ended with ${response.status} ${page}`)
      }
      await response.body?.cancel()
      url = new URL(location, url).href
    }
    throw new Error('the sign-in goes in circles')
  }

  /** Runs a turn that makes one tool call; signs in and answers forms when it pauses. @returns its last event. */
  async turn(agent: string, model: string, call: ScriptedCall): Promise<Body> {
    const { id } = await this.request('/v1/sessions', { agent_id: agent })
    await this.request(`/v1/sessions/${id}/turns`, { input: JSON.stringify(call), model })
    for (let pauses = 0; ; pauses++) {
      const last = await this.#lastEvent(id, pauses)
      if (last.event_type !== 'turn.paused' || pauses === maxSignIns) return last
      const { connection, action_id } = last.payload
      if (isObject(connection)) await this.signIn(String(connection.authorize_url))
      else await this.request(`/v1/actions/${action_id}/approve`, {})
    }
  }

  /** Returns the last event of a session whose turn has ended, or has paused more often than `pauses` times. */
  async #lastEvent(session: string, pauses: number): Promise<Body> {
    for (const end = Date.now() + patienceMs; Date.now() < end; ) {
      const { data } = await this.request(`/v1/sessions/${session}/events?limit=100`)
      const paused = data.filter((event: Body) => event.event_type === 'turn.paused')
      const last = data.at(-1)
      const isOver = ['turn.completed', 'turn.failed', 'turn.cancelled'].includes(last?.event_type)
      if (isOver || (last?.event_type === 'turn.paused' && paused.length > pauses)) return last
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    throw new Error('the turn does not end')
  }

  /** Returns a server that is not being read, once it has changed after `before`. */
  async #settled(id: string, before = ''): Promise<Body> {
    for (const end = Date.now() + patienceMs; Date.now() < end; ) {
      const server = await this.request(`/v1/mcp/servers/${id}`)
      if (server.status !== 'discovering' && server.updated_at !== before) return server
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    throw new Error('the tools of the server are not discovered')
  }
}

const keep = (cookies: Map<string, string>, cookie: string): void => {
  const [pair = ''] = cookie.split(';')
  const at = pair.indexOf('=')
  if (/max-age=0/i.test(cookie)) cookies.delete(pair.slice(0, at))
  else cookies.set(pair.slice(0, at), pair.slice(at + 1))
}
